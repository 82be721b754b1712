# Turned a test cell into Markdown. Cell kinds are the master's.

# %% notebook
test = cell("test_padding_mask")
test["cell_type"] = "markdown"
del test["outputs"], test["execution_count"]
