"""Mutation tests: which mutants, how they are run, which records are kept."""
