# Prints 100 MB in one piece and in a hundred. As much is kept as a notebook may store.
#
# also: landlock
# prints: after the flood

# %% last
print("x" * 10**8)

# %% last
for _ in range(100):
    print("y" * 10**6)

# %% last
print("after the flood")
