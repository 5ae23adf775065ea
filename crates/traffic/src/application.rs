//! Applications: readers and background traffic.

use incast_engine::{Span, Time};
use incast_host::{Counters, EndId, Event, Hosts};

/// An application on the hosts.
pub trait Application: Send {
    /// Called when the run begins.
    fn start(&mut self, hosts: &mut Hosts);
    /// Called when the timer `index` of this application has expired.
    fn on_timer(&mut self, hosts: &mut Hosts, index: u32);
    /// Called when a connection of this application reports an event.
    fn on_event(&mut self, hosts: &mut Hosts, end: EndId, event: Event);
    /// Called when a datagram of `bytes` bytes has arrived at its receiver.
    fn on_datagram(&mut self, bytes: u32) {
        let _ = bytes;
    }
    /// Finished share of the application's work, 0 to 1; `None` if the application never ends.
    fn progress(&self, now: Time) -> Option<f64>;
    /// The result of the application.
    fn report(&self, hosts: &Hosts) -> Report;
}

/// The result of an application.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Delivered application bytes that count in the result.
    pub bytes: u64,
    /// Time in which `bytes` were delivered.
    pub elapsed: Span,
    /// Duration of every completed block.
    pub completions: Vec<Span>,
    /// Jain's index of the shares of the link.
    pub fairness: Option<f64>,
    /// Whether the application completed its work.
    pub finished: bool,
    /// Counters of the application's senders.
    pub counters: Counters,
}

impl Report {
    /// The combined result of several applications: all blocks, the sum of the bytes, and the
    /// longest of the times.
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
