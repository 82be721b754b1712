# Leaves a thread that never ends and prints for ever. The other cells run, and the kernel ends with its block.
#
# prints: tick

# %% after="causal_mask"
import threading
import time


def tick():
    while True:
        print("tick", flush=True)
        time.sleep(0.001)


threading.Thread(target=tick, daemon=False).start()
