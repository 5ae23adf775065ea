//! A card that serves its ends in turn.

use std::collections::{BTreeSet, VecDeque};

use incast_engine::{Parameters, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Nic, NicSite};
use crate::ids::EndId;

/// There are no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

impl Parameters<dyn Nic, NicSite> for Params {
    fn build(&self, _: &NicSite) -> Box<dyn Nic> {
        Box::<RoundRobin>::default()
    }
}

/// Serves the ends in the order in which they asked. All ends have the same class, so that the card
/// sends nothing while any class is stopped.
#[derive(Default)]
pub struct RoundRobin {
    waiting: VecDeque<EndId>,
    /// The ends that wait, each of which waits once.
    listed: BTreeSet<EndId>,
}

impl Nic for RoundRobin {
    fn wants(&mut self, end: EndId) {
        if self.listed.insert(end) {
            self.waiting.push_back(end);
        }
    }

    fn next(&mut self, _: Time, stopped: u8) -> Option<EndId> {
        if stopped != 0 {
            return None;
        }
        let end = self.waiting.pop_front()?;
        self.listed.remove(&end);
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use incast_engine::Rate;

    use super::super::NicConfig;
    use super::*;

    #[test]
    fn each_end_waits_once_and_is_served_in_turn() {
        let mut card = NicConfig::RoundRobin(Params {}).build(&NicSite { rate: Rate(1) });
        assert_eq!(card.next(Time::ZERO, 0), None, "no end waits");
        for end in [3, 5, 3, 4] {
            card.wants(EndId(end));
        }
        assert_eq!(card.next(Time::ZERO, 1), None, "a class is stopped");
        assert_eq!(card.next(Time::ZERO, 0), Some(EndId(3)));
        card.wants(EndId(3));
        let rest = std::iter::from_fn(|| card.next(Time::ZERO, 0)).collect::<Vec<_>>();
        assert_eq!(rest, [5, 4, 3].map(EndId));
        assert_eq!(card.poll_timeout(), Time::NEVER);
    }
}
