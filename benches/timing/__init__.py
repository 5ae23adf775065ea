"""Speed of the event loop, of ns-2, of another build, and of each transport."""
