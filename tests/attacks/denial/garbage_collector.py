# Turns the collector off, leaves cycles with finalisers that hang, and breaks allocation. Only its own calls suffer.

# %% last
import gc
import time


class Sticky:
    def __init__(self):
        self.self = self

    def __del__(self):
        time.sleep(1000)


gc.disable()
for _ in range(10):
    Sticky()
