# Has cell ids twice, too long, with blanks, of the wrong type, and none.

# %% notebook
bad = ["same", "same", "x" * 1000, "with blank", 7, None, ["list"]]
for each, name in zip(notebook["cells"], bad):
    each["id"] = name
