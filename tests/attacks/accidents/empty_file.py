# The upload failed and left an empty file.
#
# expect: ungraded The file is empty.

# %% bytes
data = b""
