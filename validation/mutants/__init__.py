"""Mutation tests: the draw of mutants, their runs, and the records of the outcomes."""
