//! Facts that only the simulator knows, as comments on the next packet of a flow.

use incast_engine::Time;
use incast_host::milestone::{EventKind, EventRow};
use incast_net::{Flags, Packet, PortId};

/// The largest number of comments of a flow that wait for a packet. Further comments are only
/// counted.
const MOST: usize = 64;

/// Comments of one flow.
#[derive(Clone, Debug, Default)]
struct Waiting {
    comments: Vec<String>,
    /// Number of comments that did not fit.
    more: u32,
}

/// The waiting comments of each flow.
pub struct Truth {
    waiting: Vec<Option<Box<Waiting>>>,
    hosts: u32,
}

impl Truth {
    pub fn new(flows: usize, hosts: u32) -> Self {
        Self { waiting: vec![None; flows], hosts }
    }

    /// The comments of the next packet of `flow`.
    pub fn take(&mut self, flow: u32) -> Vec<String> {
        let Some(waiting) = self.waiting[flow as usize].take() else { return Vec::new() };
        let Waiting { mut comments, more } = *waiting;
        if more > 0 {
            comments.push(format!("{more} more"));
        }
        comments
    }

    pub fn on_drop(&mut self, now: Time, port: PortId, packet: &Packet) {
        let at = if port.0 >= 2 * self.hosts {
            "between switches".to_owned()
        } else {
            let [_, b, c, d] = (0x0a00_0001 + port.0 / 2).to_be_bytes();
            format!("at the port to 10.{b}.{c}.{d}")
        };
        let what = if packet.flags.contains(Flags::SYN) {
            "SYN".to_owned()
        } else if packet.flags.contains(Flags::REQUEST) {
            "request".to_owned()
        } else if packet.payload > 0 {
            format!("{} bytes from {}", packet.payload, packet.seq)
        } else {
            format!("ACK {}", packet.ack)
        };
        self.add(packet.route.flow(), format!("drop of {what} at {now}, {at}"));
    }

    pub fn on_event(&mut self, row: &EventRow) {
        if row.kind != EventKind::Timeout {
            return;
        }
        let (Some(flow), Some(cause)) = (row.flow, row.cause) else { return };
        let rto = row.rto.map_or_else(String::new, |rto| format!(" after {rto}"));
        let (cause, now, seq) = (cause.name(), row.time, row.seq);
        let comment = format!("timeout: {cause} at {now}{rto}, first unacknowledged {seq}");
        self.add(flow, comment);
    }

    fn add(&mut self, flow: u32, comment: String) {
        let waiting = self.waiting[flow as usize].get_or_insert_default();
        if waiting.comments.len() < MOST {
            waiting.comments.push(comment);
        } else {
            waiting.more += 1;
        }
    }
}
