//! How many packets a packet follows: its place among arrivals of the same instant.

use super::Ties;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// With [`Ties::Scheduled`]: how many packets the last one followed since the line was idle.
    length: Option<u64>,
}

impl Train {
    pub(super) fn new(ties: Ties) -> Self {
        Self { length: (ties == Ties::Scheduled).then_some(0) }
    }

    /// Appends a packet; returns how many it follows, if `ahead` are still there.
    ///
    /// Where every event has the place of its scheduling, a transmission that begins with an arrival
    /// comes before one that begins with a departure of the same instant, since a link takes longer
    /// to cross than a packet to send; and two lines that send one packet after the other keep their
    /// order. So the line comes first which has been busy for fewer packets.
    #[inline]
    pub(super) fn append(&mut self, ahead: u64) -> u64 {
        let Some(length) = &mut self.length else { return ahead };
        *length = if ahead == 0 { 0 } else { *length + 1 };
        *length
    }
}
