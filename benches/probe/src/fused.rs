//! The same star with one event for a packet and its ACK: the packet's arrival at the switch.
//!
//! The rest of the way is computed in advance, because nothing else can change it. The client's
//! port serves packets in the order in which they arrive at the switch, so the ACKs leave in this
//! order as well. The link from the switch to a sender carries this sender's ACKs only, and the
//! sender reacts to nothing else. No simulator of a star needs fewer events.

use std::collections::VecDeque;

use crate::{ACK, BUFFER, DELAY, Heap, PACE, SEGMENT, WINDOW};

const DATA_TIME: u64 = SEGMENT as u64 * PACE;
const ACK_TIME: u64 = ACK as u64 * PACE;

/// A sender, its link to the switch, and the link back.
#[derive(Default)]
struct Sender {
    /// Times at which its packets on the link arrive at the switch.
    arrivals: VecDeque<u64>,
    link_free_at: u64,
    back_free_at: u64,
    sent: u32,
    acked: u32,
}

impl Sender {
    /// Sends a packet; returns whether it is the only packet on the link.
    fn send(&mut self, now: u64) -> bool {
        self.link_free_at = self.link_free_at.max(now) + DATA_TIME;
        self.sent += 1;
        self.arrivals.push_back(self.link_free_at + DELAY);
        self.arrivals.len() == 1
    }
}

/// The port to the client: departure times of the queued packets.
#[derive(Default)]
struct Port {
    departures: VecDeque<u64>,
    free_at: u64,
    bytes: u64,
}

impl Port {
    /// Takes a packet; returns the time of its departure, or `None` if the buffer is full.
    fn offer(&mut self, now: u64) -> Option<u64> {
        while self.departures.front().is_some_and(|&departs| departs <= now) {
            self.departures.pop_front();
            self.bytes -= u64::from(SEGMENT);
        }
        if self.bytes + u64::from(SEGMENT) > BUFFER {
            return None;
        }
        self.free_at = self.free_at.max(now) + DATA_TIME;
        self.departures.push_back(self.free_at);
        self.bytes += u64::from(SEGMENT);
        Some(self.free_at)
    }
}

/// Returns the packet-hops: four per segment, two of the segment and two of its ACK.
pub fn run(senders: usize, segments: u32) -> u64 {
    let mut flows: Vec<Sender> = (0..senders).map(|_| Sender::default()).collect();
    let (mut port, mut heap) = (Port::default(), Heap::default());
    let mut client_free_at = 0;
    for (id, flow) in flows.iter_mut().enumerate() {
        flow.send(0);
        flow.send(0);
        heap.push((flow.arrivals[0], id as u32));
    }
    let (mut hops, mut done) = (0, 0);
    while let Some(&(now, id)) = heap.0.first() {
        let flow = &mut flows[id as usize];
        flow.arrivals.pop_front();
        if let Some(departs) = port.offer(now) {
            hops += 4;
            client_free_at = client_free_at.max(departs + DELAY) + ACK_TIME;
            flow.back_free_at = flow.back_free_at.max(client_free_at + DELAY) + ACK_TIME;
            let acked_at = flow.back_free_at + DELAY;
            flow.acked += 1;
            done += usize::from(flow.acked == segments);
            while flow.sent < segments && flow.sent - flow.acked < WINDOW.min(2 + flow.acked) {
                flow.send(acked_at);
            }
        }
        match flow.arrivals.front() {
            Some(&next) => heap.replace_first((next, id)),
            None => heap.pop(),
        }
        if done == senders {
            break;
        }
    }
    hops
}
