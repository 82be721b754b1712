# Saved in the format of ten years ago.

# %% bytes
import json

cells = []
for each in notebook["cells"]:
    old = {"cell_type": each["cell_type"], "metadata": each["metadata"], "language": "python", "collapsed": False}
    old |= {"input": each["source"], "outputs": [], "prompt_number": 3} if each["cell_type"] == "code" else {
        "source": each["source"]}
    cells.append(old)
data = json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [
    {"metadata": {}, "cells": cells}]}).encode()
