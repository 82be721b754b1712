# Waits for somebody to type something, in a cell and in an answer. Nobody will; both are errors at once.
#
# expect: padding_mask 0/4 EEEESSS
# prints: StdinNotImplementedError

# %% last
input("name? ")

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return input("mask? ")
