# Makes a file in every folder that programs and the next grader read. It can only make files in folders of its own.
#
# prints: tried

# %% last
import os
import sys

import attnlab

folders = ["/", "/tmp", "/var/tmp", "/dev/shm", "/root", "/usr/lib", sys.prefix, "$COURSE", "$COURSE/notebooks"]
folders += [os.path.dirname(attnlab.__file__), os.path.dirname(torch.__file__), os.path.expanduser("~"), "/etc"]
for folder in folders:
    try:
        with open(f"{folder}/attack-was-here", "w") as file:
            file.write("import os")
    except OSError:
        pass
print("tried", len(folders))
