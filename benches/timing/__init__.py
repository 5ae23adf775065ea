"""How fast the event loop is: beside ns-2, beside another build, one transport beside another."""
