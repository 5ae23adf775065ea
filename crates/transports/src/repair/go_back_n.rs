//! Go-back-N: the receiver discards packets that are not next in order, and asks once for the first
//! missing packet. The sender sends this packet and all later packets again.

use std::ops::Range;

use incast_engine::Parameters;
use incast_host::Seat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Repair, cut};

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters<dyn Repair, Seat> for Params {
    fn build(&self, _: &Seat) -> Box<dyn Repair> {
        Box::<GoBackN>::default()
    }
}

/// See the module.
#[derive(Default)]
pub struct GoBackN {
    next: u64,
    /// Whether the receiver has asked for `next`.
    asked: bool,
    again: Range<u64>,
    una: u64,
}

impl GoBackN {
    fn ask(&mut self, until: u64) -> Answer {
        let is_new = !std::mem::replace(&mut self.asked, true);
        Answer { next: self.next, lacks: (is_new && until > self.next).then_some(self.next..until) }
    }
}

impl Repair for GoBackN {
    fn on_data(&mut self, bytes: Range<u64>) -> Answer {
        if bytes.start > self.next {
            return self.ask(bytes.start);
        }
        if bytes.end > self.next {
            self.next = bytes.end;
            self.asked = false;
        }
        Answer { next: self.next, lacks: None }
    }

    fn on_trimmed(&mut self, bytes: Range<u64>) -> Answer {
        self.ask(bytes.end)
    }

    fn on_ack(&mut self, next: u64) {
        self.una = self.una.max(next);
        self.again.start = self.again.start.max(self.una);
    }

    fn on_nack(&mut self, lacks: Range<u64>, max: u64) {
        self.again = lacks.start.max(self.una)..max;
    }

    fn on_timeout(&mut self, una: u64, max: u64) {
        self.again = una..max;
    }

    fn resend(&mut self, most: u64) -> Option<Range<u64>> {
        cut(&mut self.again, most)
    }

    fn has_work(&self) -> bool {
        !self.again.is_empty()
    }
}
