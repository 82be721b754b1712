# Deleted the cell of an answer. It costs that exercise.
#
# expect: padding_mask 0/4 EEEESSS

# %% notebook
notebook["cells"].remove(cell("padding_mask"))
