//! Advice, and how advice is merged.

use incast_engine::{Span, Time};

/// Copies of outstanding segments that a hook requests, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies(u8);

impl Copies {
    /// No copies.
    pub const NONE: Self = Self(0);
    /// The first unacknowledged segment.
    pub const HEAD: Self = Self(1);
    /// The outstanding segment with the highest sequence number.
    pub const HIGHEST: Self = Self(2);

    /// The union of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set includes every copy of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A hook's advice. Every field is merged by an operation that is commutative, associative and
/// idempotent, with [`Advice::NONE`] as its neutral element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Payload bytes of a new segment (merged by min).
    pub segment_size: u32,
    /// Count cwnd and ssthresh in segments, so that they follow the segment size
    /// ([`crate::congestion::Limit::Resized`]; merged by logical or).
    pub counts_segments: bool,
    /// Header bytes on the wire (merged by min).
    pub header_bytes: u8,
    /// Label bits to set (merged by logical or).
    pub label: u16,
    /// Send no data before this time (merged by max).
    pub hold_until: Time,
    /// Largest window to advertise, bytes; the right edge never moves back (merged by min).
    pub receive_window_cap: u64,
    /// Largest send window, bytes (merged by min).
    pub window_ceiling: u64,
    /// Identical ACKs to send after the regular ACK (merged by max).
    pub extra_acks: u8,
    /// Copies of outstanding segments to send now (merged by union).
    pub copies: Copies,
    /// Start loss recovery now (merged by logical or).
    pub enter_recovery: bool,
    /// Reduce cwnd to the initial window (merged by logical or).
    pub restart_window: bool,
    /// Expire the retransmission timer now (merged by logical or).
    pub expire_timer: bool,
    /// Do not double the RTO when advice has caused the expiry (merged by logical or).
    pub keep_rto: bool,
    /// Send an empty packet with these label bits; 0 means no packet (merged by max).
    pub empty_probe: u16,
    /// Send the end of the stream again: the FIN, or an empty packet with these label bits if there
    /// is no FIN; 0 means no packet (merged by max).
    pub end_again: u16,
    /// Echo the timestamp of the current segment, regardless of its order (merged by logical or).
    pub echo: bool,
    /// Minimum retransmission timeout of data (merged by max).
    pub rto_floor: Span,
    /// Delay the current ACK or request until this time (merged by max).
    pub hold_ack_until: Time,
}

impl Advice {
    /// No advice.
    pub const NONE: Self = Self {
        segment_size: u32::MAX,
        counts_segments: false,
        header_bytes: u8::MAX,
        label: 0,
        hold_until: Time::ZERO,
        receive_window_cap: u64::MAX,
        window_ceiling: u64::MAX,
        extra_acks: 0,
        copies: Copies::NONE,
        enter_recovery: false,
        restart_window: false,
        expire_timer: false,
        keep_rto: false,
        empty_probe: 0,
        end_again: 0,
        echo: false,
        rto_floor: Span::ZERO,
        hold_ack_until: Time::ZERO,
    };

    /// The merged advice of two hooks.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            segment_size: self.segment_size.min(other.segment_size),
            counts_segments: self.counts_segments | other.counts_segments,
            header_bytes: self.header_bytes.min(other.header_bytes),
            label: self.label | other.label,
            hold_until: self.hold_until.max(other.hold_until),
            receive_window_cap: self.receive_window_cap.min(other.receive_window_cap),
            window_ceiling: self.window_ceiling.min(other.window_ceiling),
            extra_acks: self.extra_acks.max(other.extra_acks),
            copies: self.copies.union(other.copies),
            enter_recovery: self.enter_recovery | other.enter_recovery,
            restart_window: self.restart_window | other.restart_window,
            expire_timer: self.expire_timer | other.expire_timer,
            keep_rto: self.keep_rto | other.keep_rto,
            empty_probe: self.empty_probe.max(other.empty_probe),
            end_again: self.end_again.max(other.end_again),
            echo: self.echo | other.echo,
            rto_floor: self.rto_floor.max(other.rto_floor),
            hold_ack_until: self.hold_ack_until.max(other.hold_ack_until),
        }
    }
}

impl Default for Advice {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn advice() -> impl Strategy<Value = Advice> {
        let sizes = (any::<u32>(), any::<u8>(), any::<u16>(), any::<u64>(), any::<u64>());
        let rest =
            (any::<u64>(), any::<u8>(), 0_u8..4, any::<[bool; 6]>(), any::<(u16, u16, u64, u64)>());
        (sizes, rest).prop_map(|(sizes, rest)| Advice {
            segment_size: sizes.0,
            counts_segments: rest.3[5],
            header_bytes: sizes.1,
            label: sizes.2,
            hold_until: Time::from_picos(sizes.3),
            receive_window_cap: sizes.4,
            window_ceiling: rest.0,
            extra_acks: rest.1,
            copies: Copies(rest.2),
            enter_recovery: rest.3[0],
            restart_window: rest.3[1],
            expire_timer: rest.3[2],
            keep_rto: rest.3[3],
            echo: rest.3[4],
            empty_probe: rest.4.0,
            end_again: rest.4.1,
            rto_floor: Span::from_picos(rest.4.2),
            hold_ack_until: Time::from_picos(rest.4.3),
        })
    }

    proptest! {
        #[test]
        fn merging_is_commutative_associative_idempotent_and_has_a_neutral_element(
            a in advice(), b in advice(), c in advice(),
        ) {
            prop_assert_eq!(a.merge(b), b.merge(a));
            prop_assert_eq!(a.merge(b).merge(c), a.merge(b.merge(c)));
            prop_assert_eq!(a.merge(a), a);
            prop_assert_eq!(a.merge(Advice::NONE), a);
        }
    }
}
