# Allocates 100 GB, in a cell and in an answer, at once and bit by bit. The exercise is out of memory, the cell an error.
#
# expect: causal_mask 0/4 MSSSS
# expect: padding_mask 0/4 MSSSSSS
# also: landlock
# also: user
# prints: refused

# %% last
try:
    torch.zeros(25 * 10**9)
except RuntimeError:
    print("refused")

# %% replace="causal_mask"
def causal_mask(length, device=None):
    return torch.ones(10**6, 10**6, dtype=torch.bool)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    hoard = []
    while True:
        hoard.append(bytearray(10**8))
