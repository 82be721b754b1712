# Holds the interpreter's lock for ever, so that no thread of the kernel runs. It is ended.
#
# prints: not to be interrupted

# %% after="causal_mask"
import ctypes

libc, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(64)  # PyDLL keeps the interpreter's lock
libc.pthread_mutex_lock(lock)
libc.pthread_mutex_lock(lock)
