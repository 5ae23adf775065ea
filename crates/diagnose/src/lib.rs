//! What happened in a capture: its connections, their stalls by cause, episodes of incast, and what
//! looks like incast and is none. Knows captures, and no simulator.
