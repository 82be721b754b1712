# Rewrites the course's library, torch and the interpreter's start-up for whoever comes after. They are read-only.
#
# prints: changed: []

# %% last
import os
import sys
import sysconfig

import attnlab

changed = []
packages = sysconfig.get_paths()["purelib"]
for path in (attnlab.__file__, torch.__file__, f"{packages}/attack.pth", f"{packages}/sitecustomize.py", sys.executable):
    try:
        with open(path, "ab"):
            changed.append(path)
    except OSError:
        pass
print("changed:", changed)
