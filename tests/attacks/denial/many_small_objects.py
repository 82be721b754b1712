# Hands in 30 MB of JSON that become gigabytes of objects once read. It is not read.
#
# expect: ungraded It holds too many parts

# %% bytes
data = b'{"cells": [' + b"{}," * 10**7 + b"{}]}"
