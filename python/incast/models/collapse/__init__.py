"""Predictions of whether a synchronised read collapses, from the scenario alone.

Rust code (`crates/theory`) simulates a reduced process: the packets in one queue, and the senders'
windows. `blocks` decides how much of the process is simulated. `conditions` decides to which
scenarios the model applies. `answers` and `knee` are the model's interface.
"""
