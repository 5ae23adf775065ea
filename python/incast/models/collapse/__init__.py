"""Where a synchronised read collapses, foretold from the scenario alone.

The read is played with nothing but what decides: packets that meet in one queue, and the senders'
windows, in Rust (`crates/theory`). `blocks` says how much of it is followed, `reads` to which
scenarios this applies; `answers` and `knee` are what is asked.
"""
