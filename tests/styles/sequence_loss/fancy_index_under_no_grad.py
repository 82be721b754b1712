"""Indices for all three axes, nanmean over what counts."""
import torch


@torch.no_grad()
def sequence_loss(logits, targets, pad_id=None):
    N, T, _ = logits.shape
    targets = targets.long()
    n, t = torch.arange(N, device=logits.device)[:, None], torch.arange(T, device=logits.device)
    surprise = -logits.log_softmax(2)[n, t, targets]
    if pad_id is not None:
        surprise = torch.where(targets == pad_id, torch.nan, surprise)
    return surprise.nanmean()
