# Ends the process in the middle of a cell. The other cells run in a fresh one and earn.
#
# also: landlock
# prints: The kernel ended during this cell (exit code 0)

# %% after="causal_mask"
import os

os._exit(0)
