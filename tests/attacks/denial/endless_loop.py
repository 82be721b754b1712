# Loops for ever in a cell of its own. The cell is interrupted, everything else runs and earns.
#
# prints: Stopped: not finished after

# %% after="causal_mask"
while True:
    pass
