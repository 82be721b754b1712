# Handed in nothing.
#
# expect: ungraded No notebook was handed in.

# %% folder
file.unlink()
