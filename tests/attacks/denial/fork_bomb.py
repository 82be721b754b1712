# Forks for ever. There may be so many processes and no more; they end with the kernel.
#
# also: landlock
# limits: processes=40
# prints: bounded

# %% last
import os
import time

children = 0
try:
    while children < 10_000:
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
        children += 1
except OSError:
    print("bounded")
