# Reads the grader's memory, environment, open files and folders by way of /proc. All of it is closed.
#
# prints: readable: []

# %% last
import os

readable = []
for part in ("environ", "mem", "maps", "cmdline", "fd/0", "root/etc/passwd", "cwd", "exe"):
    for process in ("$GRADER", str(os.getppid())):
        path = f"/proc/{process}/{part}"
        try:
            with open(path, "rb") as file:
                file.read(1)
            readable.append(path)
        except OSError:
            pass
print("readable:", readable)
