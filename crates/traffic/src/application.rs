//! Applications: readers and background traffic.

use incast_engine::{Span, Time};
use incast_host::{EndId, Hosts};
use incast_tcp::Event;
use incast_tcp::connection::Counters;

/// An application on the hosts.
pub trait Application: Send {
    /// The run begins.
    fn start(&mut self, hosts: &mut Hosts);
    /// A timer that it set has expired.
    fn on_timer(&mut self, hosts: &mut Hosts, index: u32);
    /// One of its connections reports an event.
    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event);
    /// A datagram of this many bytes arrived at its receiver.
    fn on_datagram(&mut self, bytes: u32) {
        let _ = bytes;
    }
    /// Finished share of its work, 0 to 1; `None` if it never ends.
    fn progress(&self, now: Time) -> Option<f64>;
    /// Its result.
    fn report(&self, hosts: &Hosts) -> Report;
}

/// The result of an application.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Delivered application bytes that count.
    pub bytes: u64,
    /// Time in which they were delivered.
    pub elapsed: Span,
    /// Duration of every completed block.
    pub completions: Vec<Span>,
    /// Fairness of the shares of the link, by Jain's index.
    pub fairness: Option<f64>,
    /// Whether it completed its work.
    pub finished: bool,
    /// Counters of its senders.
    pub counters: Counters,
}

impl Report {
    /// The combined result of several applications: all blocks, and all bytes in the longest time.
    pub fn total(reports: &[Self]) -> Self {
        Self {
            bytes: reports.iter().map(|report| report.bytes).sum(),
            elapsed: reports.iter().map(|report| report.elapsed).max().unwrap_or_default(),
            completions: reports.iter().flat_map(|report| report.completions.clone()).collect(),
            fairness: None,
            finished: reports.iter().all(|report| report.finished),
            counters: reports
                .iter()
                .fold(Counters::default(), |sum, report| sum.and(&report.counters)),
        }
    }
}
