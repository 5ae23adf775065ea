//! How packets get from a port to the next port.

/// The mechanism that brings packets from a port to the next port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shortcut {
    /// An arrival event at the end of the link brings each packet to the next port.
    #[default]
    None,
    /// Packets enter the next port at once. This is possible because no other port sends to the
    /// next port.
    Relay,
    /// Packets are announced to the next port, and enter it only when the state of that port is
    /// needed.
    Announce,
}
