# Returns integers of a million digits, and raises exceptions of 100 MB and such as cannot be shown.
#
# expect: causal_mask 0/4 EESSS
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    return 10 ** (10**6)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    raise ValueError("x" * 10**8)

# %% replace="masked_softmax"
class Silent(Exception):
    def __str__(self):
        raise Silent


def masked_softmax(scores, allowed=None):
    raise Silent
