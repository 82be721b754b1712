# Ends the process inside a call, with exit code 0. It costs that exercise.
#
# expect: padding_mask 0/4 EEEESSS
# also: landlock
# also: user

# %% replace="padding_mask"
import os


def padding_mask(ids, pad_id):
    os._exit(0)
