//! Files of packets that go out.
