# Leaves with exit code 0 from inside each answer, as scripts that went well do. That is an error as any other.
#
# expect: causal_mask 0/4 EESSS
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    raise SystemExit(0)

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    raise GeneratorExit

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    raise KeyboardInterrupt
