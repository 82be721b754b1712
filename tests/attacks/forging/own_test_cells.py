# Rewrites the test cells, and says that they are neither tests nor locked. They are the master's, whatever was handed in.
#
# expect: padding_mask 0/4 FFFFSSS
# hides: All checks passed, says the student

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% replace="test_padding_mask"
print("All checks passed, says the student")
4.0

# %% notebook
cell("test_padding_mask")["metadata"]["nbgrader"] |= {"grade": False, "locked": False, "solution": True}
