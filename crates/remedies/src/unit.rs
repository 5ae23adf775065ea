//! What an application writes in one piece: a stripe unit, a server's part of a block.

use incast_net::Packet;
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::hooks::SendView;

/// The unit that a sender is at. A sender knows where one begins, because the application wrote it
/// after the one before; what is written on before its first segment leaves belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Its first byte.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
}

impl Unit {
    /// Nothing has been sent yet.
    pub const NONE: Self = Self { start: FIRST_BYTE, end: FIRST_BYTE };

    /// Whether the segment that is leaving is the first with data of a new unit, which is then the
    /// one at hand.
    pub fn is_begun_by(&mut self, packet: &Packet, view: &SendView) -> bool {
        let begins = packet.seq + u64::from(packet.payload) > self.end;
        if begins {
            *self = Self { start: packet.seq.max(self.end), end: view.written };
        }
        begins
    }
}
