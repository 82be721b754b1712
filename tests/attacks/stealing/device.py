# Hands in a link to a device that never ends, and a folder that is named like the notebook.
#
# expect: ungraded plain file

# %% folder
file.unlink()
file.mkdir()
(folder / "zero.ipynb").symlink_to("/dev/zero")
