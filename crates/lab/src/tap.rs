//! A tap writes a capture of the packets that pass one point of the network.
//!
//! At a host, a packet that the host sends is captured before the host's own queue. A packet that
//! the host receives is captured after its last bit. At a switch, every packet is captured when it
//! enters the switch, before the queues.

mod flows;
mod numbers;
mod offload;
mod stream;
mod truth;
mod vantage;

use std::fmt;
use std::io::{Result, Write};

use incast_capture::wire::{Segment, write_datagram, write_segment};
use incast_capture::write::{About, Capture};
use incast_engine::Time;
use incast_host::milestone::EventRow;
use incast_net::topology::Network;
use incast_net::{Packet, PortId};
use incast_scenario::Scenario;

use crate::probe::Listener;

use flows::Flows;
use offload::Offload;
use truth::Truth;
pub use vantage::Vantage;
use vantage::Watch;

/// The smallest permitted length of cut frames: Ethernet, IPv4 and TCP headers without options.
pub const LEAST_SNAPLEN: u32 = 54;

/// The settings of a requested capture.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The vantage point.
    pub at: Vantage,
    /// Largest number of bytes that the capture keeps of each frame.
    pub snaplen: u32,
    /// Whether comments on packets report the drops and the causes of timeouts.
    pub truth: bool,
    /// Whether a host's segments are merged, as segmentation and receive offloads do.
    pub offload: bool,
}

/// The output to which the file is written. It stores its own write errors.
pub type Output = Box<dyn Write + Send>;

/// A packet as the capture shows it.
#[derive(Clone, Debug)]
struct Seen {
    nanos: u64,
    flow: u32,
    segment: Segment,
    is_datagram: bool,
    comments: Vec<String>,
}

/// Writes packets of a run to a capture.
pub struct Tap {
    flows: Flows,
    watches: Vec<Watch>,
    truth: Option<Truth>,
    offload: Option<Offload>,
    file: File,
}

impl Tap {
    /// Begins a capture of a run of `scenario` with `seed`.
    ///
    /// # Errors
    /// The errors of `out`.
    ///
    /// # Panics
    /// Panics if the vantage point was not [checked](Vantage::check).
    pub fn new(scenario: &Scenario, seed: u64, order: &Order, out: Output) -> Result<Self> {
        let flows = Flows::new(scenario);
        let about = About {
            application: concat!("incast ", env!("CARGO_PKG_VERSION")),
            comment: &format!("simulated, seed {seed}, seen at the {}", order.at),
            interface: &order.at.to_string(),
        };
        let merges = order.offload && order.at != Vantage::Switch;
        Ok(Self {
            watches: order.at.watches(scenario),
            truth: order.truth.then(|| Truth::new(flows.len(), flows.hosts())),
            offload: merges.then(Offload::default),
            file: File {
                capture: Some(Capture::new(out, order.snaplen, &about)?),
                frame: Vec::with_capacity(128),
            },
            flows,
        })
    }

    fn record(&mut self, now: Time, packet: &Packet) {
        let flow = packet.route.flow();
        let Some((segment, is_datagram)) = self.flows.frame(packet) else { return };
        let comments = self.truth.as_mut().map_or_else(Vec::new, |truth| truth.take(flow));
        let seen = Seen { nanos: now.as_picos() / 1000, flow, segment, is_datagram, comments };
        match &mut self.offload {
            None => self.file.write(&seen),
            Some(offload) => offload.take(seen, packet.route.is_forward(), &mut self.file),
        }
    }

    /// Writes the remaining packets.
    pub(crate) fn finish(&mut self) {
        if let Some(offload) = &mut self.offload {
            offload.flush(&mut self.file);
        }
        // If there is an error, the output stores it.
        let _ = self.file.capture.take().map(Capture::finish);
    }
}

impl Listener for Tap {
    fn after_offer(&mut self, now: Time, port: PortId, packet: &Packet, _: &Network) {
        if self.flows.is_uplink(port) {
            self.flows.on_sent(packet);
        }
        if self.watches[port.0 as usize] == Watch::Entry {
            self.record(now, packet);
        }
    }

    fn on_arrival(&mut self, now: Time, port: PortId, packet: &Packet) {
        if self.flows.is_downlink(port) {
            self.flows.on_received(packet);
        }
        if self.watches[port.0 as usize] == Watch::End {
            self.record(now, packet);
        }
        if self.flows.is_downlink(port) {
            self.flows.on_gone(packet);
        }
    }

    fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        if !self.flows.is_uplink(port) {
            self.flows.on_gone(packet);
        }
        if let Some(truth) = &mut self.truth {
            truth.on_drop(now, port, packet);
        }
    }

    fn on_event(&mut self, row: EventRow) {
        if let Some(truth) = &mut self.truth {
            truth.on_event(&row);
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").finish_non_exhaustive()
    }
}

/// The capture file. After a write error, nothing more is written; the output stores the error.
struct File {
    capture: Option<Capture<Output>>,
    frame: Vec<u8>,
}

impl File {
    fn write(&mut self, seen: &Seen) {
        let Some(capture) = &mut self.capture else { return };
        let build = if seen.is_datagram { write_datagram } else { write_segment };
        let length = build(&seen.segment, &mut self.frame);
        if capture.frame(seen.nanos, &self.frame, length, &seen.comments).is_err() {
            self.capture = None;
        }
    }
}
