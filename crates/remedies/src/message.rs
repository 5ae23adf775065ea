//! A message: data that an application writes at once, such as a server's part of a block.

use incast_net::Packet;
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::hooks::SendView;

/// The current message of a sender. A message begins after the end of the previous message. It
/// consists of all data that the application has written by the time when the first segment of the
/// message is sent.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The first byte of the message.
    pub start: u64,
    /// One past the last byte of the message.
    pub end: u64,
}

impl Message {
    /// The value before the first message.
    pub const NONE: Self = Self { start: FIRST_BYTE, end: FIRST_BYTE };

    /// Whether the departing segment is the first that carries data of a new message. If so, the
    /// new message becomes the current message.
    pub fn is_begun_by(&mut self, packet: &Packet, view: &SendView) -> bool {
        let begins = packet.seq + u64::from(packet.payload) > self.end;
        if begins {
            *self = Self { start: packet.seq.max(self.end), end: view.written };
        }
        begins
    }
}
