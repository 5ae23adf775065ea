"""A ranking of remedies by how often they keep random reads near their ideal completion."""
