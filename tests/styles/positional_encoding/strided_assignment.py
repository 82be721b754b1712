"""An empty table, filled column by column, with the frequencies as exponentials."""
import math

import torch


def positional_encoding(length, d):
    table = torch.zeros(length, d)
    position = torch.arange(length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate[: d // 2])
    return table
