# Announces a reply of 15 MB and sends a few bytes of it, slowly. The call is over when its time is.
#
# expect: padding_mask 0/4 TSSSSSS

# %% replace="padding_mask"
import os
import struct
import sys
import time


def padding_mask(ids, pad_id):
    header = sys.modules["grader.sandbox.wire"].HEADER
    size = header.size
    reply = sys.modules["grader.sandbox.wire"].encode((1, "value", torch.zeros(1 << 21), (), 0, [])).to_bytes()
    os.write(3, reply[: size + 10])
    for byte in reply[size + 10 :]:
        os.write(3, bytes([byte]))
        time.sleep(0.1)
