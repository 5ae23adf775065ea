"""The client that avoids incast, measured on the kernel of this machine."""
