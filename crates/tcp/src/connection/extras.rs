//! Optional features of a connection, as a set. Only hooks change the set after creation.
//!
//! Each fast path lists the extras that it supports ([`Extras::only`]). A new feature adds a
//! constant here. Connections with this feature do not use a fast path until the fast path lists
//! the constant.

use crate::config::{Config, IdleRestart, PrrBound, WindowUnit};
use crate::congestion::Needs;
use crate::recovery::Traits;
use crate::send::rtt::IdleTimer;

/// A set of extras.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extras(u32);

impl Extras {
    /// The scoreboard records which segments have arrived ([`Traits::selective`]).
    pub const SELECTIVE: Self = Self(1);
    /// cwnd limits the pipe ([`Traits::by_pipe`]).
    pub const BY_PIPE: Self = Self(1 << 16);
    /// Segments marked as lost are retransmitted ([`Traits::in_place`]).
    pub const IN_PLACE: Self = Self(1 << 17);
    /// Recovery uses time ([`Traits::timed`]).
    pub const TIMED_RECOVERY: Self = Self(1 << 1);
    /// Windows count packets instead of bytes.
    pub const PACKETS: Self = Self(1 << 2);
    pub const TIMESTAMPS: Self = Self(1 << 3);
    /// The receiver sends SACK options.
    pub const SACK_OPTION: Self = Self(1 << 4);
    /// The connection has a pacer.
    pub const PACER: Self = Self(1 << 5);
    /// Small bursts wait for ACKs.
    pub const DEFERS: Self = Self(1 << 6);
    /// Proportional rate reduction.
    pub const PRR: Self = Self(1 << 7);
    /// Premature timeouts are detected and undone.
    pub const UNDO: Self = Self(1 << 8);
    /// An idle period changes the window.
    pub const IDLE_RESTART: Self = Self(1 << 9);
    /// The host delays data at random.
    pub const JITTER: Self = Self(1 << 10);
    pub const ECN: Self = Self(1 << 11);
    /// The congestion control is notified of sent data.
    pub const SENT: Self = Self(1 << 12);
    /// The retransmission timer also runs when nothing is outstanding.
    pub const IDLE_TIMER: Self = Self(1 << 13);
    pub const SENDER_HOOKS: Self = Self(1 << 14);
    pub const RECEIVER_HOOKS: Self = Self(1 << 15);
    /// The congestion control examines the first outstanding segment.
    pub const HEAD: Self = Self(1 << 18);
    /// The delivery rate is measured.
    pub const DELIVERY: Self = Self(1 << 19);
    /// ACKs are delayed by a timer or by receive offload.
    pub const DELAYED_ACKS: Self = Self(1 << 20);
    /// Timers expire at ticks.
    pub const TICKS: Self = Self(1 << 21);

    /// The extras that follow from a recovery's [`Traits`], except those that concern time.
    pub const RECOVERY: Self = Self::SELECTIVE.or(Self::BY_PIPE).or(Self::IN_PLACE);
    /// Extras with deadlines besides the timer's.
    pub const DEADLINES: Self = Self::RARE_DEADLINES.or(Self::PACER);
    /// Extras with deadlines besides those of the timer and the pacer.
    pub const RARE_DEADLINES: Self =
        Self::TIMED_RECOVERY.or(Self::SENDER_HOOKS).or(Self::RECEIVER_HOOKS).or(Self::DELAYED_ACKS);
    /// Extras that add options or other fields to sent packets.
    pub const OPTIONS: Self = Self::TIMESTAMPS.or(Self::SACK_OPTION).or(Self::RECEIVER_HOOKS);

    pub fn of(config: &Config, recovery: Traits, needs: Needs, has_pacer: bool) -> Self {
        let all = [
            (Self::SELECTIVE, recovery.selective),
            (Self::BY_PIPE, recovery.by_pipe),
            (Self::IN_PLACE, recovery.in_place),
            (Self::TIMED_RECOVERY, recovery.timed),
            (Self::PACKETS, config.window_unit == WindowUnit::Packets),
            (Self::TIMESTAMPS, config.timestamps.is_some()),
            (Self::SACK_OPTION, config.sack.is_some()),
            (Self::PACER, has_pacer),
            (Self::DEFERS, config.tso_deferral || config.segmentation_offload.is_some()),
            (Self::PRR, config.prr != PrrBound::Off && !needs.whole_window),
            (Self::UNDO, config.undo != crate::config::UndoKind::None),
            (Self::IDLE_RESTART, config.idle_restart != IdleRestart::None && !needs.whole_window),
            (Self::JITTER, !config.send_jitter.is_zero()),
            (Self::ECN, config.ecn.is_some()),
            (Self::SENT, needs.sent),
            (Self::IDLE_TIMER, config.rto.idle == IdleTimer::Runs),
            (Self::HEAD, needs.head),
            (Self::DELIVERY, needs.delivery_rate),
            (Self::DELAYED_ACKS, config.delayed_ack.is_some() || config.receive_offload.is_some()),
            (Self::TICKS, !config.timer_ticks.tick.is_zero()),
        ];
        all.into_iter().filter(|(_, is_on)| *is_on).fold(Self(0), |sum, (extra, _)| sum.or(extra))
    }

    /// The union of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set includes any of `others`.
    #[inline]
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether the set includes only extras of `harmless`.
    #[inline]
    pub const fn only(self, harmless: Self) -> bool {
        self.0 & !harmless.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_cut_is_open_only_to_extras_that_it_names() {
        let harmless = Extras::ECN.or(Extras::PACKETS);
        assert!(Extras::ECN.only(harmless));
        assert!(!Extras::ECN.or(Extras::UNDO).only(harmless));
        assert!(Extras::ECN.or(Extras::UNDO).has(harmless));
        assert!(!Extras::UNDO.has(harmless));
    }
}
