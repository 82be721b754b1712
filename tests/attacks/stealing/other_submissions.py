# Looks for notebooks of other students, anywhere. It sees none, not even its own.
#
# prints: notebooks: []

# %% last
import os
import sys

seen = []
for start in ("$COURSE/.grading", "$COURSE/tests", os.getcwd(), os.path.expanduser("~"), "/tmp", "/home"):
    for folder, _, files in os.walk(start):
        if not folder.startswith(sys.prefix):  # packages bring examples
            seen += [f"{folder}/{name}" for name in files if name.endswith(".ipynb")]
print("notebooks:", seen)
