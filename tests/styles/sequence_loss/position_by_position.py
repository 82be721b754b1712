"""Two loops and a running mean."""


def sequence_loss(logits, targets, pad_id=None):
    total, count = logits.new_zeros(()), 0
    for row, goals in zip(logits, targets.tolist(), strict=True):
        for scores, goal in zip(row, goals, strict=True):
            if pad_id is not None and goal == pad_id:
                continue
            top = scores.max()
            total = total + top + (scores - top).exp().sum().log() - scores[int(goal)]
            count += 1
    return total / count
