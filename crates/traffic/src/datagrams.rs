//! Datagrams without answers, at regular or random intervals.

use incast_engine::time::PICOS_PER_SEC;
use incast_engine::{Fault, Rate, Size, Span, Stream, Time};
use incast_host::{EndId, Event, Hosts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{Application, Report};
use crate::bursts::{OnOff, Phase};
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{From, Load, Offered, Role, Senders, Setting, Workload};

/// A stream of datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(inline)]
pub struct Datagrams {
    /// Rate of each source, in bits per second, without layer 2; 0 sends nothing. No default.
    pub rate: Rate,
    /// Size of a datagram, in bytes, with its header but without layer 2, 1 to 65535. Default: a
    /// full packet of the transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<Size>,
    /// The hosts that send.
    #[serde(default)]
    pub from: From,
    /// Number of sources, each on a host of its own. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: Option<u32>,
    /// The switches to which the sources' own hosts are connected: a number from 0, or a list of
    /// numbers that are assigned to the hosts in turn. Default: the switches where the topology
    /// places servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Numbers>,
    /// The clients to which the sources send: a number from 0, or a list of numbers that are
    /// assigned to the sources in turn. Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Numbers>,
    /// Time at which the first datagram is due, in seconds.
    #[serde(default)]
    pub start: Span,
}

/// Traffic that consists of datagrams.
pub trait Source {
    /// The stream of datagrams.
    fn datagrams(&self) -> &Datagrams;
    /// [`Self::datagrams`], mutably.
    fn datagrams_mut(&mut self) -> &mut Datagrams;
    /// The intervals between the datagrams.
    fn interval(&self) -> Interval;
    /// Refuses invalid parameters.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// A stream without keys of its own: datagrams at equal intervals, or at random intervals if
/// `RANDOM` is true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Spaced<const RANDOM: bool>(Datagrams);

impl<const RANDOM: bool> Source for Spaced<RANDOM> {
    fn datagrams(&self) -> &Datagrams {
        &self.0
    }

    fn datagrams_mut(&mut self) -> &mut Datagrams {
        &mut self.0
    }

    fn interval(&self) -> Interval {
        if RANDOM { Interval::Exponential } else { Interval::Constant }
    }
}

/// The largest datagram, bytes; sizes are counted in 16 bits.
const LONGEST: u64 = 65_535;

impl Datagrams {
    fn size(&self) -> u32 {
        self.packet_size.map_or(0, |Size(size)| size as u32)
    }
}

impl<T: Source> Workload for T {
    fn settle(&mut self, layout: &Layout, _: Role) -> Result<(), Fault> {
        self.check()?;
        let datagrams = self.datagrams_mut();
        let Size(size) = *datagrams.packet_size.get_or_insert(Size(layout.packet.into()));
        if !(1..=LONGEST).contains(&size) {
            let message = format!("{size} is out of range; must be 1 to {LONGEST} bytes");
            return Err(Fault::new("packet_size", message));
        }
        datagrams.from.settle(datagrams.count, &mut datagrams.at, layout)?;
        datagrams.to = layout.settled_clients(datagrams.to.as_ref(), "to")?;
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        let Datagrams { from, count, at, .. } = self.datagrams();
        from.senders(*count, at.as_ref(), layout)
    }

    fn to(&self) -> Option<&Numbers> {
        self.datagrams().to.as_ref()
    }

    fn load(&self, _: u32) -> Option<Load> {
        None
    }

    fn offered(&self) -> Option<Offered> {
        let datagrams = self.datagrams();
        let share = match self.interval() {
            Interval::Bursts(OnOff { burst, idle }) => {
                burst.as_secs_f64() / (burst.as_secs_f64() + idle.as_secs_f64())
            }
            Interval::Constant | Interval::Exponential => 1.0,
        };
        Some(Offered {
            rate: datagrams.rate,
            share,
            packet: datagrams.size(),
            start: datagrams.start,
            on_servers: datagrams.from == From::Servers,
        })
    }

    fn ends(&self) -> bool {
        false
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        Box::new(DatagramSource {
            datagrams: self.datagrams().clone(),
            interval: self.interval(),
            number: setting.number,
            first_flow: setting.first_flow,
            sources: setting.senders,
            random: setting.draws.only("datagrams"),
            phases: vec![Phase::default(); setting.senders as usize],
            received: 0,
        })
    }
}

/// The intervals between datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// Constant, with a random phase.
    Constant,
    /// Exponentially distributed.
    Exponential,
    /// Constant within bursts.
    Bursts(OnOff),
}

/// The sources of one table.
struct DatagramSource {
    datagrams: Datagrams,
    interval: Interval,
    number: u16,
    first_flow: u32,
    sources: u32,
    random: Stream,
    /// The phase of each source, if there are bursts.
    phases: Vec<Phase>,
    received: u64,
}

/// The IP and UDP headers of a datagram, bytes. They are assumed to be as long as IP and TCP
/// headers.
const HEADER: u32 = 40;

impl DatagramSource {
    fn mean(&self) -> Span {
        let bits = u128::from(self.datagrams.size()) * 8;
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
        hosts.send_datagram(self.first_flow + source, self.datagrams.size());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_never_end() {
        let datagrams = serde_json::from_value(serde_json::json!({ "rate": "1Mbps" }));
        let source = DatagramSource {
            datagrams: datagrams.expect("they are datagrams"),
            interval: Interval::Constant,
            number: 0,
            first_flow: 0,
            sources: 1,
            random: Stream::named(1, "datagrams", 0),
            phases: Vec::new(),
            received: 0,
        };
        assert_eq!(source.progress(Time::ZERO), None);
        assert!(!Spaced::<false>(source.datagrams).ends());
    }
}
