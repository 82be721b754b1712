# Draws random numbers in an answer without need. What it returns is right all the same.

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    torch.manual_seed(0)
    noise = torch.rand(ids.shape, device=ids.device)
    return ((ids != pad_id) & (noise < 2))[:, None, :]
