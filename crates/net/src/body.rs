//! The values that packets of families other than TCP carry. They are stored in fields that
//! otherwise only TCP uses, so a packet still fits into one cache line, and TCP has no additional
//! cost.

use std::ops::Range;

use crate::packet::{Flags, Packet};

impl Packet {
    /// The number of the path that the sender chose; `None` if it chose none.
    pub const fn path(&self) -> Option<u32> {
        if self.flags.contains(Flags::PATH) { Some(self.ts_value) } else { None }
    }

    /// The same packet, with `path` as the sender's choice.
    #[must_use]
    pub const fn with_path(mut self, path: u32) -> Self {
        self.flags = self.flags.with(Flags::PATH);
        self.ts_value = path;
        self
    }

    /// The path of the acknowledged packet.
    pub const fn echoed_path(&self) -> u32 {
        self.ts_echo
    }

    /// The same packet, with `path` as the path of the acknowledged packet.
    #[must_use]
    pub const fn with_echoed_path(mut self, path: u32) -> Self {
        self.ts_echo = path;
        self
    }

    /// Bytes of data that the packet had when it was sent, even if a switch has trimmed them.
    pub const fn length(&self) -> u32 {
        self.window
    }

    /// The same packet with `length` bytes of data.
    #[must_use]
    pub const fn with_length(mut self, length: u16) -> Self {
        self.payload = length;
        self.window = length as u32;
        self
    }

    /// The range of bytes that the receiver asks for, if it asks for any.
    pub fn lacks(&self) -> Option<Range<u64>> {
        let asks = self.flags.contains(Flags::NACK);
        asks.then(|| self.seq..self.seq + u64::from(self.window))
    }

    /// The same acknowledgement, with a request for `bytes`, a range of less than 4 GiB.
    #[must_use]
    pub fn with_lacks(mut self, bytes: Range<u64>) -> Self {
        self.flags = self.flags.with(Flags::NACK);
        self.seq = bytes.start;
        self.window = u32::try_from(bytes.end - bytes.start).unwrap_or(u32::MAX);
        self
    }

    /// The total number of bytes that the receiver allows the sender to send, if the packet carries
    /// such a credit.
    pub fn credit(&self) -> Option<u64> {
        self.ts_value.checked_sub(1).map(|beyond| self.ack + u64::from(beyond))
    }

    /// The same acknowledgement, with a credit of `bytes` in total. The credit must be less than 4
    /// GiB beyond the acknowledged bytes.
    #[must_use]
    pub fn with_credit(mut self, bytes: u64) -> Self {
        let beyond = u32::try_from(bytes.saturating_sub(self.ack)).unwrap_or(u32::MAX);
        self.ts_value = beyond.saturating_add(1);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_have_a_path_and_a_length_that_stays() {
        let mut data = Packet { header: 58, ..Packet::default() }.with_length(1024).with_path(7);
        assert_eq!((data.size(), data.length(), data.path()), (1082, 1024, Some(7)));
        data.trim();
        assert_eq!((data.size(), data.length(), data.path()), (58, 1024, Some(7)));
        assert_eq!(Packet::default().path(), None);
    }

    #[test]
    fn an_acknowledgement_asks_allows_and_echoes() {
        let ack = Packet { ack: 5000, flags: Flags::ACK, ..Packet::default() };
        assert_eq!((ack.lacks(), ack.credit(), ack.echoed_path()), (None, None, 0));
        let full = ack.with_lacks(6000..9000).with_credit(12_000).with_echoed_path(3);
        assert_eq!(full.lacks(), Some(6000..9000));
        assert_eq!((full.credit(), full.echoed_path(), full.ack), (Some(12_000), 3, 5000));
        assert_eq!(ack.with_credit(5000).credit(), Some(5000), "no more than what has arrived");
        assert!(full.flags.contains(Flags::ACK) && full.flags.contains(Flags::NACK));
    }
}
