//! The trigger of each packet: a field that shows what ended a wait.

use incast_engine::Span;
use incast_net::Trigger;

use super::Connection;

impl Connection {
    /// The last trigger.
    pub fn trigger(&self) -> Trigger {
        self.template.flags.trigger()
    }

    /// Sets the trigger until the next one.
    #[inline]
    pub fn set_trigger(&mut self, trigger: Trigger) {
        self.template.flags = self.template.flags.with_trigger(trigger);
    }

    /// Data delayed for less than `patience` is not late for this reason.
    pub fn set_patience(&mut self, patience: Span) {
        self.host.patience = patience;
    }

    /// Data was delayed for this long, and is sent now.
    #[inline]
    pub(super) fn note_hold(&mut self, held: Span) {
        if held >= self.host.patience {
            self.set_trigger(Trigger::Pacer);
        }
    }
}
