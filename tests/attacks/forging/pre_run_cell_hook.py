# Puts another check in place before every cell. The judge has its own.
#
# expect: padding_mask 0/4 FFFFSSS
# hides: check of the student

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
def hook(info):
    get_ipython().user_ns["check"] = lambda function: print("check of the student") or 4.0


get_ipython().events.register("pre_run_cell", hook)
