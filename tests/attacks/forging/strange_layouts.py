# Returns sparse, meta and complex tensors that look like what is asked. None of them holds the right values.
#
# expect: causal_mask 0/4 FFSSS
# expect: padding_mask 0/4 FFFFSSS
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    return torch.ones(length, length, dtype=torch.bool).tril().to_sparse()

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return torch.empty(ids.shape[0], 1, ids.shape[1], dtype=torch.bool, device="meta")

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    return torch.softmax(scores, -1).to(torch.complex128) * 1j
