# Saved the notebook's web page in place of the notebook.
#
# expect: ungraded not JSON

# %% bytes
data = b"<!DOCTYPE html>\n<html><head><title>01_mask</title></head><body>causal_mask</body></html>"
