"""Where a synchronised read collapses, predicted from the scenario alone.

A reduced process is simulated in Rust (`crates/theory`): packets that meet in one queue, and the
senders' windows. `blocks` decides how much of it is simulated, and `reads` to which scenarios the
model applies. `answers` and `knee` are its interface.
"""
