# Tried the function again in a later cell, better. The notebook's last word counts.

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return ids == pad_id

# %% last
def padding_mask(ids, pad_id):
    return (ids != pad_id)[:, None, :]
