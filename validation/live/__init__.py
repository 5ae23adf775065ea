"""Predictions of the real kernel's results, made before the measurement."""
