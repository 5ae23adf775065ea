//! What the identification of IPv4 packets says about packets that were not seen.
//!
//! Linux counts it per connection, one for each packet that is sent, a retransmission included. A
//! jump is then the number of packets that were lost before the point.

/// The numbers of the packets of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    /// The one that must come next.
    next: Option<u16>,
    /// Packets that came with it, or a little later; and others.
    good: u32,
    wild: u32,
}

/// More packets are not lost in a row.
const MOST: u16 = 4096;

impl Ids {
    /// A packet of so many segments; returns how many are missing before it, if that can be known.
    pub fn take(&mut self, id: Option<u16>, segments: u32) -> Option<u32> {
        let id = id?;
        let next = self.next.replace(id.wrapping_add(segments as u16))?;
        let missing = id.wrapping_sub(next);
        if missing == 0 {
            self.good = self.good.saturating_add(1);
        } else if missing > MOST {
            self.wild = self.wild.saturating_add(1);
        }
        (self.credible() && missing <= MOST).then_some(missing.into())
    }

    /// Whether they are counted in this way.
    pub fn credible(&self) -> bool {
        self.good >= 4 && self.wild * 8 < self.good
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_a_loss_if_they_are_counted() {
        let mut ids = Ids::default();
        for id in [65534, 65535, 0, 1, 2] {
            ids.take(Some(id), 1);
        }
        assert_eq!(ids.take(Some(6), 2), Some(3));
        assert_eq!(ids.take(Some(8), 1), Some(0));
    }

    #[test]
    fn zeros_and_random_numbers_say_nothing() {
        for list in [[0_u16; 8], [7, 40000, 3, 20000, 9, 60000, 11, 5]] {
            let mut ids = Ids::default();
            let told: Vec<_> = list.iter().filter_map(|&id| ids.take(Some(id), 1)).collect();
            assert!(told.is_empty());
        }
    }
}
