//! A queue that drops waiting packets of a full buffer to admit priority packets.

use incast_engine::{Fault, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selector;
use super::{Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// One FIFO for all packets. A priority packet that finds no room pushes out as many packets
/// without priority as necessary, and is dropped only if too few of these wait. PLATO uses a
/// threshold instead, because the search takes linear time (Shukla et al. 2014, §IV.B).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Which of the eligible packets is pushed out.
    pub victim: Victim,
    /// Labels of priority packets, as a bit mask; one of these labels is enough.
    pub label: u16,
    /// Whether retransmissions have priority.
    pub retransmissions: bool,
    /// Whether packets without payload (ACKs, SYNs, requests) have priority.
    pub control: bool,
}

/// Which of the eligible packets is pushed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The packet that would leave first.
    Oldest,
    /// The packet that would leave last.
    Newest,
}

/// A search of the waiting packets for victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The packet with which each round begins.
    pub first: Victim,
    /// Maximum number of rounds. There is a further round only if the packets found so far do not
    /// free enough space.
    pub rounds: u8,
}

impl Default for Params {
    /// The values of PLATO: "a linear search from the head of the buffer", §IV.B.
    fn default() -> Self {
        Self { victim: Victim::Oldest, label: 1, retransmissions: true, control: false }
    }
}

impl Params {
    fn priority(&self) -> Selector {
        let Self { label, retransmissions, control, victim: _ } = *self;
        Selector { label, retransmissions, control }
    }
}

impl Parameters for Params {
    const ACTS_AT_DEPARTURE: bool = true;

    fn check(&self, _: &Site) -> Result<(), Fault> {
        if self.priority() == Selector::default() {
            let message = "must not be 0, because no other packets have priority; write e.g. 1, or \
                           \"drop-tail\"";
            return Err(Fault::new("label", message));
        }
        Ok(())
    }

    fn marks(&self) -> bool {
        false
    }

    fn prefers(&self, labels: u16) -> bool {
        self.label & labels != 0
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct PushOut {
    priority: Selector,
    victim: Victim,
}

impl PushOut {
    pub(super) fn new(params: &Params, _: &Site) -> Self {
        Self { priority: params.priority(), victim: params.victim }
    }
}

impl QueueDiscipline for PushOut {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn pushes_out(&self, packet: &Packet) -> Option<Search> {
        self.priority.matches(packet).then_some(Search { first: self.victim, rounds: 1 })
    }

    fn gives_way(&self, packet: &Packet, _: u8) -> bool {
        !self.priority.matches(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::Flags;

    #[test]
    fn priority_packets_push_out_the_others() {
        let labelled = Packet { label: 0b11, ..data() };
        let other_label = Packet { label: 0b10, ..data() };
        let again = Packet { flags: Flags::RETRANSMISSION, ..data() };
        let ack = Packet { payload: 0, flags: Flags::ACK, ..data() };
        let all = [data(), labelled, other_label, again, ack];
        let privileged = |params: &Params| {
            let push_out = PushOut::new(params, &SITE);
            let search = Some(Search { first: params.victim, rounds: 1 });
            let pushes = all.map(|packet| push_out.pushes_out(&packet) == search);
            assert_eq!(pushes, all.map(|packet| push_out.pushes_out(&packet).is_some()));
            assert_eq!(pushes, all.map(|packet| !push_out.gives_way(&packet, 0)));
            pushes
        };
        assert_eq!(privileged(&Params::default()), [false, true, false, true, false]);
        let params =
            Params { victim: Victim::Newest, label: 2, retransmissions: false, control: true };
        assert_eq!(privileged(&params), [false, true, true, false, true]);
    }

    #[test]
    fn without_a_criterion_nobody_has_priority() {
        let none = Params { label: 0, retransmissions: false, ..Params::default() };
        assert_eq!(none.check(&SITE).expect_err("drop-tail").key, "label");
        for some in [
            Params { label: 4, ..none.clone() },
            Params { retransmissions: true, ..none.clone() },
            Params { control: true, ..none },
        ] {
            assert_eq!(some.check(&SITE), Ok(()));
        }
    }
}
