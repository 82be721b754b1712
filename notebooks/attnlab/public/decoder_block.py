"""Public checks of the lesson on decoder block."""
