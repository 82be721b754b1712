# Handed in under a name with umlauts, and variables and words of other scripts.
#
# prints: Grüße 你好

# %% last
größe = 3
print("Grüße 你好", größe)

# %% folder
file.rename(folder / "Übung – 1 (Kopie) 作业.ipynb")
