//! TCP connections that always have data to send, or bursts of them.

use incast_engine::{Span, Stream, Time};
use incast_tcp::Event;
use incast_tcp::connection::{Counters, FIRST_BYTE};

use super::on_off::{OnOff, Phase};
use super::{Application, Jain, Report, add};
use crate::core::Core;
use crate::ids::EndId;
use crate::probe::Probe;

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
    fn wait<P: Probe>(&mut self, core: &mut Core<P>, flow: u32) {
        let Some(Source { on_off, interval, random, .. }) = &mut self.bursts else { return };
        let place = flow - self.first_flow;
        let wait = self.phases[place as usize].next(*on_off, *interval, random);
        core.set_timer(core.now() + wait, self.number, WRITE + place);
    }

    fn flows(&self) -> std::ops::Range<u32> {
        self.first_flow..self.first_flow + self.count
    }
}

impl<P: Probe> Application<P> for LongFlows {
    fn start(&mut self, core: &mut Core<P>) {
        core.set_timer(core.now() + self.start, self.number, OPEN);
        if let Some(duration) = self.duration {
            core.set_timer(core.now() + self.start + duration, self.number, END);
        }
    }

    fn on_timer(&mut self, core: &mut Core<P>, index: u32) {
        match index {
            OPEN => {
                for flow in self.flows() {
                    core.begin_wait(flow);
                    core.act_on(EndId::client(flow)).request(0);
                }
            }
            END => {
                self.done = true;
                core.finished = true;
            }
            write => {
                let flow = self.first_flow + (write - WRITE);
                if let Some(bursts) = &self.bursts {
                    core.act_on(EndId::server(flow)).write(bursts.bytes);
                }
                self.wait(core, flow);
            }
        }
    }

    fn on_event(&mut self, core: &mut Core<P>, end: EndId, event: Event) {
        if event == Event::Request && end.is_server() {
            let server = core.act_on(end);
            server.open();
            if self.bursts.is_none() {
                server.write(ENDLESS);
            }
            self.wait(core, end.flow());
        }
    }

    fn progress(&self, now: Time) -> Option<f64> {
        let until = (self.start + self.duration?).as_secs_f64();
        Some((now.as_secs_f64() / until).min(1.0))
    }

    fn report(&self, core: &Core<P>) -> Report {
        let received = |flow| core.connection(EndId::client(flow)).received().next() - FIRST_BYTE;
        Report {
            bytes: self.flows().map(received).sum(),
            fairness: self.flows().map(|flow| received(flow) as f64).collect::<Jain>().index(),
            elapsed: core.now().saturating_since(Time::ZERO + self.start),
            finished: self.done || self.duration.is_none(),
            counters: self.flows().fold(Counters::default(), |sum, flow| {
                add(sum, core.connection(EndId::server(flow)).counters())
            }),
            ..Report::default()
        }
    }
}
