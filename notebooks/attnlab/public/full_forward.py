"""Public checks of the lesson on full forward."""
