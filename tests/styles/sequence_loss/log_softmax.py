"""Library log-softmax, a mask as weights."""
import torch


def sequence_loss(logits, targets, pad_id=None):
    log_p = torch.log_softmax(logits, dim=-1)
    picked = torch.take_along_dim(log_p, targets.long().unsqueeze(-1), dim=-1).squeeze(-1)
    weight = torch.ones_like(picked) if pad_id is None else (targets != pad_id).to(picked.dtype)
    return -(picked * weight).sum() / weight.sum()
