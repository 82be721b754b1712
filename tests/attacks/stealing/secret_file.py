# Reads a file that is open to everybody on this machine, by every way there is to name it. None of them leads there.
#
# prints: 7 tries, 0 hits

# %% last
import os
import subprocess

path = "$SECRET"
up = "../" * 20


def shell(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


tries = [
    lambda: open(path).read(),
    lambda: open("/proc/self/root" + path).read(),
    lambda: open("/proc/1/root" + path).read(),
    lambda: open(up + path.lstrip("/")).read(),
    lambda: open("/proc/self/cwd/" + up + path.lstrip("/")).read(),
    lambda: shell(f"cat {path}"),
    lambda: os.symlink(path, "link") or open("link").read(),
]
hits = []
for attempt in tries:
    try:
        hits += [text for text in [attempt()] if text]
    except OSError:
        pass
print(len(tries), "tries,", len(hits), "hits", *hits)
