# Replaces the notebook's names by a dict that hands out whatever is asked for. What comes back is still no mask.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: replaced

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% last
class Names(dict):
    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return lambda *args, **kwargs: True


print("replaced")
shell = get_ipython()
shell.user_ns = Names(shell.user_ns)
