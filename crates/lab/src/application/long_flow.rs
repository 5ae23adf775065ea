//! TCP connections that always have data to send, or bursts of them.

use incast_engine::{Span, Stream, Time};
use incast_tcp::Event;
use incast_tcp::connection::Counters;

use super::on_off::{OnOff, Phase};
use super::{Application, Jain, Report, add};
use incast_host::{EndId, Hosts};

/// The connections of a workload or of one `[[background]]` table.
pub struct LongFlows {
    start: Span,
    /// How long they send, if that ends the run.
    duration: Option<Span>,
    number: u16,
    first_flow: u32,
    count: u32,
    bursts: Option<Source>,
    /// Of each flow that writes in bursts.
    phases: Vec<Phase>,
    done: bool,
}

/// What an application writes that does not always have data.
pub struct Source {
    /// Mean lengths of bursts and pauses.
    pub on_off: OnOff,
    /// Time between two writes of a burst.
    pub interval: Span,
    /// Bytes of one.
    pub bytes: u64,
    /// Draws lengths.
    pub random: Stream,
}

/// More than any run can send.
const ENDLESS: u64 = 1 << 60;
/// The timer that opens the connections.
const OPEN: u32 = 0;
/// The timer that ends the run.
const END: u32 = 1;
/// The timer of the first flow's next write; those of the others follow.
const WRITE: u32 = 2;

impl LongFlows {
    /// `count` connections whose flows begin at `first_flow` and which open at `start`; their
    /// applications write what `bursts` says, or always have data.
    pub fn new(
        start: Span,
        number: u16,
        first_flow: u32,
        count: u32,
        bursts: Option<Source>,
    ) -> Self {
        let phases = vec![Phase::default(); if bursts.is_some() { count as usize } else { 0 }];
        Self { start, duration: None, number, first_flow, count, bursts, phases, done: false }
    }

    /// The same, with the run ending after `duration`.
    #[must_use]
    pub fn until(self, duration: Span) -> Self {
        Self { duration: Some(duration), ..self }
    }

    /// Sets the timer of a flow's next write, if there are bursts.
    fn wait(&mut self, hosts: &mut Hosts, flow: u32) {
        let Some(Source { on_off, interval, random, .. }) = &mut self.bursts else { return };
        let place = flow - self.first_flow;
        let wait = self.phases[place as usize].next(*on_off, *interval, random);
        hosts.set_timer(hosts.now() + wait, self.number, WRITE + place);
    }

    fn flows(&self) -> std::ops::Range<u32> {
        self.first_flow..self.first_flow + self.count
    }
}

impl Application for LongFlows {
    fn start(&mut self, hosts: &mut Hosts) {
        hosts.set_timer(hosts.now() + self.start, self.number, OPEN);
        if let Some(duration) = self.duration {
            hosts.set_timer(hosts.now() + self.start + duration, self.number, END);
        }
    }

    fn on_timer(&mut self, hosts: &mut Hosts, index: u32) {
        match index {
            OPEN => {
                for flow in self.flows() {
                    hosts.begin_wait(flow);
                    hosts.act_on(EndId::client(flow)).request(0);
                }
            }
            END => {
                self.done = true;
                hosts.finish(self.number);
            }
            write => {
                let flow = self.first_flow + (write - WRITE);
                if let Some(bursts) = &self.bursts {
                    hosts.act_on(EndId::server(flow)).write(bursts.bytes);
                }
                self.wait(hosts, flow);
            }
        }
    }

    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event) {
        if event == Event::Request && end.is_server() {
            let server = hosts.act_on(end);
            server.open();
            if self.bursts.is_none() {
                server.write(ENDLESS);
            }
            self.wait(hosts, end.flow());
        }
    }

    fn progress(&self, now: Time) -> Option<f64> {
        let until = (self.start + self.duration?).as_secs_f64();
        Some((now.as_secs_f64() / until).min(1.0))
    }

    fn report(&self, hosts: &Hosts) -> Report {
        let received = |flow| hosts.end(EndId::client(flow)).delivered();
        Report {
            bytes: self.flows().map(received).sum(),
            fairness: self.flows().map(|flow| received(flow) as f64).collect::<Jain>().index(),
            elapsed: hosts.now().saturating_since(Time::ZERO + self.start),
            finished: self.done || self.duration.is_none(),
            counters: self.flows().fold(Counters::default(), |sum, flow| {
                add(sum, &hosts.end(EndId::server(flow)).counters())
            }),
            ..Report::default()
        }
    }
}
