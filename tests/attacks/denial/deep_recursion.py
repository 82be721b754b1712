# Recurses without end, with Python's own limit taken away, in an answer. That exercise has crashed.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
import sys


def padding_mask(ids, pad_id):
    sys.setrecursionlimit(10**9)
    return padding_mask(ids, pad_id)
