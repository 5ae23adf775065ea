"""Studies that compare the simulator with other simulators, theory and the literature.

`python -m validation` runs all studies, `python -m validation.NAME` runs one. Each study has a
folder; its pages are in docs/validation. `reference` has the data that studies compare with,
`common` has code that studies share, and `mutants` measures the tests.
"""
