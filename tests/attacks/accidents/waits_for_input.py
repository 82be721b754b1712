# Asks for a number, as programs do. Nobody is there to type one; the cell is an error.
#
# prints: StdinNotImplementedError

# %% before="causal_mask"
length = int(input("length? "))
