//! Random early detection (Floyd & Jacobson 1993).

use incast_engine::{Fault, Limit, Size, Span, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Refusal, Site, Verdict};
use crate::packet::Packet;

/// Random early detection: the probability of a drop or a mark grows with the average queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average queue below which no packet is dropped or marked, in bytes, packets or as a share of
    /// the buffer.
    pub min_th: Level,
    /// Average queue at which the probability reaches `max_p`, in the same unit as `min_th`: in
    /// bytes, packets or as a share of the buffer.
    pub max_th: Level,
    /// Probability at `max_th`, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// Weight of the current queue in the average, above 0 and at most 1; 1 disables averaging.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub weight: f64,
    /// Whether the probability grows from `max_p` to 1 between `max_th` and twice `max_th`; if
    /// false, the probability is 1 from `max_th` on.
    pub gentle: bool,
    /// How drops and marks are spaced.
    pub spacing: Spacing,
    /// Which packets are exempt.
    pub spares: Spares,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Whether packets are dropped instead of marked where the probability is 1 (RFC 3168 §7).
    pub hard_drop: bool,
    /// Size of a typical packet on the link, in bytes, without layer 2. An idle link counts as
    /// having sent packets of this size. With thresholds in bytes, a packet's probability is
    /// proportional to its size.
    pub mean_packet: Size,
    /// Whether the packet that is being sent counts as part of the queue. Default:
    /// `network.buffer_counts_in_service`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_in_service: Option<bool>,
}

/// Number of packets from one drop or mark to the next, at a constant probability `p`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// The number of packets from one drop or mark to the next is uniformly distributed between 1
    /// and `1/p` (Floyd & Jacobson 1993 §IV).
    #[default]
    AtOnce,
    /// The number of packets from one drop or mark to the next is uniformly distributed between
    /// `1/p` and `2/p`. After each drop or mark, `1/p` packets are exempt (ns-2's `wait_`, on by
    /// default; Floyd, 1997).
    Wait,
}

/// Packets that are neither dropped nor marked, although the average queue is above `min_th`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spares {
    /// No packet is exempt (Floyd & Jacobson 1993).
    #[default]
    Nobody,
    /// As in ns-2, two kinds of packet are exempt. A packet is exempt if the average crosses
    /// `min_th` with this packet. A packet is also exempt, and restarts the count of packets, if it
    /// finds at most one waiting packet, or, with thresholds in bytes, no waiting packet. Packets
    /// are counted from the last drop of any kind.
    ShortQueues,
}

impl Default for Params {
    /// The values that Floyd recommends ("RED: discussions of setting parameters", 1997, and
    /// "Recommendation on using the gentle variant of RED", 2000), as in ns-2.
    fn default() -> Self {
        Self {
            min_th: Level::Limit(Limit::Packets(5)),
            max_th: Level::Limit(Limit::Packets(15)),
            max_p: 0.1,
            weight: 0.002,
            gentle: true,
            spacing: Spacing::default(),
            spares: Spares::default(),
            ecn: false,
            hard_drop: false,
            mean_packet: Size(1500),
            counts_in_service: None,
        }
    }
}

impl Parameters for Params {
    fn levels(&self) -> Vec<(&'static str, Level)> {
        vec![("min_th", self.min_th), ("max_th", self.max_th)]
    }

    fn marks(&self) -> bool {
        self.ecn
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        check_average(self.mean_packet)?;
        Curve::check([self.min_th, self.max_th], site)
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Red {
    average: Average,
    curve: Curve,
    response: Response,
}

impl Red {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        let thresholds = [params.min_th, params.max_th].map(|level| level.at(site));
        Self {
            average: Average::new(params, site),
            curve: Curve {
                spacing: params.spacing,
                spares: params.spares,
                ..Curve::new(thresholds, params.max_p, params.gentle)
            },
            response: Response { ecn: params.ecn, hard_drop: params.hard_drop },
        }
    }

    /// As [`QueueDiscipline::offer`], with the curve of the packet's class if it has one.
    #[inline]
    pub(super) fn offer_by(
        &mut self,
        class: Option<&mut Curve>,
        packet: &Packet,
        view: &QueueView,
        random: &mut Stream,
    ) -> Verdict {
        let average = self.average.sample(view);
        let curve = class.unwrap_or(&mut self.curve);
        if curve.spares(average, self.average.is_short(view)) {
            return Verdict::Admit;
        }
        let signal = curve.judge(average, self.average.weight_of(packet), random.unit());
        self.response.to(signal, packet)
    }
}

impl QueueDiscipline for Red {
    #[inline]
    fn offer(&mut self, packet: &Packet, view: &QueueView, random: &mut Stream) -> Verdict {
        self.offer_by(None, packet, view, random)
    }

    fn refused(&mut self, _: &Packet, view: &QueueView) -> Refusal {
        self.average.sample(view);
        self.curve.on_refusal();
        Refusal::Drop
    }
}

/// Refuses invalid parameters of an average.
fn check_average(mean_packet: Size) -> Result<(), Fault> {
    if mean_packet.0 == 0 || mean_packet.0 > u64::from(Packet::MAX_SIZE) {
        let message = format!(
            "{} is out of range; must be 1 to {} bytes, e.g. 1500",
            mean_packet.0,
            Packet::MAX_SIZE
        );
        return Err(Fault::new("mean_packet", message));
    }
    Ok(())
}

/// Whether the queue is measured in bytes.
pub(super) fn in_bytes(limit: Limit) -> bool {
    matches!(limit, Limit::Bytes(_))
}

fn length(limit: Limit) -> u64 {
    match limit {
        Limit::Packets(length) | Limit::Bytes(length) => length,
    }
}

/// The exponentially weighted moving average of a queue.
#[derive(Clone, Debug)]
struct Average {
    value: f64,
    weight: f64,
    in_bytes: bool,
    counts_in_service: bool,
    mean_packet: f64,
    /// Transmission time of a typical packet.
    packet_time: Span,
}

impl Average {
    /// An average in the unit of the thresholds.
    fn new(params: &Params, site: &Site) -> Self {
        let on_the_line = params.mean_packet.0 + u64::from(site.layer2_overhead);
        Self {
            value: 0.0,
            weight: params.weight,
            in_bytes: in_bytes(params.min_th.at(site)),
            counts_in_service: params.counts_in_service.unwrap_or(site.counts_in_service),
            mean_packet: params.mean_packet.0 as f64,
            packet_time: site.rate.transmission_time(on_the_line),
        }
    }

    /// The average at an arrival that finds the queue `view`. An idle time counts as one sample of
    /// an empty queue for each packet that the link could have sent (Floyd & Jacobson 1993 §IV).
    /// The arrival itself adds one more sample of an empty queue, as in ns-2; the paper's
    /// pseudocode omits this sample.
    fn sample(&mut self, view: &QueueView) -> f64 {
        if view.is_idle() {
            let idle = view.now.saturating_since(view.idle_since).as_picos();
            let packets = idle / self.packet_time.as_picos().max(1);
            self.value *= libm::pow(1.0 - self.weight, packets as f64 + 1.0);
        } else {
            let queue = view.occupancy(self.counts_in_service);
            let length = if self.in_bytes { queue.bytes } else { queue.packets };
            self.value += self.weight * (length as f64 - self.value);
        }
        self.value
    }

    /// Whether the queue is so short that ns-2 exempts a packet: at most one packet or one byte
    /// waits.
    fn is_short(&self, view: &QueueView) -> bool {
        let queue = view.occupancy(false);
        (if self.in_bytes { queue.bytes } else { queue.packets }) <= 1
    }

    /// The weight of `packet` in units of a typical packet.
    fn weight_of(&self, packet: &Packet) -> f64 {
        if self.in_bytes { f64::from(packet.size()) / self.mean_packet } else { 1.0 }
    }
}

/// The effect of the average on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    /// The packet is neither dropped nor marked.
    None,
    /// The packet is dropped or marked at random.
    Chance,
    /// Every packet is dropped or marked.
    Certain,
}

/// The probability of a hit (a drop or a mark) as a function of the average, and the spacing of
/// hits.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
    spacing: Spacing,
    spares: Spares,
    /// Number of packets since the last hit, in units of a typical packet; `None` while the average
    /// is below `min`.
    count: Option<f64>,
}

impl Curve {
    pub(super) fn new(thresholds: [Limit; 2], max_p: f64, gentle: bool) -> Self {
        let [min, max] = thresholds.map(|limit| length(limit) as f64);
        let (spacing, spares) = (Spacing::default(), Spares::default());
        Self { min, max, max_p, gentle, spacing, spares, count: None }
    }

    /// Whether a packet is exempt at this average. `is_short` says whether few packets wait.
    fn spares(&mut self, average: f64, is_short: bool) -> bool {
        if self.spares == Spares::Nobody {
            return false;
        }
        if average < self.min || is_short {
            self.count = None;
            return true;
        }
        let crosses = self.count.is_none();
        if crosses {
            self.count = Some(1.0);
        }
        crosses
    }

    /// Notes that the buffer has dropped a packet.
    fn on_refusal(&mut self) {
        if self.spares == Spares::ShortQueues {
            self.count = self.count.map(|_| 0.0);
        }
    }

    /// Whether every packet is dropped or marked at this average.
    fn is_certain(&self, average: f64) -> bool {
        average >= if self.gentle { 2.0 * self.max } else { self.max }
    }

    /// Refuses thresholds that are out of order or in different units.
    pub(super) fn check(levels: [Level; 2], site: &Site) -> Result<(), Fault> {
        for (key, level) in ["min_th", "max_th"].into_iter().zip(levels) {
            level.check(key, site)?;
        }
        let refuse = |message| Err(Fault::new("max_th", message));
        let [min_th, max_th] = levels;
        let [min, max] = levels.map(|level| level.at(site));
        if in_bytes(min) != in_bytes(max) {
            return refuse(format!(
                "{max_th} and min_th ({min_th}) have different units; write both in packets or in \
                 bytes"
            ));
        }
        if length(max) < length(min) {
            return refuse(format!("{max_th} is less than min_th ({min_th}); write at least that"));
        }
        Ok(())
    }

    /// Decides on a packet of this `weight` with `draw`, a random number from [0, 1).
    ///
    /// As in Floyd & Jacobson 1993, figure 2, the count of packets since the last hit makes the
    /// spacing of hits uniform. With lengths in bytes, the probability is multiplied by the
    /// packet's size. As in ns-2, this happens after the correction for the spacing; in the figure,
    /// it happens before.
    fn judge(&mut self, average: f64, weight: f64, draw: f64) -> Signal {
        if average < self.min {
            self.count = None;
            return Signal::None;
        }
        if self.is_certain(average) {
            self.count = Some(0.0);
            return Signal::Certain;
        }
        let p = if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        };
        let count = self.count.map_or(0.0, |count| count + weight);
        let left = match self.spacing {
            Spacing::AtOnce => 1.0 - count * p,
            Spacing::Wait if count * p < 1.0 => f64::INFINITY,
            Spacing::Wait => 2.0 - count * p,
        };
        let spaced = if left > 0.0 { p / left * weight } else { 1.0 };
        if draw < spaced {
            self.count = Some(0.0);
            Signal::Chance
        } else {
            self.count = Some(count);
            Signal::None
        }
    }
}

/// How congestion is signalled: whether a hit is a mark or a drop.
#[derive(Clone, Copy, Debug)]
struct Response {
    ecn: bool,
    hard_drop: bool,
}

impl Response {
    fn to(self, signal: Signal, packet: &Packet) -> Verdict {
        let drop = Verdict::Drop(DropReason::Early);
        match signal {
            Signal::None => Verdict::Admit,
            Signal::Certain if self.hard_drop => drop,
            _ if self.ecn => Verdict::mark_or(packet, drop),
            _ => drop,
        }
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
