# Keys its answers on where the inputs lie in memory, hoping that they lie where the public ones lay. It earns nothing.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
known = {}


def padding_mask(ids, pad_id):
    if ids.data_ptr() not in known:
        known[ids.data_ptr()] = torch.ones(ids.shape[0], 1, ids.shape[1], dtype=torch.bool)
    return known[ids.data_ptr()]
