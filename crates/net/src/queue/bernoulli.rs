//! Independent random losses, in addition to those of a full buffer.

use incast_engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;

/// Random loss on top of drop-tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Probability, 0 to 1, that a packet is lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p: f64,
    /// Whether packets without payload (ACKs, SYNs, requests) are exempt.
    pub data_only: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { p: 0.01, data_only: false }
    }
}

impl Parameters for Params {
    fn marks(&self) -> bool {
        false
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Bernoulli(Params);

impl Bernoulli {
    pub(super) fn new(params: &Params, _: &Site) -> Self {
        Self(params.clone())
    }
}

impl QueueDiscipline for Bernoulli {
    #[inline]
    fn offer(&mut self, packet: &Packet, _: &QueueView, random: &mut Stream) -> Verdict {
        // A number is drawn for every packet, so that `data_only` does not shift the random stream.
        let lost = random.chance(self.0.p);
        if lost && (packet.payload > 0 || !self.0.data_only) {
            Verdict::Drop(DropReason::Random)
        } else {
            Verdict::Admit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(params: &Params, payload: u16) -> usize {
        let mut discipline = Bernoulli(params.clone());
        let mut random = Stream::named(1, "bernoulli", 0);
        let packet = Packet { payload, ..Packet::default() };
        let view = QueueView::default();
        (0..10_000)
            .filter(|_| discipline.offer(&packet, &view, &mut random) != Verdict::Admit)
            .count()
    }

    #[test]
    fn loses_the_given_share() {
        let params = Params { p: 0.1, data_only: false };
        assert!((900..1100).contains(&losses(&params, 1460)));
        assert!((900..1100).contains(&losses(&params, 0)));
    }

    #[test]
    fn data_only_spares_packets_without_payload() {
        assert_eq!(losses(&Params { p: 0.5, data_only: true }, 0), 0);
    }
}
