//! The servers' links: packets that have been sent and are not at the switch yet.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use crate::packet::{Kind, NEVER, Packet, Ticks};
use crate::timeline::Timeline;

/// Back-to-back packets on the same link.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Arrival times of the first and the last packet.
    at: Ticks,
    end: Ticks,
    /// The first packet.
    packet: Packet,
    count: u32,
    /// Number of packets that precede the first packet on the link.
    ahead: u32,
}

impl Run {
    /// Orders simultaneous arrivals: the packet with fewer packets before it on its link is first.
    /// A burst therefore does not displace single packets.
    fn key(&self) -> Reverse<u128> {
        let place = u64::from(self.ahead) << 32 | u64::from(self.packet.who);
        Reverse(u128::from(self.at) << 64 | u128::from(place))
    }
}

/// One server's link.
#[derive(Clone, Debug, Default)]
struct Link {
    /// When the link becomes idle.
    free: Ticks,
    /// The packets on the link, except single packets.
    runs: VecDeque<Run>,
}

/// The links of all servers.
#[derive(Debug)]
pub struct Links {
    /// When the next packet arrives.
    pub due: Ticks,
    /// Full packets that were sent while their link was idle.
    singles: Timeline<Packet>,
    each: Vec<Link>,
    /// The first run of each link.
    firsts: BinaryHeap<Reverse<u128>>,
    /// Transmission time of a full packet.
    full: Ticks,
}

impl Links {
    /// `count` idle links, on which a full packet takes `full`.
    pub fn new(count: usize, full: Ticks) -> Self {
        Self {
            due: NEVER,
            singles: Timeline::new(),
            each: vec![Link::default(); count],
            firsts: BinaryHeap::with_capacity(count),
            full,
        }
    }

    /// Sends `count` packets back to back, each of which takes `time`.
    #[inline]
    pub fn send(&mut self, now: Ticks, packet: Packet, count: u32, time: Ticks) {
        // The packet is read field by field, which avoids a copy through memory.
        let Packet { sent, mut segment, who, kind } = packet;
        let link = &mut self.each[who as usize];
        let is_single = link.free <= now && kind == Kind::Full;
        if is_single {
            let at = now + time;
            link.free = at;
            self.singles.push(at, Packet { sent, segment, who, kind });
            self.due = self.due.min(at);
            segment += 1;
        }
        let rest = count - u32::from(is_single);
        if rest > 0 {
            self.append(now, Packet { sent, segment, who, kind }, rest, time);
        }
    }

    #[inline(never)]
    fn append(&mut self, now: Ticks, packet: Packet, count: u32, time: Ticks) {
        let link = &mut self.each[packet.who as usize];
        let start = link.free.max(now);
        let end = start + time * Ticks::from(count);
        link.free = end;
        if let Some(last) = link.runs.back_mut()
            && last.end == start
            && last.packet.segment + last.count == packet.segment
            && (last.packet.sent, last.packet.kind) == (packet.sent, packet.kind)
        {
            last.count += count;
            last.end = end;
            return;
        }
        let ahead = (start - now).div_ceil(self.full) as u32;
        let run = Run { at: start + time, end, packet, count, ahead };
        link.runs.push_back(run);
        if link.runs.len() == 1 {
            self.firsts.push(run.key());
            self.due = self.due.min(run.at);
        }
    }

    /// The next packet to arrive. A packet must be due.
    #[inline]
    pub fn pop(&mut self) -> Packet {
        if self.singles.due == self.due {
            let packet = self.singles.pop();
            let run = self.firsts.peek().map_or(NEVER, |it| (it.0 >> 64) as Ticks);
            self.due = self.singles.due.min(run);
            return packet;
        }
        self.pop_run().unwrap_or_default()
    }

    #[inline(never)]
    fn pop_run(&mut self) -> Option<Packet> {
        let mut first = self.firsts.peek_mut()?;
        let runs = &mut self.each[first.0 as u32 as usize].runs;
        let run = runs.front_mut()?;
        let packet = run.packet;
        if run.count > 1 {
            run.count -= 1;
            run.packet.segment += 1;
            run.at += self.full;
            run.ahead += 1;
            *first = run.key();
            drop(first);
        } else {
            runs.pop_front();
            if let Some(run) = runs.front() {
                *first = run.key();
                drop(first);
            } else {
                PeekMut::pop(first);
            }
        }
        let run = self.firsts.peek().map_or(NEVER, |it| (it.0 >> 64) as Ticks);
        self.due = self.singles.due.min(run);
        Some(packet)
    }
}
