if __name__ == "__main__":
    from grader.cli import main  # not above: each worker of a pool runs this file too, under another name

    main()
