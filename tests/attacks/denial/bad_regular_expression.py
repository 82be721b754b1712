# Has a regular expression try all of its exponentially many ways, from an answer. That exercise is timed out.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
import re


def padding_mask(ids, pad_id):
    return re.match(r"(a+)+$", "a" * 60 + "b")
