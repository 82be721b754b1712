"""Public checks of the lesson on greedy decode."""
