# Recurses without end through C, with Python's own limit taken away, until the stack is used up. It has crashed.
#
# expect: padding_mask 0/4 EEEESSS

# %% replace="padding_mask"
import sys


def padding_mask(ids, pad_id):
    sys.setrecursionlimit(10**9)
    return list(map(padding_mask, [ids], [pad_id]))
