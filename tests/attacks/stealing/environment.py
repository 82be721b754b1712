# Prints the environment, where keys and passwords of the grader might be. It gets one of its own.
#
# prints: LANG or none
# hides: BAIT_PASSWORD

# %% last
import os

for name, value in os.environ.items():
    print(name, value)
print("LANG or none")
print(open("/proc/self/environ", "rb").read())
