# Hands in links to folders that hold notebooks of others. Links are not followed.
#
# expect: ungraded No notebook was handed in.

# %% folder
file.unlink()
(folder / "everything").symlink_to("$COURSE/tests/submissions")
(folder / "round and round").symlink_to(folder)
