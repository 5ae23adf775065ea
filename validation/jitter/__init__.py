"""Random reads with jitter, on which the model of the collapse is held against the simulator."""
