//! Selects the packets of a class.

use crate::packet::{Flags, Packet};

/// The packets of a class. A packet belongs to the class if any of the criteria matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Labels, as a bit mask; one of these labels is enough.
    pub label: u16,
    /// Retransmissions.
    pub retransmissions: bool,
    /// Packets without payload: ACKs, SYNs, FINs, requests.
    pub control: bool,
}

impl Selector {
    /// Whether `packet` belongs to the class.
    #[inline]
    pub fn matches(self, packet: &Packet) -> bool {
        packet.label & self.label != 0
            || (self.retransmissions && packet.flags.contains(Flags::RETRANSMISSION))
            || (self.control && packet.payload == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_criterion_is_enough() {
        let data = Packet { payload: 1000, ..Packet::default() };
        let labelled = Packet { label: 0b110, ..data };
        let again = Packet { flags: Flags::RETRANSMISSION, ..data };
        let ack = Packet { payload: 0, flags: Flags::ACK, ..data };
        let matching = |selector: Selector| {
            [data, labelled, again, ack].map(|packet| selector.matches(&packet))
        };
        let none = Selector::default();
        assert_eq!(matching(none), [false; 4]);
        assert_eq!(matching(Selector { label: 0b100, ..none }), [false, true, false, false]);
        assert_eq!(matching(Selector { label: 0b001, ..none }), [false; 4]);
        let criteria = Selector { label: 2, retransmissions: true, control: true };
        assert_eq!(matching(criteria), [false, true, true, true]);
    }
}
