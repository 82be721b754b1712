# Spends for ever inside one operation of the interpreter, where no interrupt gets through. Its kernel is ended.
#
# prints: not to be interrupted

# %% after="causal_mask"
big = 7 ** (10**7)
[big**9 for _ in range(100)]
