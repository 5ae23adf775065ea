"""Studies that compare the simulator with other simulators, theory and the literature.

`python -m validation` runs all of them, `python -m validation.NAME` one. Each study has a folder;
its pages are in docs/validation. `reference` has the data that studies compare with, `common` what
they share, and `mutants` measures the tests.
"""
