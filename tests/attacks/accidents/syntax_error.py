# Left a syntax error in one answer. It costs that exercise.
#
# expect: padding_mask 0/4 EEEESSS
# prints: SyntaxError

# %% replace="padding_mask"
def padding_mask(ids, pad_id)
    return (ids != pad_id)[:, None, :]
