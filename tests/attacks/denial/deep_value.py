# Returns lists within lists within lists, and lists of a million. Its exercises have errors.
#
# expect: causal_mask 0/4 EESSS
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    value = []
    for _ in range(10**5):
        value = [value]
    return value

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return [0] * 10**6

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    value = []
    value.append(value)
    return value
