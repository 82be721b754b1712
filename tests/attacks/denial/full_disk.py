# Writes until the disk is full, in one file and in many. What it may write is bounded, and gone with its kernel.
#
# prints: tried

# %% last
import os

for name in range(40):
    try:
        with open(f"file-{name}", "wb") as file:
            for _ in range(30):
                file.write(b"x" * 10**6)
    except OSError:
        pass
print("tried")
