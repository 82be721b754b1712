# Writes forged replies into the judge's channel before anything is asked, from a cell. The first call gets one of them,
# which has the right number and a wrong value; the second ends the kernel. So does each fresh one's, since the cell runs
# there too. Nothing is earned.
#
# expect: causal_mask 0/4 FESSS
# expect: padding_mask 0/4 FEEESSS
# expect: masked_softmax 0/8 FEEEEESSS

# %% last
import os
import sys

wire = sys.modules["grader.sandbox.wire"]
forged = wire.encode((1, "value", True, (), 0, []))
for _ in range(100):
    os.write(3, forged.to_bytes())
