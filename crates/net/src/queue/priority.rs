//! Strict priority.

use incast_engine::{Fault, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selector;
use super::{Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// Strict priority: one queue per class in one buffer. Whenever the link is free, the first
/// non-empty class sends its oldest packet. Transmission is not preempted, and a full buffer does
/// not push out waiting packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The classes, most urgent first: a list of tables. A packet belongs to the first class that
    /// matches; packets without a match form an additional, last class.
    pub classes: Vec<Class>,
}

/// Packets of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PriorityClass")]
pub struct Class {
    /// Labels of packets in the class, as a bit mask; one of these labels is enough.
    pub label: u16,
    /// Whether retransmissions belong to the class.
    pub retransmissions: bool,
    /// Whether packets without payload (ACKs, SYNs, requests) belong to the class.
    pub control: bool,
}

impl Default for Params {
    /// Packets with the first label go first.
    fn default() -> Self {
        let labelled = Class { label: 1, ..Class::default() };
        Self { classes: vec![labelled] }
    }
}

impl Parameters for Params {
    const ACTS_AT_DEPARTURE: bool = true;

    fn check(&self, _: &Site) -> Result<(), Fault> {
        for (class, number) in self.classes.iter().zip(0..) {
            if class.selector() == Selector::default() {
                let message = format!(
                    "{number}: no packet belongs to this class; \
                     write e.g. {{ label = 1 }} or {{ control = true }}"
                );
                return Err(Fault::new("classes", message));
            }
        }
        Ok(())
    }

    fn marks(&self) -> bool {
        false
    }

    fn prefers(&self, labels: u16) -> bool {
        self.classes.iter().any(|class| class.label & labels != 0)
    }
}

impl Class {
    fn selector(&self) -> Selector {
        let Self { label, retransmissions, control } = *self;
        Selector { label, retransmissions, control }
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Priority {
    classes: Vec<Selector>,
}

impl Priority {
    pub(super) fn new(params: &Params, _: &Site) -> Self {
        Self { classes: params.classes.iter().map(Class::selector).collect() }
    }
}

impl QueueDiscipline for Priority {
    fn offer(&mut self, _: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        Verdict::Admit
    }

    fn classes(&self) -> usize {
        self.classes.len() + 1
    }

    fn class(&self, packet: &Packet) -> usize {
        let fits = self.classes.iter().position(|class| class.matches(packet));
        fits.unwrap_or(self.classes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::Flags;

    #[test]
    fn a_packet_belongs_to_the_first_class_that_it_fits() {
        let class = |label, control| Class { label, control, ..Class::default() };
        let params = Params { classes: vec![class(0b10, false), class(0b01, true)] };
        let priority = Priority::new(&params, &SITE);
        assert_eq!(priority.classes(), 3);
        let ack = Packet { payload: 0, flags: Flags::ACK, ..data() };
        let labelled = |label| Packet { label, ..data() };
        let packets = [labelled(0b11), labelled(0b01), ack, data()];
        assert_eq!(packets.map(|packet| priority.class(&packet)), [0, 1, 1, 2]);
    }

    #[test]
    fn a_class_without_criteria_is_a_mistake() {
        let params =
            Params { classes: vec![Class { label: 1, ..Class::default() }, Class::default()] };
        let fault = params.check(&SITE).expect_err("nothing fits it");
        assert!(fault.key == "classes" && fault.message.starts_with("1: no packet belongs"));
        assert!(Params::default().check(&SITE).is_ok());
    }
}
