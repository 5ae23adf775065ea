//! The window that the receiver advertises.

/// The advertised window; its right edge never moves back (RFC 9293 §3.8.6.2.1).
#[derive(Clone, Debug)]
pub struct ReceiveWindow {
    capacity: u64,
    right_edge: u64,
}

impl ReceiveWindow {
    /// A buffer of `capacity` bytes that starts at sequence number `next`.
    pub fn new(capacity: u64, next: u64) -> Self {
        Self { capacity, right_edge: next }
    }

    /// Changes the buffer; returns whether the sender should hear of it because it has grown and
    /// opens the window from less than a segment (RFC 9293 §3.8.6.2.2).
    pub fn set_capacity(&mut self, capacity: u64, next: u64, segment: u64) -> bool {
        let grows = capacity > std::mem::replace(&mut self.capacity, capacity);
        let advertised = self.right_edge.saturating_sub(next);
        grows && advertised < segment && capacity >= segment
    }

    /// The window to advertise with the cumulative ACK `next`, at most `cap` if the right edge
    /// allows.
    #[inline]
    pub fn advertise(&mut self, next: u64, cap: Option<u64>) -> u32 {
        let wanted = cap.map_or(self.capacity, |cap| cap.min(self.capacity));
        self.right_edge = self.right_edge.max(next + wanted);
        u32::try_from(self.right_edge - next).unwrap_or(u32::MAX)
    }

    /// Whether a segment that ends at `end` fits, so that a probe into a closed window does not.
    #[inline]
    pub fn accepts(&self, end: u64, next: u64) -> bool {
        end <= self.right_edge.max(next + self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9293_3_8_6_the_right_edge_never_moves_back() {
        let mut window = ReceiveWindow::new(1000, 1);
        assert_eq!(window.advertise(1, None), 1000);
        assert_eq!(window.advertise(101, Some(200)), 900);
        assert_eq!(window.advertise(901, Some(200)), 200);
        assert!(window.accepts(1101, 901) && !window.accepts(5000, 901));
    }

    #[test]
    fn rfc9293_3_8_6_2_2_opening_a_closed_window_is_worth_an_update() {
        let mut window = ReceiveWindow::new(0, 1);
        assert_eq!(window.advertise(1, None), 0);
        assert!(!window.accepts(2, 1));
        assert!(!window.set_capacity(50, 1, 100), "silly window");
        assert!(window.set_capacity(500, 1, 100));
        assert_eq!(window.advertise(1, None), 500);
        assert!(!window.set_capacity(800, 1, 100), "it was open already");
        assert!(!ReceiveWindow::new(500, 1).set_capacity(500, 1, 100), "nothing has changed");
    }
}
