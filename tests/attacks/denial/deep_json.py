# Hands in JSON that is nested a million deep, in two ways. It is not graded, and says why.
#
# expect: ungraded It is not a notebook: not JSON.

# %% bytes
data = b'{"cells": ' + b"[" * 10**6 + b"]" * 10**6 + b"}"
