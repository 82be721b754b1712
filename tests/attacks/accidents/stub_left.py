# Did not write one function. It is worth nothing, and the learner is told so kindly.
#
# expect: padding_mask 0/4 EEEESSS
# prints: It is not written yet.

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    """Which source positions hold a word and not padding."""
    raise NotImplementedError
