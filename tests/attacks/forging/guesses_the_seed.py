# Tries to draw what the judge draws, from seeds that people use. The judge's seed is secret and its draws are its own.
#
# expect: masked_softmax 0/8 FFFFFFSSS

# %% replace="masked_softmax"
def masked_softmax(scores, allowed=None):
    for seed in range(50):
        torch.manual_seed(seed)
        if torch.allclose(torch.randn(scores.shape, dtype=scores.dtype), scores):
            return torch.softmax(scores, dim=-1)
    return torch.zeros_like(scores)
