"""A ranking of remedies by the share of random reads that they keep near the ideal completion."""
