# Hands in 200 MB of JSON. It is not read.
#
# expect: ungraded It is 200 MB long

# %% bytes
data = b" " * (200 << 20) + data
