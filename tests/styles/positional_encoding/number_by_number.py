"""Plain Python numbers."""
from math import cos, sin

import torch


def positional_encoding(length, d):
    rows = []
    for i in range(length):
        rows.append([(cos if j % 2 else sin)(i / 10000 ** (2 * (j // 2) / d)) for j in range(d)])
    return torch.tensor(rows)
