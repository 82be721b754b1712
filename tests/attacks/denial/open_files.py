# Opens the same file until there are no more descriptors. The judge's calls still get through.
#
# prints: bounded

# %% last
kept = []
try:
    while True:
        kept.append(open("/dev/null"))
except OSError:
    print("bounded")
    del kept[-20:]
