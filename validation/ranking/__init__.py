"""A ranking of remedies by the share of random reads whose completion is near the ideal."""
