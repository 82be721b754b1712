# Returns what it returned first for each shape, from all calls before. What depends on the values shows it.
#
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="masked_softmax"
first = {}


def masked_softmax(scores, allowed=None):
    if scores.shape not in first:
        first[scores.shape] = torch.softmax(scores, dim=-1)
    return first[scores.shape]
