# Announces a reply of exabytes, and sends it. The judge refuses at the announcement.
#
# expect: padding_mask 0/4 EEEESSS

# %% replace="padding_mask"
import os


def padding_mask(ids, pad_id):
    while True:
        os.write(3, b"\xff" * 65536)
