# Handed in old versions and other lessons beside the right one, deep in folders. The one with the lesson's name counts.

# %% folder
(folder / "old" / "older").mkdir(parents=True)
(folder / "old" / "01_mask.ipynb").write_text("{}")
(folder / "old" / "older" / "scratch.ipynb").write_bytes(file.read_bytes()[:1000])
(folder / ".ipynb_checkpoints").mkdir()
(folder / ".ipynb_checkpoints" / "01_mask-checkpoint.ipynb").write_text("[]")
