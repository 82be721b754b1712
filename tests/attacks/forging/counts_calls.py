# Right in every other call only: a check that asked once might be lucky. Each check asks more than once or elsewhere.
#
# expect: causal_mask 0/4 FFSSS

# %% replace="causal_mask"
calls = 0


def causal_mask(length, device=None):
    global calls
    calls += 1
    table = torch.ones(length, length, dtype=torch.bool, device=device).tril()
    return table if calls % 2 else ~table
