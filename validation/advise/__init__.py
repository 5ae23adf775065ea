"""A comparison of the advice with an exhaustive search over the same catalogue."""
