//! Files of packets that come in.
