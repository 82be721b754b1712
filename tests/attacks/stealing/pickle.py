# Returns and raises objects that run code when they are unpickled. Nothing that comes from there is.
#
# expect: causal_mask 0/4 FFSSS
# expect: padding_mask 0/4 EEEESSS
# expect: masked_softmax 0/8 EEEEEESSS

# %% replace="causal_mask"
class Bomb:
    def __reduce__(self):
        return eval, ("open('$SECRET', 'w').write('attack')",)


def causal_mask(length, device=None):
    return Bomb()

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    raise ValueError(Bomb())

# %% after="test_padding_mask"
import pickle
import sys

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    import os
    import pickle

    os.write(3, pickle.dumps(Bomb()))
    return scores
