# Left a loop that does not end in one answer. It costs that exercise, and the class a few seconds.
#
# expect: causal_mask 0/4 TSSSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    rows = []
    while len(rows) != length + 0.5:
        rows.append([True] * length)
    return torch.tensor(rows)
