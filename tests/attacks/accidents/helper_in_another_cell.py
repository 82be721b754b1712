# Has an answer that needs a function, an import and a constant from cells of its own.

# %% before="padding_mask"
from functools import partial

AXIS = 1
with_queries = partial(torch.unsqueeze, dim=AXIS)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return with_queries(ids.ne(pad_id))
