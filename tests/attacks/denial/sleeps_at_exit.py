# Registers functions that sleep when the kernel ends, and a signal handler for the end. Nobody waits for them.

# %% last
import atexit
import signal
import time

atexit.register(time.sleep, 1000)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda *_: time.sleep(1000))
