"""Public checks of the lesson on cross attention."""
