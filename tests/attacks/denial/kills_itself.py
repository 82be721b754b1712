# Sends SIGKILL and SIGSTOP to itself, in a cell and in answers. Stopped processes are ended like others. The first
# process of a namespace is deaf to both.
#
# expect: padding_mask 0/4 FFFFSSS
# expect: masked_softmax 0/8 FFFFFFSSS
# landlock: padding_mask 0/4 TSSSSSS
# landlock: masked_softmax 0/8 EEEEEESSS
# also: landlock
# also: user

# %% after="causal_mask"
import os
import signal

os.kill(os.getpid(), signal.SIGKILL)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGSTOP)

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
