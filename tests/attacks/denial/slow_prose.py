# Hands in prose that a Markdown reader takes the square of its length for. It is cut.

# %% [markdown] last
Some prose.

# %% notebook
notebook["cells"][-1]["source"] = "*a " * 200_000
