//! The receiver's reports after a loss, and the retransmitted bytes.

/// The repair of a flow.
#[derive(Debug, Default)]
pub struct Repair {
    /// Number of duplicate ACKs since the last ACK of new bytes, and whether one of them had SACK
    /// ranges.
    pub(super) dupacks: u32,
    pub(super) sacked: bool,
    /// The end of the bytes that were sent before a repair began. Holes below this byte are
    /// repaired without further duplicate ACKs.
    recover: i64,
    /// The end of the bytes that were sent without being seen. This is known only from the
    /// identifications of IP packets, if they count the packets of each connection.
    sent_unseen: i64,
    /// The end of the bytes that were sent again.
    pub(super) resent: i64,
    /// Number of segments that the receiver holds beyond a hole, and the highest byte sent before
    /// the receiver's last report.
    pub(super) held: i64,
    pub(super) held_top: i64,
}

impl Repair {
    /// Notes a duplicate ACK, after bytes up to `top` had been sent.
    pub fn duplicate(&mut self, top: i64) {
        self.dupacks += 1;
        self.held += 1;
        self.held_top = top;
    }

    /// Notes whether an ACK has SACK ranges.
    pub fn name_ranges(&mut self, named: bool) {
        self.sacked |= named;
    }

    /// Notes that the ACK number increases from `una` to `ack`. One segment filled the hole, and
    /// the receiver held the other segments in between.
    pub fn advance(&mut self, una: i64, ack: i64, segment: i64) {
        self.held = (self.held - (ack - una) / segment + 1).max(0);
        if ack >= self.held_top {
            self.held = 0;
        }
        self.dupacks = 0;
        self.sacked = false;
    }

    /// Whether the receiver has reported bytes behind the first missing byte.
    pub fn is_told(&self) -> bool {
        self.dupacks > 0 || self.sacked
    }

    /// Number of duplicate ACKs.
    pub fn duplicates(&self) -> u32 {
        self.dupacks
    }

    /// Number of duplicate ACKs, or number of segments that the receiver is known to hold,
    /// whichever is larger.
    pub fn witnesses(&self) -> u32 {
        self.dupacks.max(self.held as u32)
    }

    /// Whether one of the duplicate ACKs had SACK ranges.
    pub fn is_sacked(&self) -> bool {
        self.sacked
    }

    /// Begins a repair of all bytes below `end`.
    pub fn begin(&mut self, end: i64) {
        self.recover = end;
    }

    /// Extends the repair to all bytes below `end`.
    pub fn extend(&mut self, end: i64) {
        self.recover = self.recover.max(end);
    }

    /// Whether a byte had been sent before the last repair began.
    pub fn covers(&self, byte: i64) -> bool {
        byte < self.recover
    }

    /// Notes that bytes up to `end` were sent without being seen, according to the identifications
    /// of IP packets. It is uncertain whether these identifications count the packets of each
    /// connection.
    pub fn sent_unseen(&mut self, end: i64) {
        self.sent_unseen = self.sent_unseen.max(end);
    }

    /// Whether a byte had been sent before the last repair, or was sent without being seen. The
    /// latter is uncertain: the identifications of IP packets may not count the packets of each
    /// connection.
    pub fn may_cover(&self, byte: i64) -> bool {
        self.covers(byte) || byte < self.sent_unseen
    }

    /// Whether no new byte was acknowledged since the end of the last repair. The sender may then
    /// refuse to repair the next segment with a fast retransmit (RFC 6582 §3.2, step 1).
    pub fn may_refuse(&self, una: i64) -> bool {
        self.recover > 0 && una <= self.recover
    }

    /// Notes that bytes up to `end` were sent again.
    pub fn resend(&mut self, end: i64) {
        self.resent = self.resent.max(end);
    }

    /// Whether a byte was sent again.
    pub fn has_resent(&self, byte: i64) -> bool {
        byte < self.resent
    }
}

/// The number of hidden packets.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Number of hidden packets since the ACK number last increased.
    pub(super) count: u32,
    /// Number of packets that are missing before a retransmitted packet. Some of the missing
    /// packets may have been new.
    pub(super) early: u32,
}

impl Hidden {
    /// Adds this number of packets.
    pub fn add(&mut self, packets: u32) {
        self.count += packets;
    }

    /// Adds packets that are missing before a retransmitted packet.
    pub fn add_early(&mut self, packets: u32) {
        self.early += packets;
    }

    /// When new bytes come: returns the number of packets that are missing before a retransmitted
    /// packet, and sets this number to zero.
    pub fn take_early(&mut self) -> u32 {
        std::mem::take(&mut self.early)
    }

    /// Number of packets that are missing before a retransmitted packet.
    pub fn early(&self) -> u32 {
        self.early
    }

    /// Number of hidden packets since the ACK number last increased.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Starts the count again, because the ACK number increases.
    pub fn reset(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_are_held_speak_for_a_loss_after_the_ack_has_moved() {
        let mut repair = Repair::default();
        (0..5).for_each(|_| repair.duplicate(7000));
        assert_eq!((repair.duplicates(), repair.witnesses()), (5, 5));
        repair.advance(0, 3000, 1000);
        assert_eq!((repair.duplicates(), repair.witnesses()), (0, 3), "one filled the hole");
        assert!(!repair.is_told());
        repair.advance(3000, 7000, 1000);
        assert_eq!(repair.witnesses(), 0, "all that was told has arrived");
    }

    #[test]
    fn ranges_are_told_until_the_ack_moves() {
        let mut repair = Repair::default();
        repair.name_ranges(true);
        repair.name_ranges(false);
        assert!(repair.is_told() && repair.is_sacked());
        repair.advance(0, 1000, 1000);
        assert!(!repair.is_told());
    }

    #[test]
    fn the_segment_after_a_repair_may_be_refused_a_fast_one() {
        let mut repair = Repair::default();
        assert!(!repair.may_refuse(0), "there was none");
        repair.begin(5000);
        repair.extend(4000);
        assert!(repair.covers(4999) && !repair.covers(5000));
        assert!(repair.may_refuse(5000) && !repair.may_refuse(5001));
    }

    #[test]
    fn an_ack_that_moves_takes_what_was_held_of_its_step() {
        let witnesses = |una, ack| {
            let mut repair = Repair::default();
            (0..5).for_each(|_| repair.duplicate(9000));
            repair.advance(una, ack, 1000);
            repair.witnesses()
        };
        assert_eq!(
            [witnesses(2000, 3000), witnesses(2000, 4000), witnesses(2000, 8999)],
            [5, 4, 0]
        );
        assert_eq!(witnesses(8000, 9000), 0, "all that was told has arrived");
    }

    #[test]
    fn a_repair_is_extended_and_not_shortened() {
        let mut repair = Repair::default();
        repair.begin(5000);
        repair.extend(7000);
        repair.extend(6000);
        assert!(repair.covers(6999) && !repair.covers(7000));
        repair.resend(3000);
        repair.resend(2000);
        assert!(repair.has_resent(2999) && !repair.has_resent(3000));
    }

    #[test]
    fn bytes_that_nobody_has_seen_are_not_part_of_a_repair() {
        let mut repair = Repair::default();
        repair.begin(2000);
        repair.sent_unseen(5000);
        repair.sent_unseen(4000);
        assert!(repair.may_cover(4999) && !repair.may_cover(5000) && !repair.covers(4999));
        repair.begin(7000);
        assert!(repair.may_cover(6999));
    }

    #[test]
    fn early_ones_count_until_new_bytes_come_and_others_until_the_ack_moves() {
        let mut hidden = Hidden::default();
        hidden.add(2);
        hidden.add(3);
        hidden.add_early(4);
        hidden.add_early(5);
        assert_eq!((hidden.count(), hidden.early()), (5, 9));
        hidden.reset();
        assert_eq!((hidden.count(), hidden.early()), (0, 9));
        assert_eq!((hidden.take_early(), hidden.early(), hidden.take_early()), (9, 0, 0));
    }
}
