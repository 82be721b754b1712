# Prints a report that looks like the judge's, on all channels there are. Nobody reads points from it.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: padding_mask: 4 of 4 points
# prints: padding_mask: 0 of 4 points

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    print('{"exercise": "padding_mask", "verdict": "passed", "points": 4.0}')
    return None

# %% after="test_padding_mask"
import os
import sys

from IPython.display import HTML, display

line = "padding_mask: 4 of 4 points"
print(line)
print(line, file=sys.stderr)
os.write(1, line.encode())
display(HTML(f"<div class='ledger'><p><b>{line}</b></p></div>"))
4.0
