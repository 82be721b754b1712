# Sends all that later cells show into a widget and into nowhere. The judge's words stand under the tests all the same.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: padding_mask: 0 of 4 points

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
import io
import sys

import ipywidgets

box = ipywidgets.Output()
box.__enter__()
sys.stdout = sys.stderr = io.StringIO()
get_ipython().display_pub.publish = lambda *args, **kwargs: None
