"""Hidden checks of lesson mask."""
