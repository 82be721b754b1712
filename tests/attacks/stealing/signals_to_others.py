# Kills the grader, its parent, and everything that it may send signals to. Nobody gets them.
#
# prints: sent

# %% last
import os
import signal

for process in ($GRADER, os.getppid(), -os.getppid(), 1, -$GRADER, -1):
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGKILL) if abs(process) > 1 else (signal.SIGUSR1,):
        if process == -1:
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        try:
            if process:
                os.kill(process, number)
        except OSError:
            pass
print("sent")
