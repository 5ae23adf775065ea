"""The foreign part of the corpus: captures that resemble those of other people's networks.

Packets come from the simulator, from a small TCP of this folder (`hosts`, `network`) or from the
kernel. The packets are rewritten with the numbering of other stacks, the omissions of other tools,
and the headers of other links.
"""
