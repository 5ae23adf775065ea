//! What the identification of IPv4 packets says about packets that were not seen.
//!
//! Linux counts it per connection, one for each packet that is sent, a retransmission included. A
//! jump is then the number of packets that were lost before the point.

/// More packets are not lost in a row.
const MOST: u16 = 4096;

/// How often the numbers agreed with what was seen otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Votes {
    good: u64,
    bad: u64,
}

impl Votes {
    /// Whether packets are counted in this way; nothing if too few were seen.
    pub fn counted(&self) -> Option<bool> {
        (self.good + self.bad >= 4).then_some(self.good > 4 * self.bad)
    }

    /// Adds those of a connection.
    pub fn add(&mut self, other: Self) {
        self.good += other.good;
        self.bad += other.bad;
    }
}

/// The numbers of the packets of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    /// The one that must come next.
    next: Option<u16>,
    /// Missing packets before those that had no data.
    before: u32,
    pub votes: Votes,
    /// Votes that were not yet collected.
    fresh: Votes,
}

impl Ids {
    /// A packet of so many segments; returns how many are missing before it. Nothing if it is the
    /// first one, or its number does not follow the last one at all.
    pub fn take(&mut self, id: u16, segments: u32) -> Option<u32> {
        let Some(next) = self.next else {
            self.next = Some(id.wrapping_add(segments as u16));
            return None;
        };
        let missing = id.wrapping_sub(next);
        if missing > MOST {
            self.vote(false);
            if missing < u16::MAX - MOST {
                self.next = Some(id.wrapping_add(segments as u16));
            }
            return None;
        }
        self.next = Some(id.wrapping_add(segments as u16));
        Some(missing.into())
    }

    /// Packets are missing before one without data; they are told with the next data.
    pub fn keep(&mut self, missing: u32) {
        self.before += missing;
    }

    /// What was kept.
    pub fn kept(&mut self) -> u32 {
        std::mem::take(&mut self.before)
    }

    /// Whether a number agreed with what is known of its packet.
    pub fn vote(&mut self, good: bool) {
        for votes in [&mut self.votes, &mut self.fresh] {
            votes.good += u64::from(good);
            votes.bad += u64::from(!good);
        }
    }

    /// The votes since they were last collected.
    pub fn collect(&mut self) -> Votes {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_a_loss() {
        let mut ids = Ids::default();
        assert_eq!(ids.take(65534, 1), None, "nothing is before it");
        for id in [65535, 0, 1, 2] {
            assert_eq!(ids.take(id, 1), Some(0));
        }
        assert_eq!(ids.take(6, 2), Some(3));
        assert_eq!(ids.take(8, 1), Some(0));
        assert_eq!(ids.take(7, 1), None, "it comes late");
        assert_eq!(ids.take(9, 1), Some(0));
    }

    #[test]
    fn zeros_and_random_numbers_are_not_counted() {
        for list in [[0_u16; 8], [7, 40000, 3, 20000, 9, 60000, 11, 5]] {
            let mut ids = Ids::default();
            for id in list {
                if let Some(missing) = ids.take(id, 1) {
                    ids.vote(missing == 0);
                }
            }
            assert_ne!(ids.votes.counted(), Some(true));
        }
    }
}
