"""Public checks of the lesson on mask."""
