"""Predictions of what the real kernel answers, made before it is asked."""
