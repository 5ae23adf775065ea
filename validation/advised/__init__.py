"""Advice on real hosts: the printed words, given in namespaces, beside what was predicted."""
