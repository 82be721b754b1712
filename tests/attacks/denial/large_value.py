# Returns a tensor beyond what a reply may hold, as a view of one number. Its exercise has an error.
#
# expect: padding_mask 0/4 EEEESSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return torch.zeros(1, dtype=torch.bool).expand(1 << 25)
