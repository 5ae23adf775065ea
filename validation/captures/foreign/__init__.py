"""Captures as other people's networks make them: the part of the corpus that is not ours.

Packets come from the simulator, from a small TCP of this folder (`hosts`, `network`) or from the
kernel. They are rewritten as other stacks would number them, other tools would keep them and other
links would carry them.
"""
