# Holds the interpreter's lock for ever, so that no thread of the kernel runs. It is ended.
#
# prints: not to be interrupted

# %% after="causal_mask"
import ctypes

ctypes.PyDLL(None).pause()
