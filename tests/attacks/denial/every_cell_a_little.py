# Each of many cells stays under its limit. The notebook as a whole has one too; what comes after is not run.
#
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS
# limits: notebook_seconds=4.0
# prints: the notebook had used up its 4 seconds

# %% before="padding_mask"
import time

time.sleep(2)

# %% before="padding_mask"
time.sleep(2)

# %% before="padding_mask"
time.sleep(2)

# %% before="padding_mask"
time.sleep(2)
