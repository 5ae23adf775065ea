"""Mutation tests: which mutants, how they are run, what is kept of them."""
