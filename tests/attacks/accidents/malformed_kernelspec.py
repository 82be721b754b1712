# Names a kernel that is not installed, a language of the wrong type, and display names of other machines.

# %% notebook
notebook["metadata"] = {"kernelspec": {"display_name": "conda env:dl", "name": "conda-env-dl-py", "language": 3},
                        "language_info": {"name": "julia", "version": None}, "orig_nbformat": 2, "vscode": {"x": []}}
