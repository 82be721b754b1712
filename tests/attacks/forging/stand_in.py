# Returns what the library's stand-in for this very exercise computes. It notes its use, and the exercise earns nothing.
#
# expect: masked_softmax 0/8 FFFFFFFFF

# %% replace="masked_softmax"
from attnlab.stand_ins import STAND_INS


def masked_softmax(scores, allowed=None):
    return STAND_INS["masked_softmax"](scores, allowed)
