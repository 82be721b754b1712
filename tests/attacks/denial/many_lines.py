# Prints 10^5 lines. As much is kept as a notebook may store, and it says so.
#
# prints: The rest of this output was left out

# %% last
for number in range(10**5):
    print("line", number)
