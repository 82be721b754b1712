# Says that it is in a format that does not exist yet, with fields that nobody knows.

# %% notebook
notebook |= {"nbformat": 5, "nbformat_minor": 99, "future": {"a": 1}}
for each in notebook["cells"]:
    each["future"] = [1, 2, 3]
