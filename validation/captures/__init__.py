"""A corpus of captures with known truth: incast, and look-alikes of incast.

`python -m validation.captures make DIR` makes the corpus from fixed seeds. The corpus is not
committed, but `split.csv` is: it lists the scenarios, and the half to which each belongs. Rules are
written with the development half, and judged with the held-out half. `foreign` has captures that
resemble those of other people's networks, and divides them into halves separately.
"""
