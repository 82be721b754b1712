# Wrote the answer in a new cell and left the stub where it was, below it. An untouched stub gives way.

# %% notebook
answer = dict(cell("padding_mask"), id="mine", metadata={})
notebook["cells"].insert(notebook["cells"].index(cell("causal_mask")), answer)
cell("padding_mask")["source"] = released("padding_mask")["source"]
