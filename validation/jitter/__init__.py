"""Random reads with jitter, to compare the model of the collapse with the simulator."""
