//! A vantage point: its open connections, and the hosts that receive data.

use std::collections::BTreeMap;

use incast_capture::read::{Endpoint, Packet, flags};

use crate::burst::Begin;
use crate::connection::{Around, Connection, Told};
use crate::episode::Episode;
use crate::event::Event;
use crate::hosts::Hosts;
use crate::intake::Intake;
use crate::known::Known;
use crate::numbering::Class;
use crate::outage::Silences;
use crate::parameters::Parameters;
use crate::severity::Blocks;
use crate::stall::{Place, Stall};
use crate::time::{Span, Time};
use crate::vantage::{Evidence, Vantage};

mod judge;

/// Largest number of connections that are kept open, and number of packets between two searches for
/// connections to close.
const MOST: usize = 200_000;
const SWEEP: u64 = 1 << 16;
/// A connection that was silent for this time has ended. The time is longer than any back-off of a
/// timer.
const FORGET: Span = Span::from_secs(300);
/// Largest number of listed items. Further items are only counted.
const LISTED: usize = 100_000;
/// Flows of one burst begin within this time, or within ten round trips.
const TOGETHER: Span = Span::from_millis(1);
/// If the round trip is shorter than this, a host's own delay is as long as the delay of the path.
const NEAR_BY: Span = Span::from_micros(200);
/// A host gets its next request after it has sent a piece of data. Sending a piece takes at least
/// this number of round trips.
const APART: i64 = 3;
/// The round-trip time that is assumed until one has been measured.
const ROUND_TRIP: Span = Span::from_millis(3);

/// Full segments that did not get through on a flow.
#[derive(Clone, Copy, Debug)]
pub struct BlackHole {
    pub sender: Endpoint,
    pub certain: bool,
    pub places: (Place, Place),
}

/// Everything that was seen at one vantage point.
#[derive(Debug, Default)]
pub struct Point {
    connections: BTreeMap<[Endpoint; 2], Known>,
    pub hosts: Hosts,
    pub stalls: Vec<Stall>,
    pub episodes: Vec<Episode>,
    pub blocks: Blocks,
    pub evidence: Evidence,
    pub intake: Intake,
    pub silences: Silences,
    pub black_holes: Vec<BlackHole>,
    pub parameters: Parameters,
    /// Number of connections so far.
    pub opened: u64,
    /// Number of stalls and episodes that are not listed.
    pub unlisted: u64,
    pub packets: u64,
    pub first: Time,
    pub last: Time,
    pub least: usize,
    events: Vec<Event>,
    /// Whether ordinary packets take the short path; only a test turns it off.
    predicts: bool,
    /// Number of packets that have taken the short path.
    #[cfg(test)]
    predicted: u64,
}

impl Point {
    /// Makes an empty point. An episode must have at least `least` flows.
    pub fn new(least: usize) -> Self {
        Self { least, predicts: true, ..Self::default() }
    }

    /// Takes a packet.
    pub fn take(&mut self, packet: &Packet) {
        let now = self.intake.clock(Time::of(packet));
        if self.intake.repeats(packet) {
            self.packets += 1;
            return;
        }
        if now == Time::of(packet) {
            self.take_in_order(packet, now);
        } else {
            self.take_in_order(&Packet { time: now.as_nanos(), ..*packet }, now);
        }
    }

    /// Takes a packet whose time is `now` on a clock that never goes back.
    fn take_in_order(&mut self, packet: &Packet, now: Time) {
        self.count(now);
        let ends = packet.ends();
        let side = usize::from(packet.source != ends[0]);
        let opens = packet.has(flags::SYN) && !packet.has(flags::ACK);
        if opens {
            self.close_before(packet, ends, side);
        }
        let opened = self.opened;
        let known = match self.connections.get_mut(&ends) {
            Some(known) => known,
            None => self.connections.entry(ends).or_insert({
                self.opened += 1;
                let places = ends.map(|end| self.hosts.place(end.address));
                Known::new(Connection::new(self.opened, ends, places, now))
            }),
        };
        let connection = match known {
            Known::Whole(connection) => connection,
            Known::Lone(_) => known.whole(),
        };
        let (intake, numbering) = (&mut self.intake, &mut self.hosts.numbering);
        let Ok(missing) = connection.take_in(packet, side, intake, numbering) else { return };
        let hosts @ [source, target] = [connection.hosts[side], connection.hosts[1 - side]];
        let round_trip = self.parameters.round_trip.unwrap_or(ROUND_TRIP);
        self.silences.take(packet, now);
        let usual = (round_trip, connection.queued(1 - side));
        self.hosts.carry(packet, (source, target), (connection.serial, side), usual);
        let mark = self.hosts.mark(target, now);
        let timer = self.parameters.timer.usual();
        let told = match missing {
            None | Some(0) if self.predicts => {
                connection.ordinary(packet, side, mark, (round_trip, timer))
            }
            _ => None,
        };
        if let Some(told) = told {
            #[cfg(test)]
            {
                self.predicted += 1;
            }
            self.tell(packet, hosts, missing, &told);
        } else {
            let own = self.hosts.mark(source, now);
            let counted = self.hosts.numbering.host(source).class() == Class::PerConnection;
            let around = Around { mark, own, round_trip, missing, counted, timer };
            self.handle(packet, ends, around, self.opened > opened);
        }
        if self.packets.is_multiple_of(SWEEP) {
            self.sweep();
        }
    }

    /// Notes what an ordinary packet from the first of two hosts to the second has told.
    fn tell(&mut self, packet: &Packet, hosts: [usize; 2], missing: Option<u32>, told: &Told) {
        let [source, _] = hosts;
        if packet.payload > 0 && missing.is_some() {
            self.hosts.numbering.host(source).agree();
        }
        self.intake.acknowledged(told.step, 0);
        if let Some(acked) = told.acked {
            self.hosts.receiving(source).acked(acked);
        }
        if let Some(trip) = told.trip {
            self.parameters.trip(trip);
        }
    }

    /// Takes a packet of any kind; `is_first` tells whether it is the first of its connection.
    fn handle(&mut self, packet: &Packet, ends: [Endpoint; 2], around: Around, is_first: bool) {
        let Some(known) = self.connections.get_mut(&ends) else { return };
        let connection = known.whole();
        let (side, serial) = (usize::from(packet.source != ends[0]), connection.serial);
        let hosts = connection.hosts;
        let before = connection.flow(1 - side).bytes.una();
        let mut events = std::mem::take(&mut self.events);
        connection.handle(packet, around, &mut events);
        let votes = connection.votes(side);
        self.hosts.numbering.host(hosts[side]).add(votes);
        self.intake.acknowledged(connection.flow(1 - side).bytes.una() - before, 0);
        let over = connection.over();
        if let Some(trip) = connection.trips().round() {
            self.parameters.trip(trip);
        }
        if is_first {
            known.rest(packet, around);
        }
        self.apply(ends, (serial, hosts), &mut events);
        self.events = events;
        if over && packet.payload == 0 {
            self.close(ends);
        }
    }

    /// Ends the connection between two ends, if a SYN opens another connection between them.
    fn close_before(&mut self, syn: &Packet, ends: [Endpoint; 2], side: usize) {
        let known = self.connections.get_mut(&ends);
        if known.is_some_and(|one| one.whole().ends_before(syn, side)) {
            self.close(ends);
        }
    }

    /// Counts a packet.
    fn count(&mut self, now: Time) {
        if self.packets == 0 {
            self.first = now;
            self.last = now;
            self.hosts.began = now;
        }
        self.packets += 1;
        self.first = self.first.min(now);
        self.last = self.last.max(now);
    }

    /// Whether this point is at a single server, or may be there. It may be there if one host sends
    /// all data, this host's answers come one at a time, and the point is not at the receiver.
    pub fn may_be_at_a_server(&self, vantage: Option<Vantage>) -> bool {
        let alone = self.hosts.busiest().is_some_and(|(_, receiver)| receiver.has_one_sender());
        let one_by_one = alone && self.parameters.fan_in <= 1;
        vantage == Some(Vantage::Server) || vantage == Some(Vantage::Switch) && one_by_one
    }

    /// Whether flows of other hosts may bypass this point. They may if the point may be at a
    /// server. They also may if only one host sends, and the round trip is too short to show at
    /// which end the point is.
    pub fn may_miss_others(&self, vantage: Option<Vantage>) -> bool {
        let alone = self.hosts.busiest().is_some_and(|(_, receiver)| receiver.has_one_sender());
        let near = self.parameters.round_trip.is_none_or(|trip| trip < NEAR_BY);
        self.may_be_at_a_server(vantage) || alone && near
    }

    /// Ends everything that is still open.
    pub fn finish(&mut self) {
        let is_near = |time| self.silences.is_near_last(time);
        let sending = self.connections.values().filter(|known| known.is_sending(is_near)).count();
        self.silences.finish(self.last, sending as u32);
        let all: Vec<_> = self.connections.keys().copied().collect();
        for ends in all {
            self.close(ends);
        }
        let places: Vec<_> = self.hosts.receivers().map(|(place, _)| place).collect();
        for place in places {
            for burst in self.hosts.receiving(place).bursts.finish() {
                self.judge(place, &burst);
            }
        }
        // A stall that is still open belongs to a flow that was in no burst. It counts as a wait
        // for the server.
        for at in 0..self.stalls.len() {
            if self.stalls[at].open {
                let place = self.hosts.place(self.stalls[at].receiver.address);
                self.was_a_wait(at, place);
            }
        }
        if self.intake.leaves_out(&self.intake.lacks(0)) {
            self.silences.lack_answers();
        }
        self.decide_by_numbers();
        self.forget_short_waits();
        self.stalls_in_order();
    }

    /// Forgets connections that have been silent for long. If there are too many connections,
    /// forgets those with the longest silence, too.
    fn sweep(&mut self) {
        let now = self.last;
        let mut silent: Vec<_> = self
            .connections
            .iter()
            .map(|(&ends, known)| (known.last(), ends))
            .filter(|&(last, _)| self.connections.len() > MOST || now - last > FORGET)
            .collect();
        if self.connections.len() > MOST {
            silent.sort_unstable();
            silent.truncate(self.connections.len() - MOST / 2);
        }
        for (_, ends) in silent {
            self.close(ends);
        }
        self.hosts.forget(MOST);
    }

    /// Removes a connection from the list, and ends it.
    fn close(&mut self, ends: [Endpoint; 2]) {
        let Some(mut known) = self.connections.remove(&ends) else { return };
        let connection = known.whole();
        let mut events = std::mem::take(&mut self.events);
        connection.finish(self.last, &mut events);
        let sender = connection.sender();
        if let Some(share) = connection.trips().share(1 - sender) {
            self.evidence.take(connection.flow(sender).bytes.top(), share);
        }
        self.parameters.connection(connection);
        let data = [0, 1].map(|side| connection.flow(side).segments.packets());
        self.intake.connection(data, connection.spoken());
        for side in 0..2 {
            let (bytes, unseen) = connection.flow(side).bytes.left();
            self.intake.left(bytes, unseen);
        }
        self.apply(ends, (connection.serial, connection.hosts), &mut events);
        self.events = events;
    }

    /// Reports the events of flows to their receivers.
    fn apply(
        &mut self,
        ends: [Endpoint; 2],
        (serial, hosts): (u64, [usize; 2]),
        events: &mut Vec<Event>,
    ) {
        for event in events.drain(..) {
            let side = event.side();
            let (sender, target, key) = (ends[side], hosts[1 - side], (serial, side));
            match event {
                Event::Begun { start, first, opens, .. } => {
                    let trip = self.parameters.round_trip.unwrap_or_default();
                    let (window, apart) = ((10 * trip).max(TOGETHER), APART * trip);
                    let it = Begin { start, first, host: hosts[side], key, window, apart };
                    let over = self.hosts.receiving(target).begin(&it, opens);
                    self.judge_all(target, &over);
                }
                Event::Ended { message, .. } => {
                    let over = self.hosts.receiving(target).bursts.end(key, message);
                    self.judge_all(target, &over);
                }
                Event::Stalled { stall, .. } => self.stalled(stall, target, key),
                Event::Resumed { last, how, asks, .. } => self.silences.resumed(last, how, asks),
                Event::AskedAgain { asked, at, in_vain, .. } => {
                    let heard =
                        self.hosts.receiver(hosts[side]).map_or(Time::EVER, |own| own.heard);
                    self.silences.unanswered((heard, asked, at), key);
                    if let Some(before) = in_vain {
                        self.silences.repeated_in_vain((heard, before, at), key);
                    }
                }
                Event::BlackHole { certain, places, .. } if self.black_holes.len() < LISTED => {
                    self.black_holes.push(BlackHole { sender, certain, places });
                }
                Event::Unseen { bytes, .. } => {
                    self.intake.acknowledged(0, bytes);
                    self.hosts.receiving(target).take(&event, sender);
                }
                other => self.hosts.receiving(target).take(&other, sender),
            }
        }
    }

    fn stalled(&mut self, stall: Stall, target: usize, key: (u64, usize)) {
        let receiver = self.hosts.receiving(target);
        if let Some(sent) = receiver.host(stall.sender.address) {
            sent.stalls += 1;
        }
        if self.stalls.len() < LISTED {
            receiver.stalled(key, self.stalls.len(), (stall.start, stall.end), stall.idle);
            let after_quiet = receiver.was_quiet_before(stall.start);
            self.parameters.stall(&stall);
            self.stalls.push(Stall { after_quiet, ..stall });
        } else {
            self.unlisted += 1;
        }
    }
}

#[cfg(test)]
mod ordinary_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire_tests;
