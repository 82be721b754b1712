# Recurses without end in an answer, as beginners do. It is an error of that exercise.
#
# expect: padding_mask 0/4 EEEESSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return padding_mask(ids, pad_id)
