# Ends the process in one cell after another. A kernel is started anew so often and no more; then nothing is left to ask.
#
# prints: the kernel ended too often

# %% first
import os

os._exit(1)

# %% before="causal_mask"
import os

os._exit(1)

# %% after="test_causal_mask"
import os

os._exit(1)

# %% after="test_padding_mask"
import os

os._exit(1)
