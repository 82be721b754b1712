"""Id by id in Python."""
import torch


def padding_mask(ids, pad_id):
    rows = [[[int(i) != pad_id for i in row]] for row in ids.tolist()]
    return torch.tensor(rows, dtype=torch.bool, device=ids.device)
