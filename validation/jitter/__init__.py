"""A comparison of the collapse model with the simulator, on random reads with jitter."""
