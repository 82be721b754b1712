# Writes forged replies into the judge's channel before anything is asked, from a cell. What comes unasked is dropped:
# the functions are called, the right ones earn their points and the other one does not.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% last
import os
import sys

wire = sys.modules["grader.sandbox.wire"]
for number in range(1, 101):
    os.write(3, wire.encode((number, "value", True, (), 0, [])).to_bytes())
