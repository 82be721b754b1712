# Warns on standard error in a cell and in right answers, which costs everything on stock nbgrader and nothing here.
#
# prints: careful

# %% replace="padding_mask"
import sys
import warnings


def padding_mask(ids, pad_id):
    warnings.warn("careful")
    print("debug", ids.shape, file=sys.stderr)
    return (ids != pad_id)[:, None, :]

# %% after="padding_mask"
warnings.simplefilter("always")
padding_mask(torch.tensor([[1, 0]]), 0)
