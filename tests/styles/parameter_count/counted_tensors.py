"""The matrices are made, without contents, and counted."""
import torch


def parameter_count(d_model, d_ff, encoder_blocks, decoder_blocks):
    def block(attentions):
        square = [torch.empty(d_model, d_model, device="meta") for _ in range(4 * attentions)]
        return [*square, torch.empty(d_model, d_ff, device="meta"), torch.empty(d_ff, d_model, device="meta")]

    blocks = [block(1)] * encoder_blocks + [block(2)] * decoder_blocks
    return sum(w.numel() for weights in blocks for w in weights)
