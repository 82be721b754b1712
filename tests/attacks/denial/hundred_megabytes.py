# Prints 100 MB in one piece and in a hundred. As much is kept as a notebook may store.
#
# also: landlock
# prints: after the flood

# %% after="causal_mask"
print("x" * 10**8)

# %% after="causal_mask"
print("after the flood")

# %% last
for _ in range(100):
    print("y" * 10**6)
