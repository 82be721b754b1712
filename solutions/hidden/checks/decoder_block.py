"""Hidden checks of lesson decoder_block."""
