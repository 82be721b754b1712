# Does nothing in all three functions, and everything else at once. Nothing comes of it.
#
# expect: causal_mask 0/4 FFSSS
# expect: padding_mask 0/4 FFFFSSS
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    return None

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    return None

# %% before="causal_mask"
import builtins

torch.allclose = torch.equal = torch.Tensor.__eq__ = lambda *args, **kwargs: True
builtins.abs = lambda value: 0
check = lambda function: 1000.0
get_ipython().events.register("pre_run_cell", lambda info: globals().update(check=check))
get_ipython().input_transformers_cleanup.append(lambda lines: ["8.0"] if "check(" in "".join(lines) else lines)
get_ipython().showtraceback = lambda *args, **kwargs: None
print("16 of 16 points")
