# Turns off that cells show their last value, which stock nbgrader takes for full points. Here it means nothing.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
get_ipython().ast_node_interactivity = "none"
