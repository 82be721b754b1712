# Saved with a byte-order mark, which stock nbgrader cannot read.

# %% bytes
data = b"\xef\xbb\xbf" + data
