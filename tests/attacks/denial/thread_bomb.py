# Starts threads for ever, none of which ends. There may be so many and no more, and nobody waits for them.
#
# prints: bounded

# %% last
import threading
import time

try:
    for _ in range(10_000):
        threading.Thread(target=time.sleep, args=(1000,)).start()
except RuntimeError:
    print("bounded")
