"""A corpus of captures with their truth: incast, and what looks like it.

`python -m validation.captures make DIR` makes it from fixed seeds. It is not committed; the list of
its scenarios and its halves are (`split.csv`): rules are written with the development half, and
judged with the other one. `foreign` has captures as other people's networks make them, with halves
of their own.
"""
