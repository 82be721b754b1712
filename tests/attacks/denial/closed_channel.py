# Closes all its descriptors in an answer: the judge's channel, the kernel's sockets. It costs that exercise.
#
# expect: padding_mask 0/4 EEEESSS
# also: landlock

# %% replace="padding_mask"
import os


def padding_mask(ids, pad_id):
    os.closerange(3, 1000)
