"""One line."""


def parameter_count(d_model, d_ff, encoder_blocks, decoder_blocks):
    E, L = encoder_blocks, decoder_blocks
    return (4 * E + 8 * L) * d_model**2 + 2 * (E + L) * d_model * d_ff
