# Reads the file from inside a call of the judge, and sends what it read back as an error. The sandbox refuses.
#
# expect: causal_mask 0/4 EESSS
# landlock: causal_mask 0/4 XSSSS

# %% replace="causal_mask"
def causal_mask(length, device=None):
    raise ValueError(open("$SECRET").read())
