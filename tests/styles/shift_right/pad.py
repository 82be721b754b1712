"""Library padding on the left."""
import torch.nn.functional as F


def shift_right(ids, bos_id):
    return F.pad(ids[:, :-1], (1, 0), value=bos_id)
