# Makes a file that claims to be a terabyte, and one that is a core dump. Neither gets large.
#
# prints: refused

# %% last
import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    os.truncate(os.open("sparse", os.O_CREAT | os.O_RDWR), 1 << 40)
except OSError:
    print("refused")
