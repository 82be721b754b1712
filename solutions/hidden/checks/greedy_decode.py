"""Hidden checks of lesson greedy_decode."""
