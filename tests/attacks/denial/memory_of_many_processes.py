# Spreads 4 GB over forty processes, each under its own limit. Together they have one too, and are ended.
#
# prints: The kernel ended during this cell

# %% last
import os
import time

for _ in range(40):
    if os.fork() == 0:
        hoard = bytearray(10**8)
        for at in range(0, len(hoard), 4096):
            hoard[at] = 1
        time.sleep(30)
time.sleep(2)
