"""Hidden checks of lesson cross_attention."""
