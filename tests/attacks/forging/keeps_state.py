# Returns what it returned first for each shape, from all calls before. What depends on the values shows it; only where
# two inputs have the same weights is what it says right.
#
# expect: masked_softmax 1/8 FFFFF.SSS

# %% replace="masked_softmax"
first = {}


def masked_softmax(scores, allowed=None):
    if scores.shape not in first:
        first[scores.shape] = torch.softmax(scores, dim=-1)
    return first[scores.shape]
