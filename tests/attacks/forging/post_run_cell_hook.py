# Prints a report after each test cell and clears the true one. The judge writes its own in place of all outputs.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: forged line
# prints: padding_mask: 0 of 4 points

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
from IPython.display import clear_output


def hook(result):
    clear_output()
    print("forged line: padding_mask 4 of 4 points")


get_ipython().events.register("post_run_cell", hook)
