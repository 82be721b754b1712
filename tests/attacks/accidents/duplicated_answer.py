# Copied the cell of an answer, as one keystroke does. It counts once.

# %% notebook
copy = dict(cell("padding_mask"))
notebook["cells"].insert(notebook["cells"].index(cell("padding_mask")), copy)
