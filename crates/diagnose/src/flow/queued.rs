//! Times for which packets of a flow were in queues.

use crate::time::{Span, Time};

/// The longest time that can be a wait in a queue.
pub const LONGEST: Span = Span::from_millis(10);

/// The longest wait, and the state that prevents a measurement.
#[derive(Debug, Default)]
pub struct Queued {
    /// Time of the last data that the flow sent although no ACK had released them.
    resumed: Time,
    longest: Span,
}

impl Queued {
    /// Notes that the flow continues although no ACK has released data.
    pub fn resume(&mut self, now: Time) {
        self.resumed = now;
    }

    /// Whether an ACK released the data that were sent at `sent`.
    pub fn is_called(&self, sent: Time) -> bool {
        sent > self.resumed
    }

    /// Takes a wait in a queue.
    pub fn take(&mut self, wait: Span) {
        self.longest = self.longest.max(wait);
    }

    /// The longest wait, if a wait was seen.
    pub fn longest(&self) -> Option<Span> {
        Some(self.longest).filter(|wait| *wait > Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{at, ns};

    #[test]
    fn what_is_sent_after_a_flow_went_on_by_itself_is_called() {
        let mut queued = Queued::default();
        queued.resume(at(5));
        assert!(queued.is_called(at(6)) && !queued.is_called(at(5)));
        assert_eq!(queued.longest(), None);
        for (wait, longest) in [(3, 3), (2, 3), (9, 9)] {
            queued.take(ns(wait));
            assert_eq!(queued.longest(), Some(ns(longest)));
        }
        queued.take(ns(-5));
        assert_eq!(queued.longest(), Some(ns(9)));
    }
}
