"""Measurements of the client that avoids incast, on the kernel of this machine."""
