"""Where reads collapse, simulated once and kept, to judge the model that predicts it."""
