"""How often each remedy keeps a read near its ideal completion, over random scenarios."""
