"""Speed of the event loop, compared with ns-2, with another build and between transports."""
