# Stops its own process in a cell, so that no interrupt is heeded. It is ended and the rest runs in a fresh kernel.
#
# prints: not to be interrupted

# %% after="causal_mask"
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
