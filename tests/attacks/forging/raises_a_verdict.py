# Raises the judge's own exceptions with the verdict that it would like. An exception in an answer is an error.
#
# expect: causal_mask 0/4 EESSS
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS

# %% replace="causal_mask"
from attnlab.verdict import AnswerError, Verdict


def causal_mask(length, device=None):
    raise AnswerError(Verdict.PASSED, "passed", "")

# %% replace="padding_mask"
class Passed(Exception):
    verdict = Verdict.PASSED

    def __str__(self):
        return "passed"


def padding_mask(ids, pad_id):
    raise Passed

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    raise Exception("broken")  # a check that fails by our fault would cost nothing
