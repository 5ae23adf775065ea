//! The opening of a flow by its SYN or SYN-ACK.

use incast_capture::read::Packet;

use crate::stall::Place;
use crate::time::Time;

/// The SYNs or SYN-ACKs that were seen.
#[derive(Debug, Default)]
pub struct Opening {
    /// The time, the sequence number and the frame of the last SYN.
    pub(super) syn: Option<(Time, u32, Place)>,
    /// The IP identification of the last SYN, unless it is zero.
    id: Option<u16>,
    /// Time of the first SYN, if it was sent again.
    tried: Option<Time>,
    /// Whether the SYN was acknowledged.
    pub(super) greeted: bool,
}

impl Opening {
    /// Takes a SYN, and returns the time and frame at which the same SYN was seen before. If the
    /// earlier attempt was `refused`, the new attempt does not show a loss.
    pub fn take(&mut self, packet: &Packet, now: Time, refused: bool) -> Option<(Time, Place)> {
        let same = self.syn.filter(|&(_, seq, _)| seq == packet.seq);
        let before = same.map(|(sent, _, place)| (sent, place));
        if !refused {
            self.tried = self.tried.or(before.map(|(sent, _)| sent));
        }
        self.syn = Some((now, packet.seq, packet.into()));
        self.id = packet.id.filter(|id| *id != 0);
        before
    }

    /// Time of the last SYN.
    pub fn sent(&self) -> Option<Time> {
        self.syn.map(|(sent, ..)| sent)
    }

    /// Time of the first SYN, if it was sent again.
    pub fn tried(&self) -> Option<Time> {
        self.tried
    }

    /// Whether the last SYN had this sequence number.
    pub fn has(&self, seq: u32) -> bool {
        self.syn.is_some_and(|(_, known, _)| known == seq)
    }

    /// Whether a packet is a copy of the last SYN, and not a retransmission, because it has the
    /// same identification.
    pub fn is_copy(&self, packet: &Packet) -> bool {
        self.has(packet.seq) && self.id.is_some() && self.id == packet.id
    }

    /// Takes an ACK. Returns the time of the SYN, if this is the first ACK and shows a round trip.
    /// After a second SYN, it is not known which SYN the ACK answers.
    pub fn answered(&mut self) -> Option<Time> {
        let sent = self.sent().filter(|_| !self.greeted)?;
        self.greeted = true;
        self.tried.is_none().then_some(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::at;

    fn syn(seq: u32, id: u16) -> Packet {
        Packet { seq, id: Some(id), frame: u64::from(id), ..Packet::default() }
    }

    #[test]
    fn the_first_answer_shows_a_round_trip_if_one_was_asked() {
        let mut opening = Opening::default();
        assert_eq!(opening.answered(), None);
        assert!(opening.take(&syn(5, 1), at(10), false).is_none());
        assert_eq!(opening.answered(), Some(at(10)));
        assert_eq!(opening.answered(), None, "the second answer");
        let mut again = Opening::default();
        again.take(&syn(5, 1), at(10), false);
        assert_eq!(again.take(&syn(5, 2), at(20), false).map(|(sent, _)| sent), Some(at(10)));
        again.take(&syn(5, 3), at(40), false);
        assert_eq!((again.tried(), again.sent()), (Some(at(10)), Some(at(40))));
        assert_eq!(again.answered(), None);
    }

    #[test]
    fn an_attempt_that_was_refused_was_not_lost() {
        let mut opening = Opening::default();
        opening.take(&syn(5, 1), at(10), false);
        assert!(opening.take(&syn(5, 2), at(20), true).is_some());
        assert_eq!(opening.tried(), None);
    }

    #[test]
    fn a_copy_has_the_same_identification() {
        let mut opening = Opening::default();
        opening.take(&syn(5, 7), at(10), false);
        assert!(opening.is_copy(&syn(5, 7)));
        assert!(!opening.is_copy(&syn(5, 8)) && !opening.is_copy(&syn(6, 7)));
        opening.take(&syn(5, 0), at(20), false);
        assert!(!opening.is_copy(&syn(5, 0)), "a number that counts nothing");
    }
}
