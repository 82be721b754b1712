# Replaces every comparison that a check might use. Nobody compares in the learner's process.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: to be replaced

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% first
print("to be replaced")  # after it, nothing that the kernel does is sure to work

# %% before="test_padding_mask"
import builtins
import math

for module, names in (
    (torch, ("allclose", "equal", "isclose", "eq", "all")),
    (torch.Tensor, ("allclose", "equal", "isclose", "eq", "__eq__", "all")),
    (torch.testing, ("assert_close", "assert_allclose")),
    (math, ("isclose",)),
):
    for name in names:
        setattr(module, name, lambda *args, **kwargs: True)
builtins.abs = lambda value: 0
builtins.isinstance = lambda value, kind: True
