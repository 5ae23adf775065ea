"""Where a synchronised read collapses, foretold from the scenario alone.

A reduced process of connections instead of packets, from block to block and round trip by round
trip, written in Rust (`crates/theory`): `blocks` says how much of it is followed. `handshake` adds
what a lost SYN-ACK costs. `reads` says to which scenarios this applies; `answers` and `knee` are
what is asked.
"""
