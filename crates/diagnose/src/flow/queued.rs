//! How long packets of a flow were in queues.

/// No queue is longer.
pub const LONGEST: i64 = 10_000_000;

/// The longest wait, and what forbids to measure it.
#[derive(Debug, Default)]
pub struct Queued {
    /// When it went on by itself, unasked by an ACK.
    resumed: i64,
    longest: i64,
}

impl Queued {
    /// It goes on by itself.
    pub fn resume(&mut self, now: i64) {
        self.resumed = now;
    }

    /// Whether an ACK has called what was sent at a time.
    pub fn is_called(&self, sent: i64) -> bool {
        sent > self.resumed
    }

    /// A wait in a queue.
    pub fn take(&mut self, wait: i64) {
        self.longest = self.longest.max(wait);
    }

    /// The longest, if one was seen.
    pub fn longest(&self) -> Option<i64> {
        Some(self.longest).filter(|wait| *wait > 0)
    }
}
