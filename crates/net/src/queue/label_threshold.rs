//! A queue in which only priority packets are admitted beyond a threshold.

use incast_engine::{Fault, Limit, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::selector::Selector;
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;
use crate::packets::Occupancy;

/// One FIFO whose end is reserved for priority packets (PLATO: Shukla et al. 2014, §III). While the
/// queue is at least as long as the threshold, only priority packets are admitted, until the buffer
/// is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Shortest queue length at which only priority packets are admitted, in bytes, packets or as a
    /// share of the buffer.
    pub threshold: Level,
    /// Labels of priority packets, as a bit mask; one of these labels is enough.
    pub label: u16,
    /// Whether retransmissions have priority.
    pub retransmissions: bool,
    /// Whether packets without payload (ACKs, SYNs, requests) have priority.
    pub control: bool,
    /// Whether the packet that is being sent counts as part of the queue. Default:
    /// `network.buffer_counts_in_service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_in_service: Option<bool>,
}

impl Default for Params {
    /// PLATO's values.
    fn default() -> Self {
        Self {
            threshold: Level::Share(700_000),
            label: 1,
            retransmissions: true,
            control: false,
            counts_in_service: None,
        }
    }
}

impl Parameters for Params {
    fn levels(&self) -> Vec<(&'static str, Level)> {
        vec![("threshold", self.threshold)]
    }

    fn marks(&self) -> bool {
        false
    }

    fn prefers(&self, labels: u16) -> bool {
        self.label & labels != 0
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        self.threshold.check("threshold", site)?;
        if Occupancy::default().reaches(self.threshold.at(site)) {
            let message =
                "must be above 0, or only packets with priority enter; write e.g. \"70%\"";
            return Err(Fault::new("threshold", message));
        }
        Ok(())
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct LabelThreshold {
    threshold: Limit,
    priority: Selector,
    counts_in_service: bool,
}

impl LabelThreshold {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        let Params { label, retransmissions, control, .. } = *params;
        Self {
            threshold: params.threshold.at(site),
            priority: Selector { label, retransmissions, control },
            counts_in_service: params.counts_in_service.unwrap_or(site.counts_in_service),
        }
    }
}

impl QueueDiscipline for LabelThreshold {
    #[inline]
    fn offer(&mut self, packet: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
        let queue = view.occupancy(self.counts_in_service);
        if queue.reaches(self.threshold) && !self.priority.matches(packet) {
            Verdict::Drop(DropReason::Early)
        } else {
            Verdict::Admit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::Flags;
    use crate::packets::Load;

    fn enters(params: &Params, packet: &Packet, packets: u32) -> bool {
        let bytes = u64::from(packets) * 1500;
        let view = QueueView {
            load: Load { packets, bytes, in_service_bytes: 1500 },
            ..QueueView::default()
        };
        let site = Site { buffer: Some(Limit::Packets(40)), ..SITE };
        let mut random = Stream::named(1, "test", 0);
        LabelThreshold::new(params, &site).offer(packet, &view, &mut random) == Verdict::Admit
    }

    #[test]
    fn everybody_enters_below_the_threshold_and_priority_packets_always() {
        let params = Params::default();
        let labelled = Packet { label: 1, ..data() };
        let other_label = Packet { label: 2, ..data() };
        let again = Packet { flags: Flags::RETRANSMISSION, ..data() };
        for packets in 0..60 {
            let below = packets < 28;
            assert_eq!(enters(&params, &data(), packets), below, "{packets}");
            assert_eq!(enters(&params, &other_label, packets), below, "{packets}");
            assert!(enters(&params, &labelled, packets) && enters(&params, &again, packets));
        }
    }

    #[test]
    fn retransmissions_and_control_packets_by_choice() {
        let params = Params { retransmissions: false, control: true, ..Params::default() };
        assert!(!enters(&params, &Packet { flags: Flags::RETRANSMISSION, ..data() }, 28));
        assert!(enters(&params, &Packet { payload: 0, ..data() }, 28));
    }

    #[test]
    fn the_packet_in_service_may_count() {
        let params = Params { counts_in_service: Some(true), ..Params::default() };
        assert!(enters(&params, &data(), 26) && !enters(&params, &data(), 27));
    }

    #[test]
    fn a_threshold_of_nothing_would_starve_everybody() {
        let check = |threshold: &str| {
            let threshold = threshold.parse().expect("a length");
            Params { threshold, ..Params::default() }.check(&SITE)
        };
        assert_eq!(check("0pkt").expect_err("nobody enters").key, "threshold");
        assert!(check("0%").is_err() && check("1%").is_ok());
    }
}
