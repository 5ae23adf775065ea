//! TCP connections that always have data to send.

use incast_engine::{Span, Time};
use incast_tcp::Event;
use incast_tcp::connection::{Counters, FIRST_BYTE};

use super::{Application, Report, add};
use crate::core::{Core, EndId};
use crate::probe::Probe;

/// The connections of one `[[background]]` table.
pub struct LongFlows {
    start: Span,
    number: u16,
    first_flow: u32,
    count: u32,
}

/// More than any run can send.
const ENDLESS: u64 = 1 << 60;

impl LongFlows {
    /// `count` connections whose flows begin at `first_flow` and which open at `start`.
    pub fn new(start: Span, number: u16, first_flow: u32, count: u32) -> Self {
        Self { start, number, first_flow, count }
    }

    fn flows(&self) -> std::ops::Range<u32> {
        self.first_flow..self.first_flow + self.count
    }
}

impl<P: Probe> Application<P> for LongFlows {
    fn start(&mut self, core: &mut Core<P>) {
        core.set_timer(core.now() + self.start, self.number, 0);
    }

    fn on_timer(&mut self, core: &mut Core<P>, _: u32) {
        for flow in self.flows() {
            core.act_on(EndId::client(flow)).request(0);
        }
    }

    fn on_event(&mut self, core: &mut Core<P>, end: EndId, event: Event) {
        if event == Event::Request && end.is_server() {
            let server = core.act_on(end);
            server.open();
            server.write(ENDLESS);
        }
    }

    fn progress(&self, _: Time) -> Option<f64> {
        None
    }

    fn report(&self, core: &Core<P>) -> Report {
        let received = |flow| core.connection(EndId::client(flow)).received().next() - FIRST_BYTE;
        Report {
            bytes: self.flows().map(received).sum(),
            elapsed: core.now().saturating_since(Time::ZERO + self.start),
            finished: true,
            counters: self.flows().fold(Counters::default(), |sum, flow| {
                add(sum, core.connection(EndId::server(flow)).counters())
            }),
            ..Report::default()
        }
    }
}
