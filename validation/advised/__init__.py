"""Advice on real hosts: compares the effect of printed commands in namespaces with predictions."""
