//! The parameters of a port.

use incast_engine::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::{Accounting, Buffer, PoolId};
use crate::queue::{QueueConfig, Site};

/// The parameters of a port.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Line rate.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Span,
    /// Bytes that layer 2 adds to every packet on the line (Ethernet: 38).
    pub layer2_overhead: u32,
    /// Upper bound of the random delay of each departure. Clocks that agree to the picosecond cause
    /// phase effects between flows (Floyd & Jacobson 1992).
    pub clock_noise: Span,
    /// The order of simultaneous arrivals and departures.
    pub ties: Ties,
    /// Buffer for waiting packets. With `None` the port never drops (a host's own queue).
    pub buffer: Option<Buffer>,
    /// The shared buffer, if there is one. The limit of `buffer` applies, too.
    pub pool: Option<PoolId>,
    /// How buffer space is counted.
    pub accounting: Accounting,
    /// Queue discipline. A port without a buffer does not use the discipline.
    pub queue: QueueConfig,
    /// Random additional delay of single packets on the link, so that later packets overtake them.
    pub reordering: Option<Reordering>,
    /// Whether the port has departure events even if its configuration does not need them.
    pub departure_events: bool,
}

impl PortConfig {
    /// A host's port, with a queue that never drops.
    pub fn host(rate: Rate, delay: Span) -> Self {
        Self {
            rate,
            delay,
            layer2_overhead: 0,
            clock_noise: Span::ZERO,
            ties: Ties::DepartureFirst,
            buffer: None,
            pool: None,
            accounting: Accounting::EXACT,
            queue: QueueConfig::default(),
            reordering: None,
            departure_events: false,
        }
    }

    /// Whether the port itself needs departure events. Its neighbours can be another reason for
    /// such events.
    pub(super) fn needs_departure_events(&self) -> bool {
        let acts_at_departure = self.buffer.is_some() && self.queue.acts_at_departure();
        acts_at_departure
            || self.pool.is_some()
            || self.accounting != Accounting::EXACT
            || self.reordering.is_some()
    }

    /// The properties of the port that its discipline knows.
    pub(super) fn site(&self) -> Site {
        Site {
            rate: self.rate,
            layer2_overhead: self.layer2_overhead,
            buffer: self.buffer.map(|buffer| buffer.limit),
            counts_in_service: self.buffer.is_some_and(|buffer| buffer.counts_in_service),
        }
    }
}

/// Reordering on a link: randomly selected packets are delayed, and others overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Probability, 0 to 1, that a packet is delayed.
    pub p: f64,
    /// The additional delay.
    pub delay: Span,
}

/// The order of simultaneous arrivals and departures. With links of equal rates, these ties are
/// common, and the order determines which packet a full buffer drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The departing packet has left the port when the other packet arrives.
    DepartureFirst,
    /// The departing packet is still in the port when the other packet arrives. Simulators that
    /// schedule all events of a packet when its transmission starts have this order (ns-2).
    ArrivalFirst,
    /// As `arrival-first`. If two packets arrive at the same time, the packet from the link that
    /// has sent fewer packets since it was last idle comes first, as in ns-3.
    Scheduled,
}

/// The order of packets that arrive at a port at the same instant, if the same number of packets
/// preceded them on their lines. Equal senders that send at the rate of their lines meet in this
/// way again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalOrder {
    /// The packet that left its host first comes first. If two hosts send without gaps, the packets
    /// of the same host come first each time.
    Source,
    /// The order is drawn for each instant, so that no host is favoured.
    Drawn,
}
