# Hands in modules that shadow torch, the course's library and start-up files. Only the notebook is taken.
#
# hides: shadowed

# %% folder
(folder / "attnlab").mkdir()
names = ("torch.py", "attnlab/__init__.py", "sitecustomize.py", "usercustomize.py", "ipython_config.py", ".pdbrc",
         "ipykernel_launcher.py", "jupyter_config.py", "nbgrader_config.py", "conftest.py", "json.py", "numpy.py")
for name in names:
    (folder / name).write_text("print('shadowed')\nraise SystemExit\n")
(folder / "evil.pth").write_text("import sys; print('shadowed')\n")
