"""Validation against other simulators' data."""
