//! TCP connections that always have data to send, or that send bursts.

use incast_engine::{Fault, Rate, Span, Stream, Time};
use incast_host::{BlueprintId, End, EndId, Event, Hosts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Application, Report};
use crate::bursts::{Bursts, OnOff, Phase};
use crate::fairness::Jain;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Pairing, Role, Senders, Setting, Workload};

/// TCP connections from hosts of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Number of hosts, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Connections of each host, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flows: u32,
    /// The switches to which the hosts are connected: a number from 0, or a list of numbers that
    /// are assigned to the hosts in turn. Default: the switches where the topology places servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Numbers>,
    /// The clients to which the hosts send: a number from 0, or a list of numbers that are assigned
    /// to the hosts in turn. Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Numbers>,
    /// Time at which the connections open, in seconds.
    #[serde(default)]
    pub start: Span,
    /// Bursts of data: a table. In a burst, the application writes one full segment at a time.
    /// Default: no bursts; there is always data to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
}

/// The default of a count.
pub(crate) const fn one() -> u32 {
    1
}

/// The reason why the connection of a long flow never ends.
pub(crate) const ENDLESS_FLOW: &str = "a long flow never ends";

/// The load of long flows from `servers` hosts.
pub(crate) fn load(servers: u32, flows: u32) -> Load {
    Load {
        most: u64::MAX,
        least: u64::MAX,
        at_once: flows,
        fan_in: servers,
        is_asked_for: false,
        is_shared: false,
        endless: Some(ENDLESS_FLOW),
    }
}

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, _: Role) -> Result<(), Fault> {
        self.bursts.map_or(Ok(()), Bursts::check)?;
        self.at = layout.settled_switches(self.at.as_ref(), "at")?;
        self.to = layout.settled_clients(self.to.as_ref(), "to")?;
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        Senders::Own(self.count, layout.switches_of(self.at.as_ref()))
    }

    fn to(&self) -> Option<&Numbers> {
        self.to.as_ref()
    }

    fn pairing(&self) -> Pairing {
        Pairing::InTurn(self.flows)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(load(self.count, self.count(senders)))
    }

    fn ends(&self) -> bool {
        false
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let count = self.count(setting.senders);
        Box::new(LongFlows::new(self.start, count, self.bursts, &setting))
    }
}

/// The connections of one table.
pub(crate) struct LongFlows {
    start: Span,
    /// The time for which the connections send, if the run ends after this time.
    duration: Option<Span>,
    number: u16,
    blueprint: BlueprintId,
    first_flow: u32,
    count: u32,
    bursts: Option<Source>,
    /// The writers, one per flow, if flows write in bursts.
    writers: Vec<Writer>,
    done: bool,
}

/// The writes of applications with bursts.
struct Source {
    /// Mean lengths of bursts and pauses.
    on_off: OnOff,
    /// Time between two writes of a burst.
    interval: Span,
    /// Bytes of a write.
    bytes: u64,
    /// Random stream of the lengths of bursts and pauses.
    random: Stream,
    /// Maximum outstanding data of a connection, bytes.
    window: u64,
    /// Maximum rate at which the data of a connection arrives.
    rate: Rate,
}

/// A flow with bursts.
#[derive(Clone, Copy, Default)]
struct Writer {
    phase: Phase,
    /// Number of segments that the next timer writes.
    due: u64,
}

impl Source {
    /// Time during which a connection with `waiting` unacknowledged bytes certainly has data to
    /// send. `spare` is `waiting` minus [`AMPLE`] and two windows: one of outstanding data, which
    /// the client may have received already, and one that may follow at once.
    fn ample(&self, waiting: u64) -> Span {
        let spare = waiting.saturating_sub(2 * self.window + AMPLE);
        self.rate.transmission_time(spare)
    }
}

/// With at least this number of unsent bytes, a connection does not notice the end of its data. The
/// number is the size of a burst of segmentation offload.
const AMPLE: u64 = 1 << 16;
/// More bytes than any run sends.
const ENDLESS: u64 = 1 << 60;
/// The timer that opens the connections.
const OPEN: u32 = 0;
/// The timer that ends the run.
const END: u32 = 1;
/// The timer of the first flow's next write. The timers of the other flows have the next numbers.
const WRITE: u32 = 2;

impl LongFlows {
    /// `count` connections that open at `start`. The applications of the connections write in
    /// `bursts`, or always have data.
    pub(crate) fn new(start: Span, count: u32, bursts: Option<Bursts>, setting: &Setting) -> Self {
        let writing = if bursts.is_some() { count as usize } else { 0 };
        let random = setting.draws.only("bursts");
        let bursts = bursts.map(|Bursts { rate, burst, idle }| Source {
            on_off: OnOff { burst, idle },
            interval: rate.transmission_time(setting.mss.into()),
            bytes: setting.mss.into(),
            random,
            window: setting.receive_window,
            rate: setting.client_rate,
        });
        Self {
            start,
            duration: None,
            number: setting.number,
            blueprint: setting.blueprint.expect("flows have connections"),
            first_flow: setting.first_flow,
            count,
            bursts,
            writers: vec![Writer::default(); writing],
            done: false,
        }
    }

    /// Ends the run after `duration`.
    #[must_use]
    pub(crate) fn until(self, duration: Span) -> Self {
        Self { duration: Some(duration), ..self }
    }

    /// Sets the timer of a flow's next write, if there are bursts. Segments that the connection
    /// does not need earlier are written together, when the last of these segments is due.
    fn wait(&mut self, hosts: &mut Hosts, flow: u32) {
        let Some(source) = &mut self.bursts else { return };
        let place = flow - self.first_flow;
        let writer = &mut self.writers[place as usize];
        let mut wait = writer.phase.next(source.on_off, source.interval, &mut source.random);
        let waiting = hosts.get(EndId::server(flow)).map_or(0, End::backlog);
        let spare = source.ample(waiting).saturating_sub(wait);
        let later = writer.phase.take(spare.as_picos() / source.interval.as_picos().max(1));
        wait += source.interval * later;
        writer.due = 1 + later;
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
                let (place, flow) = (write - WRITE, self.first_flow + (write - WRITE));
                if let Some(bursts) = &self.bursts {
                    let bytes = self.writers[place as usize].due * bursts.bytes;
                    hosts.act_on(EndId::server(flow)).write(bytes);
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
        let received = |flow| hosts.delivered(EndId::client(flow));
        Report {
            bytes: self.flows().map(received).sum(),
            fairness: self.flows().map(|flow| received(flow) as f64).collect::<Jain>().index(),
            elapsed: hosts.now().saturating_since(Time::ZERO + self.start),
            finished: self.done || self.duration.is_none(),
            counters: hosts.counters(self.blueprint),
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(window: u64) -> Source {
        Source {
            on_off: OnOff { burst: Span::from_millis(1), idle: Span::from_millis(1) },
            interval: Span::from_micros(100),
            bytes: 1000,
            random: Stream::named(1, "bursts", 0),
            window,
            rate: Rate(8_000_000),
        }
    }

    #[test]
    fn data_are_ample_once_two_windows_and_a_large_segment_wait() {
        let least = 2 * 10_000 + AMPLE;
        assert_eq!(source(10_000).ample(0), Span::ZERO);
        assert_eq!(source(10_000).ample(least), Span::ZERO);
        assert_eq!(source(10_000).ample(least + 1_000), Span::from_millis(1));
        assert_eq!(source(0).ample(AMPLE + 3_000), Span::from_millis(3));
    }
}
