//! When the host releases data: hosts with a random send delay (`send_jitter`), and hooks that
//! delay data.

use incast_engine::{Span, Time};
use incast_net::Trigger;

use super::Connection;

/// Whether data may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Gate {
    #[default]
    Closed,
    OpensAt(Time),
    Open,
}

/// The host's delay of data that could be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host {
    pub gate: Gate,
    /// When the gate was closed.
    pub closed_since: Time,
    /// A delay below this time is not recorded as late.
    pub patience: Span,
}

impl Connection {
    /// Whether the host releases data now. If not, this method sets the time of the release.
    #[inline]
    pub(super) fn may_leave(&mut self, now: Time, hold_until: Time, at_once: bool) -> bool {
        let wait = if hold_until > now {
            hold_until - now
        } else if self.config.send_jitter.is_zero() || at_once {
            return true;
        } else if self.host.gate == Gate::Closed {
            self.random.uniform(self.config.send_jitter)
        } else {
            Span::ZERO
        };
        match self.host.gate {
            Gate::Open if hold_until <= now => true,
            Gate::OpensAt(_) => false,
            Gate::Open | Gate::Closed => {
                self.host.gate = Gate::OpensAt(now + wait);
                self.host.closed_since = now;
                false
            }
        }
    }

    /// Opens the gate if its time has come.
    #[inline]
    pub(super) fn open_gate(&mut self, now: Time) {
        if matches!(self.host.gate, Gate::OpensAt(at) if at <= now) {
            self.host.gate = Gate::Open;
            self.burst = u32::MAX;
            self.note_hold(now - self.host.closed_since);
        }
    }

    /// Sets the delay below which delayed data is not recorded as late.
    pub fn set_patience(&mut self, patience: Span) {
        self.host.patience = patience;
    }

    /// Records that data which is sent now was delayed by `held`.
    #[inline]
    pub(super) fn note_hold(&mut self, held: Span) {
        if held >= self.host.patience {
            self.set_trigger(Trigger::Pacer);
        }
    }
}
