//! Weighted RED: one queue, one average, thresholds per class.

use incast_engine::{Fault, Limit, Size, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::red::{self, Curve, Red, in_bytes};
use super::selector::Selector;
use super::{Parameters, QueueDiscipline, QueueView, Refusal, Site, Verdict};
use crate::packet::Packet;

/// Weighted RED: RED with one average, and separate thresholds for classes of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average queue below which packets without a class are not dropped or marked, in bytes,
    /// packets or as a share of the buffer.
    pub min_th: Level,
    /// Average queue at which the probability of a drop or a mark reaches `max_p` for packets
    /// without a class. This threshold has the unit of `min_th`: bytes, packets or a share of the
    /// buffer.
    pub max_th: Level,
    /// Probability at `max_th` for packets without a class, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// Thresholds for classes of packets: a list of tables. The first matching class counts.
    pub classes: Vec<Class>,
    /// Weight of the current queue in the average, above 0 and at most 1; 1 disables averaging.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub weight: f64,
    /// Whether the probability grows from `max_p` to 1 between `max_th` and twice `max_th`; if
    /// false, the probability is 1 from `max_th` on.
    pub gentle: bool,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether packets are dropped instead of marked where the probability is 1 (RFC 3168 §7).
    pub hard_drop: bool,
    /// Size of a typical packet on the link, in bytes, without layer 2; see `red`.
    pub mean_packet: Size,
    /// Whether the packet that is being sent counts as part of the queue. Default:
    /// `network.buffer_counts_in_service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_in_service: Option<bool>,
}

/// Thresholds for a class of packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "WredClass")]
pub struct Class {
    /// Labels of packets in the class, as a bit mask; one of these labels is enough.
    pub label: u16,
    /// Whether retransmissions belong to the class.
    pub retransmissions: bool,
    /// Whether packets without payload (ACKs, SYNs, requests) belong to the class.
    pub control: bool,
    /// Average queue below which no packet is dropped or marked, in bytes, packets or as a share of
    /// the buffer.
    pub min_th: Level,
    /// Average queue at which the probability reaches `max_p`, in bytes, packets or as a share of
    /// the buffer.
    pub max_th: Level,
    /// Probability at `max_th`, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
}

impl Default for Params {
    /// The values of RED, without classes.
    fn default() -> Self {
        let red = red::Params::default();
        Self {
            min_th: red.min_th,
            max_th: red.max_th,
            max_p: red.max_p,
            classes: Vec::new(),
            weight: red.weight,
            gentle: red.gentle,
            ecn: red.ecn,
            hard_drop: red.hard_drop,
            mean_packet: red.mean_packet,
            counts_in_service: None,
        }
    }
}

impl Default for Class {
    /// Packets with the first label have twice the default thresholds of packets without a class.
    fn default() -> Self {
        Self {
            label: 1,
            retransmissions: false,
            control: false,
            min_th: Level::Limit(Limit::Packets(10)),
            max_th: Level::Limit(Limit::Packets(30)),
            max_p: 0.1,
        }
    }
}

impl Params {
    /// The parameters of RED, which packets without a class meet.
    fn without_classes(&self) -> red::Params {
        red::Params {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
            weight: self.weight,
            gentle: self.gentle,
            ecn: self.ecn,
            hard_drop: self.hard_drop,
            mean_packet: self.mean_packet,
            counts_in_service: self.counts_in_service,
            ..red::Params::default()
        }
    }
}

impl Parameters for Params {
    fn levels(&self) -> Vec<(&'static str, Level)> {
        self.without_classes().levels()
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn prefers(&self, labels: u16) -> bool {
        self.classes.iter().any(|class| class.label & labels != 0)
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        self.without_classes().check(site)?;
        for (class, number) in self.classes.iter().zip(0..) {
            let within = |fault: Fault| {
                Fault::new("classes", format!("{number}.{}: {}", fault.key, fault.message))
            };
            Curve::check([class.min_th, class.max_th], site).map_err(within)?;
            let [own, average] = [class.max_th, self.max_th].map(|level| level.at(site));
            if in_bytes(own) != in_bytes(average) {
                let message = format!(
                    "{number}.max_th: {} and the queue's max_th ({}) have different units; \
                     write both in packets or in bytes",
                    class.max_th, self.max_th
                );
                return Err(Fault::new("classes", message));
            }
        }
        Ok(())
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Wred {
    classes: Vec<(Selector, Curve)>,
    /// What packets without a class meet; its average and its response are those of all packets.
    others: Red,
}

impl Wred {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        let classes = params.classes.iter().map(|class| {
            let Class { label, retransmissions, control, max_p, .. } = *class;
            let selector = Selector { label, retransmissions, control };
            let thresholds = [class.min_th, class.max_th].map(|level| level.at(site));
            (selector, Curve::new(thresholds, max_p, params.gentle))
        });
        Self { classes: classes.collect(), others: Red::new(&params.without_classes(), site) }
    }
}

impl QueueDiscipline for Wred {
    #[inline]
    fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict {
        let mut classes = self.classes.iter_mut();
        let curve = classes.find(|(class, _)| class.matches(packet)).map(|(_, curve)| curve);
        self.others.offer_by(curve, packet, view, random)
    }

    fn refused(&mut self, packet: &Packet, view: &QueueView) -> Refusal {
        self.others.refused(packet, view)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::label_threshold::{self, LabelThreshold};
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::Flags;
    use crate::packets::Load;

    fn busy(packets: u32) -> QueueView {
        let bytes = u64::from(packets) * 1500;
        QueueView { load: Load { packets, bytes, in_service_bytes: 1500 }, ..QueueView::default() }
    }

    fn level(packets: u64) -> Level {
        Level::Limit(Limit::Packets(packets))
    }

    #[test]
    fn a_class_has_thresholds_of_its_own_and_the_first_that_matches_counts() {
        let class =
            |label, at| Class { label, min_th: level(at), max_th: level(at), ..Class::default() };
        let params = Params {
            min_th: level(5),
            max_th: level(5),
            weight: 1.0,
            gentle: false,
            classes: vec![class(0b01, 10), class(0b11, 20)],
            ..Params::default()
        };
        let mut random = Stream::named(1, "test", 0);
        let mut longest = |label| {
            let mut wred = Wred::new(&params, &SITE);
            let packet = Packet { label, ..data() };
            (0..50)
                .find(|length| wred.offer(&packet, &busy(*length), &mut random) != Verdict::Admit)
        };
        assert_eq!([0b00, 0b01, 0b10, 0b11].map(&mut longest).map(Option::unwrap), [5, 10, 20, 10]);
    }

    #[test]
    fn a_fault_of_a_class_names_its_key() {
        let faulty = |class: Class| {
            let params = Params { classes: vec![Class::default(), class], ..Params::default() };
            params.check(&SITE).expect_err("it is invalid")
        };
        let bytes = |bytes| Level::Limit(Limit::Bytes(bytes));
        let fault = faulty(Class { min_th: bytes(2), max_th: bytes(1), ..Class::default() });
        assert_eq!(fault.key, "classes");
        assert!(fault.message.starts_with("1.max_th: "), "{}", fault.message);
        let fault = faulty(Class { min_th: bytes(1), max_th: bytes(2), ..Class::default() });
        assert!(fault.message.contains("different units"), "{}", fault.message);
    }

    proptest! {
        /// Without classes, the discipline is RED.
        #[test]
        fn without_classes_it_is_red(lengths in prop::collection::vec(0_u32..40, 1..200)) {
            let mut red = Red::new(&red::Params { weight: 0.1, ..red::Params::default() }, &SITE);
            let mut wred = Wred::new(&Params { weight: 0.1, ..Params::default() }, &SITE);
            let mut streams = [0; 2].map(|_| Stream::named(1, "test", 0));
            for length in lengths {
                let [one, other] = &mut streams;
                let expected = red.offer(&data(), &busy(length), one);
                prop_assert_eq!(wred.offer(&data(), &busy(length), other), expected);
            }
        }

        /// With equal thresholds and a weight of 1, the discipline is the same as
        /// `label-threshold`.
        #[test]
        fn with_equal_thresholds_and_weight_one_it_is_a_label_threshold(
            threshold in 0_u64..40,
            label in 1_u16..8,
            retransmissions in any::<bool>(),
            arrivals in prop::collection::vec((0_u32..60, 0_u16..8, any::<bool>(), any::<bool>()), 1..100),
        ) {
            let plain = label_threshold::Params {
                threshold: level(threshold),
                label,
                retransmissions,
                ..label_threshold::Params::default()
            };
            let priority = Class {
                label,
                retransmissions,
                min_th: level(1_000_000),
                max_th: level(1_000_000),
                ..Class::default()
            };
            let equal = Params {
                min_th: level(threshold),
                max_th: level(threshold),
                weight: 1.0,
                gentle: false,
                classes: vec![priority],
                ..Params::default()
            };
            let mut plain = LabelThreshold::new(&plain, &SITE);
            let mut equal = Wred::new(&equal, &SITE);
            let mut random = Stream::named(1, "test", 0);
            for (length, label, again, idle) in arrivals {
                let flags = if again { Flags::RETRANSMISSION } else { Flags::NONE };
                let packet = Packet { flags, label, ..data() };
                let view = if idle { QueueView::default() } else { busy(length) };
                let expected = plain.offer(&packet, &view, &mut random);
                prop_assert_eq!(equal.offer(&packet, &view, &mut random), expected);
            }
        }
    }
}
