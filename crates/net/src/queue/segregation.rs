//! Two queues, one for periodic flows and one for bursts.

use incast_engine::{Fault, Limit, Rate, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flows::Flows;
use super::level::Level;
use super::{DropReason, Parameters, QueueDiscipline, QueueView, Site, Verdict};
use crate::packet::Packet;
use crate::packets::Occupancy;

/// Two queues in one buffer, one for flows in steady state and one for flows in burst mode. The
/// arrival pattern of a flow decides its mode (Khalid, Abdullah & Ahmad 2021, §5, stage iii). One
/// queue has priority, and bursts may use only a share of the buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// How the mode of a flow is detected.
    pub by: Reading,
    /// Threshold above which a flow is in burst mode, above 0. With `variation`, the threshold
    /// applies to the squared coefficient of variation of the flow's gaps. With `rate`, the
    /// threshold applies to the ratio of the mean gap to the recent gap. Default: 2.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub threshold: f64,
    /// Weight of a new gap in the averages of `variation` and `rate`, 0 to 1.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub weight: f64,
    /// With `train`: number of back-to-back packets that count as a burst, at least 2.
    #[schemars(range(min = 2))]
    pub train: u32,
    /// With `train`: a packet continues a train if the gap before the packet is at most this many
    /// transmission times.
    pub train_gap: u32,
    /// Number of gaps that are measured before a flow is classified.
    pub gaps: u32,
    /// The mode of a flow that has not been classified yet.
    pub begins: Mode,
    /// The mode whose flows have priority.
    pub first: Mode,
    /// Limit of the queue of bursty flows, in bytes, packets or as a share of the buffer.
    pub burst_limit: Level,
}

/// How the mode of a flow is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// A flow is in burst mode if the gaps between its packets vary strongly. The variation of the
    /// gaps is 0 for periodic packets, 1 for a Poisson process, and more than 1 if bursts and
    /// pauses alternate.
    Variation,
    /// A flow is in burst mode if its recent rate is much higher than its average rate.
    Rate,
    /// A flow is in burst mode if it sends packets back to back.
    #[default]
    Train,
}

/// The sending pattern of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The flow sends periodically.
    Steady,
    /// The flow sends in bursts.
    #[default]
    Burst,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            by: Reading::default(),
            threshold: 2.0,
            weight: 1.0 / 16.0,
            train: 2,
            train_gap: 2,
            gaps: 8,
            begins: Mode::Burst,
            first: Mode::Steady,
            burst_limit: Level::Share(900_000),
        }
    }
}

impl Parameters for Params {
    const ACTS_AT_DEPARTURE: bool = true;

    fn levels(&self) -> Vec<(&'static str, Level)> {
        vec![("burst_limit", self.burst_limit)]
    }

    fn check(&self, site: &Site) -> Result<(), Fault> {
        self.burst_limit.check("burst_limit", site)?;
        if Occupancy::default().reaches(self.burst_limit.at(site)) {
            let message = "must be above 0, or every burst is dropped; write e.g. \"90%\"";
            return Err(Fault::new("burst_limit", message));
        }
        Ok(())
    }

    fn marks(&self) -> bool {
        false
    }
}

/// State of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    epoch: u8,
    /// Arrival of the last packet; `None` before the first.
    last: Option<Time>,
    /// Arrival of the first packet.
    since: Time,
    gaps: u32,
    /// Weighted averages of the gaps (picoseconds) and of their squared deviations from the mean.
    mean: f64,
    variance: f64,
    /// Number of packets in the current train.
    row: u32,
    /// Class of the last arrival.
    class: usize,
    /// Number of waiting packets in each class.
    waiting: [u32; 2],
}

impl Flow {
    /// Notes the arrival of a packet, and returns the mode of the flow.
    fn arrive(&mut self, packet: &Packet, now: Time, rate: Rate, params: &Params) -> Mode {
        if packet.epoch != self.epoch {
            // The flow has a new connection.
            *self = Self { epoch: packet.epoch, waiting: self.waiting, ..Self::default() };
        }
        let Some(last) = self.last.replace(now) else {
            self.since = now;
            self.row = 1;
            return params.begins;
        };
        let gap = now - last;
        let sending = rate.transmission_time(packet.size().into());
        self.row = if gap <= sending * u64::from(params.train_gap) {
            self.row.saturating_add(1)
        } else {
            1
        };
        let gap = gap.as_picos() as f64;
        if self.gaps == 0 {
            self.mean = gap;
        } else {
            let deviation = gap - self.mean;
            let (weight, variance) = (params.weight, self.variance);
            self.mean += weight * deviation;
            self.variance = (1.0 - weight) * (variance + weight * deviation * deviation);
        }
        self.gaps = self.gaps.saturating_add(1);
        if self.gaps < params.gaps {
            return params.begins;
        }
        let bursts = match params.by {
            Reading::Variation => self.variance > params.threshold * self.mean * self.mean,
            Reading::Rate => {
                let mean = (now - self.since).as_picos() as f64 / f64::from(self.gaps);
                mean > params.threshold * self.mean
            }
            Reading::Train => self.row >= params.train,
        };
        if bursts { Mode::Burst } else { Mode::Steady }
    }
}

/// See [`Params`].
#[derive(Clone, Debug)]
pub struct Segregation {
    params: Params,
    rate: Rate,
    burst_limit: Limit,
    /// The class of bursts; steady flows belong to the other class.
    burst_class: usize,
    flows: Flows<Flow>,
    /// Occupancy of the burst queue.
    bursts: Occupancy,
}

impl Segregation {
    pub(super) fn new(params: &Params, site: &Site) -> Self {
        Self {
            burst_limit: params.burst_limit.at(site),
            burst_class: usize::from(params.first == Mode::Steady),
            params: params.clone(),
            rate: site.rate,
            flows: Flows::default(),
            bursts: Occupancy::default(),
        }
    }
}

impl QueueDiscipline for Segregation {
    fn offer(&mut self, packet: &Packet, view: &QueueView, _: &mut Stream) -> Verdict {
        let flow = self.flows.entry(packet.route.flow());
        let mode = flow.arrive(packet, view.now, self.rate, &self.params);
        let is_first = mode == self.params.first;
        // As long as packets of the flow wait in the second class, the packet joins this class,
        // too. In the first class, it would overtake them.
        flow.class = usize::from(!is_first || flow.waiting[1] > 0);
        let one = Occupancy { packets: 1, bytes: packet.size().into() };
        if flow.class == self.burst_class {
            let bursts = self.bursts + one;
            if !view.is_idle() && bursts.exceeds(self.burst_limit) {
                return Verdict::Drop(DropReason::Early);
            }
            self.bursts = bursts;
        }
        flow.waiting[flow.class] += 1;
        Verdict::Admit
    }

    fn departing(&mut self, packet: &Packet, _: Span, _: &QueueView) -> Verdict {
        let flow = self.flows.entry(packet.route.flow());
        // The departing packet is of the first class if any packet of its flow waits there.
        let class = usize::from(flow.waiting[0] == 0);
        flow.waiting[class] = flow.waiting[class].saturating_sub(1);
        if class == self.burst_class {
            self.bursts.packets = self.bursts.packets.saturating_sub(1);
            self.bursts.bytes = self.bursts.bytes.saturating_sub(packet.size().into());
        }
        Verdict::Admit
    }

    fn classes(&self) -> usize {
        2
    }

    fn class(&self, packet: &Packet) -> usize {
        let flow = self.flows.get(packet.route.flow());
        flow.map_or(self.burst_class, |flow| flow.class)
    }
}

#[cfg(test)]
mod tests {
    use super::super::law_tests::{SITE, data};
    use super::*;
    use crate::packet::RouteId;
    use crate::packets::Load;

    /// A busy port, and the packets that wait, in the order of their departure.
    struct Port {
        discipline: Segregation,
        queues: [Vec<Packet>; 2],
        now: Time,
        random: Stream,
    }

    impl Port {
        fn new(params: &Params) -> Self {
            Self {
                discipline: Segregation::new(params, &SITE),
                queues: [Vec::new(), Vec::new()],
                now: Time::ZERO,
                random: Stream::named(1, "test", 0),
            }
        }

        /// The class of a packet of `flow` that arrives `micros` later; `None` if it is dropped.
        fn arrive(&mut self, flow: u32, micros: u64) -> Option<usize> {
            self.now += Span::from_micros(micros);
            let packet = Packet { route: RouteId::new(flow, true), ..data() };
            let packets = self.queues.iter().map(Vec::len).sum::<usize>() as u32;
            let view = QueueView {
                load: Load { packets, bytes: 1500 * u64::from(packets), in_service_bytes: 1500 },
                now: self.now,
                ..QueueView::default()
            };
            if self.discipline.offer(&packet, &view, &mut self.random) != Verdict::Admit {
                return None;
            }
            let class = self.discipline.class(&packet);
            self.queues[class].push(packet);
            Some(class)
        }

        fn depart(&mut self) {
            let queue = self.queues.iter_mut().find(|queue| !queue.is_empty());
            let packet = queue.expect("something waits").remove(0);
            self.discipline.departing(&packet, Span::ZERO, &QueueView::default());
        }

        /// Offers `count` packets, each of which leaves before the next one arrives. Returns the
        /// class of the last packet.
        fn class_after(&mut self, flow: u32, count: usize, gap: impl Fn(usize) -> u64) -> usize {
            let mut class = None;
            for number in 0..count {
                class = self.arrive(flow, gap(number));
                self.depart();
            }
            class.expect("nothing is dropped")
        }
    }

    fn by(by: Reading) -> Params {
        Params { by, ..Params::default() }
    }

    #[test]
    fn periodic_packets_are_steady_and_packets_in_trains_are_not() {
        for (reading, weight) in
            [(Reading::Variation, 1.0 / 16.0), (Reading::Rate, 0.5), (Reading::Train, 1.0)]
        {
            let mut port = Port::new(&Params { weight, ..by(reading) });
            assert_eq!(port.class_after(3, 5, |_| 100), 1, "not judged yet");
            assert_eq!(port.class_after(3, 100, |_| 100), 0, "{reading:?}");
            // Ten packets back to back, then a pause.
            let bursts = |n| if n % 10 == 0 { 5000 } else { 12 };
            assert_eq!(port.class_after(3, 109, bursts), 1, "{reading:?}");
            assert_eq!(port.class_after(3, 400, |_| 100), 0, "{reading:?}");
        }
    }

    #[test]
    fn the_squared_coefficient_of_variation_decides() {
        // The gaps are 10 and 150 us in turn, so their squared coefficient of variation is (70/80)²
        // = 49/64.
        let class = |threshold| {
            let params = Params { threshold, weight: 1.0 / 256.0, ..by(Reading::Variation) };
            Port::new(&params).class_after(0, 4001, |n| if n % 2 == 0 { 150 } else { 10 })
        };
        assert_eq!([0.72, 0.75, 0.78, 0.81].map(class), [1, 1, 0, 0]);
    }

    /// Number of packets, among 50 000 with these gaps, for which the flow is in burst mode.
    fn bursting(mut gap: impl FnMut(usize, &mut Stream) -> Span) -> usize {
        let mut flow = Flow::default();
        let (mut now, mut random) = (Time::ZERO, Stream::named(1, "gaps", 0));
        let params = by(Reading::Variation);
        let modes = (0..50_000).map(|number| {
            now += gap(number, &mut random);
            flow.arrive(&data(), now, SITE.rate, &params)
        });
        modes.filter(|mode| *mode == Mode::Burst).count()
    }

    #[test]
    fn a_poisson_process_is_steady_and_bursts_between_silences_are_not() {
        let mean = Span::from_micros(100);
        let poisson = bursting(|_, random| random.exponential(mean));
        assert!(poisson < 1000, "{poisson}");
        let bursts = bursting(
            |number, random| {
                if number % 10 == 0 { random.exponential(mean * 50) } else { mean }
            },
        );
        assert!(bursts > 47_500, "{bursts}");
    }

    #[test]
    fn another_connection_is_another_flow() {
        let mut port = Port::new(&Params::default());
        port.class_after(0, 50, |_| 100);
        let view = QueueView { now: port.now, ..QueueView::default() };
        let packet = Packet { epoch: 1, ..data() };
        port.discipline.offer(&packet, &view, &mut port.random);
        assert_eq!(port.discipline.class(&packet), 1);
    }

    #[test]
    fn no_packet_overtakes_one_of_its_own_flow() {
        let mut port = Port::new(&Params { gaps: 4, train: 4, ..Params::default() });
        let classes: Vec<_> = (0..6).map(|_| port.arrive(0, 100)).collect();
        // The flow is steady from the fifth packet on, but its first four packets still wait in the
        // class of bursts.
        assert_eq!(classes, [Some(1); 6]);
        (0..6).for_each(|_| port.depart());
        assert_eq!(port.arrive(0, 100), Some(0));
        // A packet that changes from the first class to the second cannot overtake.
        let classes: Vec<_> = (0..4).map(|_| port.arrive(0, 12)).collect();
        assert_eq!(classes, [Some(0), Some(0), Some(1), Some(1)]);
        (0..4).for_each(|_| port.depart());
        assert_eq!(port.discipline.flows.get(0).unwrap().waiting, [0, 1]);
    }

    #[test]
    fn bursts_leave_a_part_of_the_buffer_to_the_others() {
        let mut port = Port::new(&Params::default());
        port.class_after(9, 50, |_| 100);
        let taken = (0..50).filter(|flow| port.arrive(*flow % 8, 1).is_some()).count();
        // The limit of the burst queue is 90 % of 40 packets.
        assert_eq!(taken, 36);
        assert_eq!(port.arrive(9, 50), Some(0));
        port.depart();
        assert_eq!(port.arrive(1, 1), None, "the departed packet was not a burst's");
        port.depart();
        assert!(port.arrive(1, 1).is_some());
    }

    #[test]
    fn bursts_may_go_first() {
        let mut port = Port::new(&Params { first: Mode::Burst, ..Params::default() });
        assert_eq!(port.class_after(0, 5, |_| 100), 0);
        assert_eq!(port.class_after(0, 20, |_| 100), 1);
    }

    #[test]
    fn a_limit_that_keeps_out_every_burst_is_a_mistake() {
        let fault = |params: Params| params.check(&SITE).expect_err("it is invalid").key;
        let none = Level::Limit(Limit::Packets(0));
        assert_eq!(fault(Params { burst_limit: none, ..Params::default() }), "burst_limit");
        let site = Site { buffer: None, ..SITE };
        assert!(Params::default().check(&site).is_err());
    }
}
