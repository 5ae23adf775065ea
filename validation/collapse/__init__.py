"""Simulated collapse points, kept to judge the model that predicts them."""
