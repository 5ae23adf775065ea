"""Stored simulated collapse points, and the judgement of the model that predicts them."""
