//! DCTCP's switch: marks packets that arrive while the queue is longer than a threshold.

use incast_engine::{Fault, Limit, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// A threshold on the instantaneous queue length (Alizadeh et al. 2010 §3.1, RFC 8257 §3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// K: the queue length above which arriving packets are marked, in bytes, packets or as a share
    /// of the buffer.
    pub threshold: Level,
    /// Whether the arriving packet counts as part of the queue, as in switches that mark after
    /// enqueuing.
    pub counts_arriving: bool,
    /// Whether the packet that is being sent counts as part of the queue. Default:
    /// `network.buffer_counts_in_service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_in_service: Option<bool>,
    /// Whether packets without ECN that arrive above the threshold are dropped instead of admitted.
    /// RED with equal thresholds drops such packets.
    pub drop_non_ect: bool,
}

impl Default for Params {
    /// K = 20 packets, the paper's value for 1 Gbps.
    fn default() -> Self {
        Self {
            threshold: Level::Limit(Limit::Packets(20)),
            counts_arriving: false,
            counts_in_service: None,
            drop_non_ect: false,
        }
    }
}

impl Parameters for Params {
    fn levels(&self) -> Vec<(&'static str, Level)> {
        vec![("threshold", self.threshold)]
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        self.threshold.check("threshold", site)
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct EcnThreshold {
    threshold: Limit,
    counts_arriving: bool,
    counts_in_service: bool,
    /// The verdict on packets that are not ECN-capable and arrive above the threshold.
    otherwise: Verdict,
}

impl EcnThreshold {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        Self {
            threshold: params.threshold.at(site),
            counts_arriving: params.counts_arriving,
            counts_in_service: params.counts_in_service.unwrap_or(site.counts_in_service),
            otherwise: if params.drop_non_ect {
                Verdict::Drop(DropReason::Early)
            } else {
                Verdict::Admit
            },
        }
    }
}

impl QueueDiscipline for EcnThreshold {
    #[inline]
    fn offer(&mut self, packet: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
        let queue = if self.counts_arriving {
            view.occupancy_with(packet.size(), self.counts_in_service)
        } else {
            view.occupancy(self.counts_in_service)
        };
        if queue.exceeds(self.threshold) {
            Verdict::mark_or(packet, self.otherwise)
        } else {
            Verdict::Admit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::SITE;
    use super::*;
    use crate::packet::Ecn;
    use crate::packets::Load;

    fn packet(ecn: Ecn) -> Packet {
        Packet { payload: 1460, header: 40, ..Packet::default() }.with_ecn(ecn)
    }

    fn verdict(params: &Params, packet: &Packet, packets: u32) -> Verdict {
        let bytes = u64::from(packets) * 1500;
        let view = QueueView {
            load: Load { packets, bytes, in_service_bytes: 1500 },
            ..QueueView::default()
        };
        let mut random = Stream::named(1, "test", 0);
        EcnThreshold::new(params, &SITE).offer(packet, &view, &mut random)
    }

    /// The longest queue, in packets, at which an arriving packet is still not marked.
    fn longest_unmarked(params: &Params) -> u32 {
        let marked = |packets| verdict(params, &packet(Ecn::Capable), packets) == Verdict::Mark;
        let longest = (0..100).find(|packets| marked(*packets)).expect("there is a threshold") - 1;
        assert!((longest + 1..100).all(marked), "everything beyond is marked");
        longest
    }

    #[test]
    fn marks_while_the_queue_is_longer_than_the_threshold() {
        let params = Params::default();
        assert_eq!(longest_unmarked(&params), 20);
        assert_eq!(longest_unmarked(&Params { counts_arriving: true, ..params.clone() }), 19);
        let in_service = Params { counts_in_service: Some(true), ..params.clone() };
        assert_eq!(longest_unmarked(&in_service), 19);
        let both = Params { counts_arriving: true, ..in_service };
        assert_eq!(longest_unmarked(&both), 18);
    }

    #[test]
    fn a_threshold_in_bytes_counts_bytes() {
        let params =
            |bytes| Params { threshold: Level::Limit(Limit::Bytes(bytes)), ..Params::default() };
        assert_eq!(longest_unmarked(&params(30_000)), 20);
        assert_eq!(longest_unmarked(&params(29_999)), 19);
    }

    #[test]
    fn a_share_needs_a_buffer_of_the_port_s_own() {
        let share = Params { threshold: Level::Share(700_000), ..Params::default() };
        assert_eq!(share.check(&SITE), Ok(()));
        assert_eq!(longest_unmarked(&share), 28, "of 40 packets");
        let shared = Site { buffer: None, ..SITE };
        assert!(share.check(&shared).is_err_and(|fault| fault.message.contains("70%")));
        assert_eq!(Params::default().check(&shared), Ok(()));
    }

    #[test]
    fn an_idle_link_leaves_nothing_to_wait() {
        let params = Params {
            threshold: Level::Limit(Limit::Packets(0)),
            counts_arriving: true,
            ..Params::default()
        };
        let mut random = Stream::named(1, "test", 0);
        let mut offer = |counts_in_service| {
            let params = Params { counts_in_service: Some(counts_in_service), ..params.clone() };
            EcnThreshold::new(&params, &SITE).offer(
                &packet(Ecn::Capable),
                &QueueView::default(),
                &mut random,
            )
        };
        assert_eq!(offer(false), Verdict::Admit);
        assert_eq!(offer(true), Verdict::Mark);
    }

    #[test]
    fn the_packet_in_service_follows_the_buffer_s_rule() {
        let site = Site { counts_in_service: true, ..SITE };
        let built = |params: &Params| EcnThreshold::new(params, &site).counts_in_service;
        assert!(built(&Params::default()));
        assert!(!built(&Params { counts_in_service: Some(false), ..Params::default() }));
    }

    #[test]
    fn what_cannot_be_marked_is_admitted_or_dropped() {
        let params = Params::default();
        assert_eq!(verdict(&params, &packet(Ecn::NotCapable), 50), Verdict::Admit);
        let strict = Params { drop_non_ect: true, ..params };
        let dropped = Verdict::Drop(DropReason::Early);
        assert_eq!(verdict(&strict, &packet(Ecn::NotCapable), 50), dropped);
        assert_eq!(verdict(&strict, &packet(Ecn::NotCapable), 20), Verdict::Admit);
        assert_eq!(verdict(&strict, &packet(Ecn::CongestionExperienced), 50), Verdict::Mark);
    }
}
