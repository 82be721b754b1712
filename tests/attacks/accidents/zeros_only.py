# A full disk left a file of the right length that holds zeros.
#
# expect: ungraded The file is empty.

# %% bytes
data = bytes(len(data))
