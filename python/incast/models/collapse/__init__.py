"""Where a synchronised read collapses, foretold from the scenario alone.

A reduced process of connections instead of packets: `blocks` hands windows (`senders`) from block
to block; a block opens with a burst of all windows (`opening`, `burst`), goes on round trip by
round trip (`rounds`), and ends when the last connection has its data. `handshake` adds what a lost
SYN-ACK costs. `reads` says to which scenarios this applies; `answers` and `knee` are what is asked.
"""
