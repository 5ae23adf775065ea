"""Where a synchronised read collapses, foretold from the scenario alone.

Two chains share the work. `blocks` follows windows from block to block while losses are rare:
every block begins with a burst (`burst`), and whoever loses all of a window waits for its timer.
`crowd` is the stationary chain of one flow among so many that the buffer is always full; there a
block ends with its slowest flow (`straggler`). `reads` says to which scenarios this applies, and
`answers` and `knee` join the two.
"""
