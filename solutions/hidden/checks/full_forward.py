"""Hidden checks of lesson full_forward."""
