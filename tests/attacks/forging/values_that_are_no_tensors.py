# Returns right values as lists, generators and arrays, so that comparing them would run code of theirs. Tensors are asked.
#
# expect: causal_mask 0/4 FFSSS
# expect: padding_mask 0/4 FFFFSSS
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    return [[s <= t for s in range(length)] for t in range(length)]

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return (row != pad_id for row in ids)

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    return torch.zeros(scores.shape).numpy()
