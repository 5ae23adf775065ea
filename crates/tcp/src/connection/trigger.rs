//! Why a connection sends what it sends: a field of its packets for those who ask what ended a wait.

use incast_engine::Span;
use incast_net::Trigger;

use super::Connection;

impl Connection {
    /// What made it act last.
    pub fn trigger(&self) -> Trigger {
        self.template.flags.trigger()
    }

    /// What makes it send from now on, until something else does.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        self.template.flags = self.template.flags.with_trigger(trigger);
    }

    /// Data that are held back for less than `patience` are not late for that.
    pub fn set_patience(&mut self, patience: Span) {
        self.host.patience = patience;
    }

    /// Data that could leave were held back for so long, and leave now.
    #[inline]
    pub(super) fn note_hold(&mut self, held: Span) {
        if held >= self.host.patience {
            self.set_trigger(Trigger::Pacer);
        }
    }
}
