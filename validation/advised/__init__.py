"""Advice on real hosts: the printed commands, run in namespaces, beside the predictions."""
