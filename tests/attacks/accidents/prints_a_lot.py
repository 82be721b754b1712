# Left prints in an answer and in a loop. The answer is right.

# %% replace="causal_mask"
def causal_mask(length, device=None):
    print("called with", length, device)
    table = torch.ones(length, length, dtype=torch.bool, device=device).tril()
    print(table)
    return table

# %% last
for number in range(2000):
    print("step", number, "loss", 1 / (number + 1))
