//! Selective repeat: the receiver keeps all data that arrive, and asks for each gap once. After a
//! timeout, all bytes that are not acknowledged are sent again.

use std::collections::{BTreeMap, VecDeque};
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
        Box::<SelectiveRepeat>::default()
    }
}

/// See the module.
#[derive(Default)]
pub struct SelectiveRepeat {
    /// Ranges beyond `next` that have arrived, by their beginning.
    held: BTreeMap<u64, u64>,
    next: u64,
    /// The receiver has asked for all gaps below this byte.
    asked: u64,
    again: VecDeque<Range<u64>>,
    una: u64,
}

impl SelectiveRepeat {
    /// Notes that these bytes have arrived.
    fn keep(&mut self, bytes: Range<u64>) {
        let Range { mut start, mut end } = bytes;
        let touching: Vec<u64> = self
            .held
            .range(..=end)
            .filter(|(_, stop)| **stop >= start)
            .map(|(at, _)| *at)
            .collect();
        for at in touching {
            let stop = self.held.remove(&at).unwrap_or(at);
            (start, end) = (start.min(at), end.max(stop));
        }
        if start <= self.next {
            self.next = self.next.max(end);
        } else {
            self.held.insert(start, end);
        }
    }
}

impl Repair for SelectiveRepeat {
    fn on_data(&mut self, bytes: Range<u64>) -> Answer {
        let gap = self.asked.max(self.next)..bytes.start;
        self.asked = self.asked.max(bytes.end);
        self.keep(bytes);
        Answer { next: self.next, lacks: (!gap.is_empty()).then_some(gap) }
    }

    fn on_trimmed(&mut self, bytes: Range<u64>) -> Answer {
        // The receiver also asks for data that are missing before the trimmed packet.
        let gap = self.asked.max(self.next).min(bytes.start)..bytes.end;
        self.asked = self.asked.max(bytes.end);
        Answer { next: self.next, lacks: (gap.start < gap.end).then_some(gap) }
    }

    fn on_ack(&mut self, next: u64) {
        self.una = self.una.max(next);
        while let Some(first) = self.again.front_mut() {
            first.start = first.start.max(self.una);
            if !first.is_empty() {
                break;
            }
            self.again.pop_front();
        }
    }

    fn on_nack(&mut self, lacks: Range<u64>, _: u64) {
        let lacks = lacks.start.max(self.una)..lacks.end;
        if !lacks.is_empty() {
            self.again.push_back(lacks);
        }
    }

    fn on_timeout(&mut self, una: u64, max: u64) {
        self.again.clear();
        self.again.push_back(una..max);
    }

    fn resend(&mut self, most: u64) -> Option<Range<u64>> {
        let first = self.again.front_mut()?;
        let taken = cut(first, most);
        if first.is_empty() {
            self.again.pop_front();
        }
        taken
    }

    fn has_work(&self) -> bool {
        !self.again.is_empty()
    }
}
