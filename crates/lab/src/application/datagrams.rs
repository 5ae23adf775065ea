//! Datagrams that nobody answers, at regular or random intervals.

use incast_engine::time::PICOS_PER_SEC;
use incast_engine::{Span, Stream, Time};
use incast_tcp::Event;

use super::on_off::{OnOff, Phase};
use super::{Application, Report};
use incast_host::{EndId, Hosts};
use incast_scenario::Datagrams;

/// How far apart datagrams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Always the same, from a random phase on.
    Constant,
    /// Exponentially distributed.
    Exponential,
    /// Always the same within bursts.
    Bursts(OnOff),
}

/// The sources of one `[[background]]` table.
pub struct DatagramSource {
    datagrams: Datagrams,
    interval: Interval,
    number: u16,
    first_flow: u32,
    sources: u32,
    random: Stream,
    /// By source, where there are bursts.
    phases: Vec<Phase>,
    received: u64,
}

/// Bytes of a datagram that are not payload: IP and UDP headers, counted like TCP's.
const HEADER: u32 = 40;

impl DatagramSource {
    /// `sources` sources whose flows begin at `first_flow`.
    pub fn new(
        datagrams: &Datagrams,
        interval: Interval,
        number: u16,
        first_flow: u32,
        sources: u32,
        random: Stream,
    ) -> Self {
        let datagrams = datagrams.clone();
        let phases = vec![Phase::default(); sources as usize];
        Self { datagrams, interval, number, first_flow, sources, random, phases, received: 0 }
    }

    fn mean(&self) -> Span {
        let bits = u128::from(self.datagrams.packet_size) * 8;
        Span::from_picos(
            (bits * u128::from(PICOS_PER_SEC) / u128::from(self.datagrams.rate.0)) as u64,
        )
    }

    fn draw(&mut self, source: u32) -> Span {
        let mean = self.mean();
        match self.interval {
            Interval::Constant => mean,
            Interval::Exponential => self.random.exponential(mean),
            Interval::Bursts(on_off) => {
                self.phases[source as usize].next(on_off, mean, &mut self.random)
            }
        }
    }
}

impl Application for DatagramSource {
    fn start(&mut self, hosts: &mut Hosts) {
        if self.datagrams.rate.0 == 0 {
            return;
        }
        for source in 0..self.sources {
            let phase = match self.interval {
                Interval::Constant => self.random.uniform(self.mean()),
                Interval::Exponential | Interval::Bursts(_) => self.draw(source),
            };
            hosts.set_timer(hosts.now() + self.datagrams.start + phase, self.number, source);
        }
    }

    fn on_timer(&mut self, hosts: &mut Hosts, source: u32) {
        hosts.send_datagram(self.first_flow + source, self.datagrams.packet_size);
        let next = hosts.now() + self.draw(source);
        hosts.set_timer(next, self.number, source);
    }

    fn on_event(&mut self, _: &mut Hosts, _: EndId, _: Event) {}

    fn on_datagram(&mut self, bytes: u32) {
        self.received += u64::from(bytes.saturating_sub(HEADER));
    }

    fn progress(&self, _: Time) -> Option<f64> {
        None
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let start = Time::ZERO + self.datagrams.start;
        Report {
            bytes: self.received,
            elapsed: hosts.now().saturating_since(start),
            finished: true,
            ..Report::default()
        }
    }
}
