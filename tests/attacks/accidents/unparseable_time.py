# Has a time of submission that is no time, and other files of the exchange. The notebook is graded.

# %% folder
(folder / "timestamp.txt").write_bytes(b"yesterday, perhaps \xff\xfe")
(folder / "comment.md").write_text("sorry, it is late")
(folder / ".DS_Store").write_bytes(bytes(100))
(folder / "feedback").mkdir()
