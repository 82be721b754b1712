# Prints 10 MB in each call. What an answer prints is dropped, and the answer is right.

# %% replace="causal_mask"
def causal_mask(length, device=None):
    for _ in range(10):
        print("x" * 10**6)
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
