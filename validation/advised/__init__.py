"""Advice on real hosts: compares the measured effect of printed commands with predictions."""
