# Lost all that is not cells.

# %% notebook
for name in ("nbformat", "nbformat_minor", "metadata"):
    del notebook[name]
