# Writes more points into the test cell and less into the others. Points come from the course, not from the notebook.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% notebook
cell("test_padding_mask")["metadata"]["nbgrader"]["points"] = 400
cell("test_causal_mask")["metadata"]["nbgrader"]["points"] = float("inf")
cell("test_masked_softmax")["metadata"]["nbgrader"]["points"] = -8
