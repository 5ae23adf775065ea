"""Studies that compare the simulator with other simulators, theory and the literature.

`python -m validation` runs all studies, `python -m validation.NAME` runs one study. Each study has
a folder here, and pages in docs/validation. `reference` contains the data that the studies compare
with, `common` contains shared code, and `mutants` measures the tests.
"""
