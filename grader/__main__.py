"""`python -m grader VERB`."""

from grader.cli import main

main()
