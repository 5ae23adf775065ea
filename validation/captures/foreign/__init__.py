"""The foreign part of the corpus: captures that resemble those of other people's networks.

Packets come from the simulator, from the small TCP in this folder (`hosts`, `network`), or from the
kernel. The packets are then rewritten: they get the identifications of other stacks and the headers
of other links, and packets are left out or repeated as other tools do.
"""
