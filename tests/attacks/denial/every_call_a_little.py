# Each call of an answer stays under its limit, and there would be hundreds. An exercise as a whole has a limit too.
#
# expect: masked_softmax 0.5/8 .TSSSSSSS
# limits: answer_seconds=4.0

# %% replace="masked_softmax"
import time


def masked_softmax(scores, allowed=None):
    time.sleep(1)
    return torch.softmax(scores, dim=-1)
