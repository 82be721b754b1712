# Replaces the kernel by a program that sleeps and holds all its descriptors. It is ended; the rest runs in a fresh one.
#
# prints: Stopped with its kernel

# %% after="causal_mask"
import os

for number in range(3, 20):
    try:
        os.set_inheritable(number, True)
    except OSError:
        pass
os.execv("/bin/sleep", ["sleep", "1000"])
