//! A vantage point: the connections that are open there, and the hosts that data goes to.

use std::collections::BTreeMap;

use incast_capture::read::{Address, Endpoint, Packet, flags};

use crate::chain::Timer;
use crate::connection::{Around, Connection};
use crate::episode::{self, Episode};
use crate::event::Event;
use crate::ids::Votes;
use crate::load::Mark;
use crate::parameters::Parameters;
use crate::receiver::{Burst, Receiver};
use crate::stall::Stall;
use crate::vantage::Evidence;

/// Connections that are kept open, and packets between two looks for those that are not.
const MOST: usize = 200_000;
const SWEEP: u64 = 1 << 16;
/// A connection that was silent for so long has ended: longer than any back-off of a timer.
const FORGET: i64 = 300_000_000_000;
/// What is listed; beyond it, it is counted.
const LISTED: usize = 100_000;

/// All that was seen at one place.
#[derive(Debug, Default)]
pub struct Point {
    connections: BTreeMap<[Endpoint; 2], Connection>,
    pub receivers: BTreeMap<Address, Receiver>,
    pub stalls: Vec<Stall>,
    pub episodes: Vec<Episode>,
    pub evidence: Evidence,
    /// Whether packets are counted, by all connections.
    votes: Votes,
    timer: Timer,
    pub parameters: Parameters,
    /// Connections so far.
    pub opened: u64,
    /// Stalls and episodes beyond the lists.
    pub unlisted: u64,
    pub packets: u64,
    pub first: i64,
    pub last: i64,
    pub least: usize,
    events: Vec<Event>,
}

impl Point {
    /// An empty one; an episode has at least so many flows.
    pub fn new(least: usize) -> Self {
        Self { least, ..Self::default() }
    }

    /// Takes a packet.
    pub fn take(&mut self, packet: &Packet) {
        if self.packets == 0 {
            self.first = packet.time;
        }
        self.packets += 1;
        self.last = self.last.max(packet.time);
        let ends = [packet.source.min(packet.target), packet.source.max(packet.target)];
        let opens = packet.has(flags::SYN) && !packet.has(flags::ACK);
        if opens && self.connections.get(&ends).is_some_and(Connection::over) {
            self.close(ends);
        }
        let connection = self.connections.entry(ends).or_insert_with(|| {
            self.opened += 1;
            Connection::new(self.opened, ends, packet.time)
        });
        let side = usize::from(packet.source != ends[0]);
        let key = (connection.serial, side);
        let mut mark = Mark::default();
        let round_trip = self.parameters.round_trip.unwrap_or(3_000_000);
        if packet.payload > 0 {
            let receiver = self.receivers.entry(packet.target.address).or_default();
            let usual = (round_trip, connection.queued(1 - side));
            receiver.packet((packet.time, packet.size), key, packet.source.address, usual);
            mark = receiver.load.mark();
        }
        let counted = self.votes.counted() == Some(true);
        let timer = self.timer.usual();
        let around = Around { mark, round_trip, counted, timer };
        let mut events = std::mem::take(&mut self.events);
        connection.handle(packet, around, &mut events);
        self.votes.add(connection.flows[side].ids.collect());
        let over = connection.over();
        if let Some(trip) = connection.round_trip() {
            self.parameters.trip(trip);
        }
        self.apply(ends, key.0, &mut events);
        self.events = events;
        if over && packet.payload == 0 {
            self.close(ends);
        }
        if self.packets.is_multiple_of(SWEEP) {
            self.sweep();
        }
    }

    /// Ends what is still open.
    pub fn finish(&mut self) {
        let all: Vec<_> = self.connections.keys().copied().collect();
        for ends in all {
            self.close(ends);
        }
        let addresses: Vec<_> = self.receivers.keys().copied().collect();
        for address in addresses {
            let Some(receiver) = self.receivers.get_mut(&address) else { continue };
            for burst in std::mem::take(&mut receiver.bursts) {
                self.judge(address, &burst);
            }
        }
        self.stalls_in_order();
    }

    /// Forgets connections that are silent, and the longest silent ones of too many.
    fn sweep(&mut self) {
        let now = self.last;
        let mut silent: Vec<_> = self
            .connections
            .iter()
            .map(|(&ends, connection)| (connection.last, ends))
            .filter(|&(last, _)| self.connections.len() > MOST || now - last > FORGET)
            .collect();
        if self.connections.len() > MOST {
            silent.sort_unstable();
            silent.truncate(self.connections.len() - MOST / 2);
        }
        for (_, ends) in silent {
            self.close(ends);
        }
        if self.receivers.len() > MOST {
            self.receivers.retain(|_, receiver| receiver.messages > 2);
        }
    }

    /// Takes a connection out.
    fn close(&mut self, ends: [Endpoint; 2]) {
        let Some(mut connection) = self.connections.remove(&ends) else { return };
        let mut events = std::mem::take(&mut self.events);
        connection.finish(&mut events);
        self.evidence.take(&connection);
        self.parameters.connection(&connection);
        self.apply(ends, connection.serial, &mut events);
        self.events = events;
    }

    /// Tells the receivers what has happened to their flows.
    fn apply(&mut self, ends: [Endpoint; 2], serial: u64, events: &mut Vec<Event>) {
        for event in events.drain(..) {
            let side = event.side();
            let (sender, target, key) = (ends[side], ends[1 - side].address, (serial, side));
            let receiver = self.receivers.entry(target).or_default();
            match event {
                Event::Begun { start, opens, .. } => {
                    let window = (10 * self.parameters.round_trip.unwrap_or(0)).max(1_000_000);
                    let over = receiver.begin((start, sender.address), key, (window, opens));
                    self.judge_all(target, &over);
                }
                Event::Ended { message, .. } => {
                    let over = receiver.end(key, message);
                    self.judge_all(target, &over);
                }
                Event::Stalled { stall, .. } => {
                    if let Some(sent) = receiver.host(sender.address) {
                        sent.stalls += 1;
                    }
                    if self.stalls.len() < LISTED {
                        receiver.stalled(key, self.stalls.len(), (stall.start, stall.end));
                        self.parameters.stall(&stall);
                        self.stalls.push(stall);
                    } else {
                        self.unlisted += 1;
                    }
                }
                Event::Silent { length, .. } => self.timer.take(length),
                Event::Waited { wait, .. } => receiver.waited(wait, sender),
                Event::Lost { packets, .. } => {
                    receiver.losses.lost(packets);
                    if let Some(sent) = receiver.host(sender.address) {
                        sent.lost += u64::from(packets);
                    }
                }
                Event::Reordered { .. } => receiver.losses.found(),
                Event::Unseen { bytes, .. } => {
                    receiver.unseen.0 = receiver.unseen.0.saturating_add(bytes);
                    receiver.unseen.1 += 1;
                }
                Event::Acked { full, bytes, at, .. } => {
                    if bytes > 0 {
                        receiver.taken(at, bytes);
                    }
                    receiver.acks += 1;
                    receiver.full_acks += u64::from(full);
                }
                Event::Round { full, .. } => {
                    receiver.rounds += 1;
                    receiver.full += u64::from(full);
                }
            }
        }
    }

    fn judge_all(&mut self, address: Address, bursts: &[Burst]) {
        for burst in bursts {
            self.judge(address, burst);
        }
    }

    /// Keeps a burst if it is an episode.
    fn judge(&mut self, address: Address, burst: &Burst) {
        self.parameters.burst(burst);
        let Some(receiver) = self.receivers.get(&address) else { return };
        let found = episode::of(burst, &self.stalls, address, &receiver.load, self.least);
        match found {
            Some(episode) if self.episodes.len() < LISTED => self.episodes.push(episode),
            Some(_) => self.unlisted += 1,
            None => {}
        }
    }

    /// Sorts the stalls, and renumbers those of episodes.
    fn stalls_in_order(&mut self) {
        let mut order: Vec<usize> = (0..self.stalls.len()).collect();
        order.sort_by_key(|&at| (self.stalls[at].start, self.stalls[at].end));
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        self.stalls = order.iter().map(|&old| self.stalls[old].clone()).collect();
        for episode in &mut self.episodes {
            for stall in &mut episode.stalls {
                *stall = place[*stall];
            }
        }
        self.episodes.sort_by_key(|episode| (episode.start, episode.end));
    }
}
