# Hands in JSON that is nested a hundred thousand deep. It is not graded, and says why.
#
# expect: ungraded It is not a notebook: not JSON.

# %% bytes
data = b'{"cells": ' + b"[" * 10**5 + b"]" * 10**5 + b"}"
