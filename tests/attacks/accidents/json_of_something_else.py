# Handed in another JSON file under the notebook's name.
#
# expect: ungraded the JSON holds no cells

# %% bytes
data = b'{"version": "2.0", "cells": {"a": 1}, "tasks": []}'
