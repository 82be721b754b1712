# Has a dict take the square of its length in time, by keys that all hash alike, in an answer. It is timed out.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
class Key:
    def __hash__(self):
        return 1


def padding_mask(ids, pad_id):
    return {Key(): number for number in range(10**6)}
