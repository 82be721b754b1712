# Returns NaN, which is unequal to everything and so never too far off. NaN where the reference has none is wrong.
#
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    return torch.full_like(scores, torch.nan)
