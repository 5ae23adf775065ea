"""A corpus of captures with their truth: incast, and look-alikes of incast.

`python -m validation.captures make DIR` makes the corpus from fixed seeds. The corpus is not
committed, but the list of its scenarios and their halves is (`split.csv`). Rules are written with
the development half, and judged with the held-out half. `foreign` has captures that resemble those
of other people's networks, with halves of their own.
"""
