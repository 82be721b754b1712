# Spends for ever inside one operation of the interpreter, where no interrupt gets through. Its kernel is ended.
#
# prints: not to be interrupted

# %% after="causal_mask"
import collections
import itertools

collections.deque(itertools.repeat(0), maxlen=0)
