# Handed in a folder in the folder, as unpacked archives are.

# %% folder
(folder / "01_mask" / "__MACOSX").mkdir(parents=True)
(folder / "01_mask" / "__MACOSX" / "._01_mask.ipynb").write_bytes(b"\0\5\x16\7" * 10)
file.rename(folder / "01_mask" / "my mask.ipynb")
