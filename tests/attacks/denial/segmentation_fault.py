# Reads address 0, in a cell and in an answer. It costs the cell and that exercise.
#
# expect: padding_mask 0/4 EEEESSS
# also: landlock
# prints: The kernel ended during this cell (signal 11)

# %% after="causal_mask"
import ctypes

ctypes.string_at(0)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    import ctypes

    return ctypes.string_at(0)
