# Renamed the notebook as a browser does at the second download.

# %% folder
file.rename(folder / "01_mask (1).ipynb")
