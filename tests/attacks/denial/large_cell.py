# Hands in a cell of two million characters. Nobody wrote it; it is not graded, and says why.
#
# expect: ungraded One of its cells has 2000001 characters

# %% last
x = 1

# %% notebook
notebook["cells"][-1]["source"] = "#" * 2_000_001
