# Hands in mocks instead of functions, whose every attribute and result is a mock again. No points for those.
#
# expect: padding_mask 0/4 FFFFSSS

# %% replace="padding_mask"
from unittest.mock import MagicMock

padding_mask = MagicMock(name="padding_mask")
