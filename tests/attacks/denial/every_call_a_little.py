# Each call of an answer stays under its limit, and there would be hundreds. An exercise as a whole has a limit too.
#
# limits: answer_seconds=4.0
# expect: masked_softmax 4/8 ..FFF.F..

# %% replace="masked_softmax"
import time


def masked_softmax(scores, allowed=None):
    time.sleep(1)
    return torch.softmax(scores, dim=-1)
