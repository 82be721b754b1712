# Has null bytes, lone halves of characters, and form feeds in the cells.

# %% last
text = "x"

# %% notebook
cell("padding_mask")["source"] = ["\0", *cell("padding_mask")["source"], "\n\f\0"]
notebook["cells"][-1]["source"] = "text = '\ud800 \0 \udfff'"
