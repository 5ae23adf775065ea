//! Limits on a window other than congestion signals, and the undo of a timeout.

use super::{CongestionControl, Controller, PathView};

/// A limit on the window other than a congestion signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The SYN or SYN-ACK was lost: the initial window is one segment (RFC 5681 §3.1).
    SynLost,
    /// Sending restarts from the restart window (RFC 5681 §4.1), after an idle period or because a
    /// hook says so.
    Restart,
    /// Nothing was sent for this many RTOs: the window is halved for each of them (RFC 2861 §3).
    Idle {
        /// RTOs without data.
        rtos: u32,
    },
    /// The application used less than the window for an RTO (RFC 2861 §3).
    Unused {
        /// Largest flight during this RTO, bytes.
        used: u64,
    },
    /// A loss while less than half of the window was used (RFC 7661 §4.4.1).
    Unvalidated {
        /// The used part, bytes.
        used: u64,
    },
    /// The timeout under examination was genuine (RFC 5682 §2.1, step 3 a).
    Genuine,
    /// The timeout was premature, and the state before it is restored (RFC 4015 §3).
    Undone {
        /// Bytes that the current ACK acknowledged.
        acked: u64,
        /// `pipe_prev`, bytes.
        ssthresh: u64,
    },
    /// Windows are counted in segments, and the segment size changes. ssthresh keeps its number of
    /// segments. cwnd keeps its number of segments if segments become smaller, and its bytes if
    /// they become larger (Kulkarni & Agrawal, algorithm 4).
    Resized {
        /// Payload of a segment before the change, bytes.
        from: u32,
    },
}

impl Limit {
    /// The upper bounds of cwnd and ssthresh, from their present values `window` and `ssthresh`.
    pub fn bounds(self, window: u64, ssthresh: u64, path: &PathView) -> (u64, u64) {
        let PathView { segment, initial_window, flight, .. } = *path;
        let validated = ssthresh.max(window * 3 / 4);
        match self {
            Self::SynLost => (segment.min(initial_window), ssthresh),
            Self::Restart => (initial_window, ssthresh),
            Self::Idle { rtos } => ((window >> rtos).max(initial_window.min(window)), validated),
            Self::Unused { used } => (u64::midpoint(window, used), validated),
            Self::Unvalidated { used } => {
                ((used / 2).max(segment), (used / 2).max(2 * segment).min(ssthresh))
            }
            Self::Genuine => (3 * segment, ssthresh),
            Self::Undone { acked, ssthresh } => {
                ((flight + acked.min(initial_window)).max(segment), ssthresh)
            }
            Self::Resized { from } => {
                let same_number = |bytes: u64| {
                    let scaled = u128::from(bytes) * u128::from(segment) / u128::from(from);
                    u64::try_from(scaled).unwrap_or(u64::MAX)
                };
                (same_number(window).max(segment), same_number(ssthresh).max(2 * segment))
            }
        }
    }
}

/// The state of a congestion control before a timeout.
#[derive(Clone, Debug)]
pub struct Snapshot {
    controller: Controller,
    /// `pipe_prev` of RFC 4015 §3.
    ssthresh: u64,
}

impl Controller {
    /// The state that [`Self::undo`] restores; `flight` bytes are outstanding.
    pub fn snapshot(&self, flight: u64) -> Snapshot {
        Snapshot { controller: self.clone(), ssthresh: flight.max(self.ssthresh()) }
    }

    /// Undoes a premature timeout that happened after `saved` was taken. An ACK of `acked` bytes
    /// showed that the timeout was premature.
    pub fn undo(&mut self, saved: Snapshot, acked: u64, path: &PathView) {
        if self.on_undo() {
            return;
        }
        *self = saved.controller;
        self.on_limit(Limit::Undone { acked, ssthresh: saved.ssthresh }, path);
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::PATH;
    use super::*;

    const PATH_OF_FIVE: PathView = PathView { segment: 1000, flight: 5000, ..PATH };

    fn bounds(limit: Limit) -> (u64, u64) {
        limit.bounds(80_000, 10_000, &PATH_OF_FIVE)
    }

    #[test]
    fn rfc5681_3_1_and_4_1_name_the_initial_and_the_restart_window() {
        assert_eq!(bounds(Limit::SynLost), (1000, 10_000));
        assert_eq!(bounds(Limit::Restart), (2000, 10_000));
    }

    #[test]
    fn rfc2861_3_halves_per_idle_rto_down_to_the_restart_window() {
        assert_eq!(bounds(Limit::Idle { rtos: 2 }), (20_000, 60_000));
        assert_eq!(bounds(Limit::Idle { rtos: 63 }), (2000, 60_000));
    }

    #[test]
    fn rfc2861_3_an_application_limited_window_falls_to_the_mean() {
        assert_eq!(bounds(Limit::Unused { used: 30_000 }), (55_000, 60_000));
    }

    #[test]
    fn rfc7661_4_4_1_keeps_half_of_what_was_used() {
        assert_eq!(bounds(Limit::Unvalidated { used: 12_000 }), (6000, 6000));
        assert_eq!(bounds(Limit::Unvalidated { used: 100 }), (1000, 2000));
    }

    #[test]
    fn rfc5682_2_1_step_3_a_leaves_three_segments() {
        assert_eq!(bounds(Limit::Genuine), (3000, 10_000));
    }

    #[test]
    fn windows_in_segments_follow_the_segment_size() {
        let resized = |from, segment, window, ssthresh| {
            let path = PathView { segment, ..PATH_OF_FIVE };
            Limit::Resized { from }.bounds(window, ssthresh, &path)
        };
        assert_eq!(resized(1000, 50, 80_000, 10_000), (4000, 500));
        assert_eq!(resized(50, 100, 80_000, 10_000).1, 20_000);
        assert_eq!(resized(50, 100, 100, u64::MAX).1, u64::MAX, "there is no ssthresh yet");
        assert_eq!(resized(1000, 50, 10, 10), (50, 100), "cwnd is at least 1 segment, ssthresh 2");
    }

    #[test]
    fn rfc4015_3_gives_the_flight_and_no_more_than_an_initial_window() {
        let undone = |acked| bounds(Limit::Undone { acked, ssthresh: 30_000 });
        assert_eq!(undone(1000), (6000, 30_000));
        assert_eq!(undone(9000), (7000, 30_000));
    }
}
