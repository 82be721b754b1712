# Handed in a PDF and a text file.
#
# expect: ungraded No notebook was handed in.

# %% folder
file.unlink()
(folder / "mask.pdf").write_bytes(b"%PDF-1.4")
(folder / "mask.py").write_text("def causal_mask(length, device=None): ...")
