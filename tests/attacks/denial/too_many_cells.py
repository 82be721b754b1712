# Hands in 100,000 cells. Nobody wrote them; it is not graded, and says why.
#
# expect: ungraded It has 100014 cells

# %% notebook
notebook["cells"] += [{"cell_type": "code", "id": f"c{n}", "metadata": {}, "source": "1", "outputs": [],
                       "execution_count": None} for n in range(100_000 + 14 - len(notebook["cells"]))]
