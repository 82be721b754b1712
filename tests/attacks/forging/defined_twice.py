# A right answer first, for the test below it, and one that does nothing in the last cell. The notebook's last word counts.
#
# expect: padding_mask 0/4 FFFFSSS

# %% last
def padding_mask(ids, pad_id):
    return None
