//! A receiver's reports in the SACK option (RFC 2018, RFC 2883).

use incast_net::SackBlocks;

use super::Reassembly;
use crate::config::Sack;

/// Number of ranges kept in the order of their last change. An option has room for three ranges.
/// More than three ranges are kept, because the latest ranges may merge, and the cumulative ACK may
/// pass them.
const REMEMBERED: usize = 8;

/// The ranges to report, and their order.
#[derive(Clone, Debug)]
pub struct SackReport {
    dsack: bool,
    takes_room: bool,
    /// A sequence number in each recently changed range, the latest first; 0 for none.
    recent: [u64; REMEMBERED],
    /// A duplicate that was not reported yet.
    duplicate: Option<(u64, u64)>,
}

impl SackReport {
    /// A report without ranges.
    pub fn new(config: Sack) -> Self {
        Self {
            dsack: config.dsack,
            takes_room: config.takes_room,
            recent: [0; REMEMBERED],
            duplicate: None,
        }
    }

    /// Enters the segment from `start` to `end` into `data`, and returns the segment's effect on
    /// `data`.
    pub fn insert(
        &mut self,
        start: u64,
        end: u64,
        data: &mut Reassembly,
    ) -> super::buffer::Arrival {
        if self.dsack {
            // RFC 2883 §4: a duplicate is reported once, in the ACK that it triggers.
            self.duplicate = data.overlap(start, end);
        }
        let arrival = data.insert(start, end);
        if end > data.next() {
            let start = start.max(data.next());
            let range = data.range_of(start);
            let same_range = |key: &u64| range.is_some_and(|(from, to)| from <= *key && *key < to);
            let old = self.recent.iter().position(same_range).unwrap_or(REMEMBERED - 1);
            self.recent[..=old].rotate_right(1);
            self.recent[0] = start;
        }
        arrival
    }

    /// Whether the option lengthens packets.
    pub fn takes_room(&self) -> bool {
        self.takes_room
    }

    /// Whether a duplicate must still be reported.
    pub fn owes_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// The blocks of the next packet (RFC 2018 §4): the range that grew last is first.
    pub fn blocks(&mut self, data: &Reassembly) -> SackBlocks {
        let mut blocks = SackBlocks::NONE;
        let ack = data.next();
        if let Some((start, end)) = self.duplicate.take() {
            blocks.push(ack, start, end);
        }
        let mut reported = [(0, 0); REMEMBERED];
        let (mut count, most) = (0, data.range_count());
        for key in self.recent.into_iter().filter(|key| *key > ack) {
            if blocks.is_full() || count == most {
                break;
            }
            if let Some(range) = data.range_of(key)
                && !reported[..count].contains(&range)
            {
                blocks.push(ack, range.0, range.1);
                reported[count] = range;
                count += 1;
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(report: &mut SackReport, data: &mut Reassembly, start: u64) -> Vec<(u64, u64)> {
        report.insert(start, start + 10, data);
        report.blocks(data).ranges(data.next()).collect()
    }

    #[test]
    fn rfc2018_4_the_latest_segment_comes_first_and_earlier_blocks_are_repeated() {
        let mut data = Reassembly::new(1);
        let mut report = SackReport::new(Sack { dsack: false, takes_room: false });
        assert_eq!(receive(&mut report, &mut data, 11), [(11, 21)]);
        assert_eq!(receive(&mut report, &mut data, 31), [(31, 41), (11, 21)]);
        assert_eq!(receive(&mut report, &mut data, 51), [(51, 61), (31, 41), (11, 21)]);
        assert_eq!(receive(&mut report, &mut data, 71), [(71, 81), (51, 61), (31, 41)]);
        assert_eq!(receive(&mut report, &mut data, 21), [(11, 41), (71, 81), (51, 61)]);
        assert_eq!(receive(&mut report, &mut data, 1), [(71, 81), (51, 61)]);
        assert_eq!(receive(&mut report, &mut data, 41), [(71, 81)]);
    }

    #[test]
    fn rfc2883_4_a_duplicate_is_told_once_and_before_the_range_that_holds_it() {
        let mut data = Reassembly::new(1);
        let mut report = SackReport::new(Sack { dsack: true, takes_room: false });
        receive(&mut report, &mut data, 1);
        assert_eq!(receive(&mut report, &mut data, 1), [(1, 11)]);
        assert_eq!(receive(&mut report, &mut data, 21), [(21, 31)]);
        receive(&mut report, &mut data, 31);
        assert_eq!(receive(&mut report, &mut data, 21), [(21, 31), (21, 41)]);
        assert_eq!(report.blocks(&data).ranges(11).collect::<Vec<_>>(), [(21, 41)]);
    }
}
