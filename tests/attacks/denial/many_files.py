# Makes files until there are no more names. What it may make is bounded, and gone with its kernel.
#
# limits: inodes=2000
# prints: bounded

# %% last
try:
    for name in range(10**5):
        open(f"file-{name}", "w").close()
except OSError:
    print("bounded")
