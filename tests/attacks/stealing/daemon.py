# Leaves a process behind, twice forked and in a session of its own, to wait for the next submission. It ends with it.
#
# prints: left behind

# %% last
import os
import subprocess
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        while True:
            try:
                open("$SECRET", "w").write("attack")
            except OSError:
                pass
            time.sleep(0.05)
    os._exit(0)
subprocess.Popen("nohup setsid sleep 1000 &", shell=True)
print("left behind")
