//! A vantage point: its open connections, and the hosts that receive data.

use std::collections::{BTreeMap, BTreeSet};

use incast_capture::read::{Endpoint, Packet, flags};

use crate::burst::{Begin, Burst};
use crate::connection::{Around, Connection};
use crate::episode::{self, Episode};
use crate::event::Event;
use crate::hosts::Hosts;
use crate::intake::Intake;
use crate::known::Known;
use crate::numbering::Class;
use crate::outage::Silences;
use crate::parameters::Parameters;
use crate::severity::Blocks;
use crate::stall::{Cause, Ended, Place, Stall};
use crate::time::{Span, Time};
use crate::vantage::{Evidence, Vantage};

/// Largest number of connections that are kept open, and number of packets between two searches for
/// connections to close.
const MOST: usize = 200_000;
const SWEEP: u64 = 1 << 16;
/// A connection that was silent for this time has ended. The time is longer than any back-off of a
/// timer.
const FORGET: Span = Span::from_secs(300);
/// Largest number of listed items. Further items are only counted.
const LISTED: usize = 100_000;
/// Confidence in a cause that was decided at the end by the identifications of packets.
const NUMBERED: f64 = 0.9;
/// Confidence that a flow waited for a lost window, if the only evidence is that other flows lost
/// packets during the wait.
const BESIDE: f64 = 0.75;
/// A wait that is shorter than the usual timer divided by this factor was not ended by a timer.
const SHORT: i64 = 4;
/// If a wait is shorter than this and nothing shows a loss, the flow waited for a server.
const LONG: Span = Span::from_millis(150);
/// Flows of one burst begin within this time, or within ten round trips.
const TOGETHER: Span = Span::from_millis(1);
/// The lengths of waits in units of the timer: after one expiry, after two and after three, because
/// the timer doubles.
const BACK_OFFS: [i64; 3] = [1, 3, 7];
/// Timers of one burst differ by at most this fraction (1/n), because round trips differ.
const ALIKE: i64 = 50;
/// If this number of hosts have waits of equal length, timers have ended these waits, because so
/// many slow servers would hardly be late by the same time.
const HOSTS: usize = 3;
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
}

impl Point {
    /// Makes an empty point. An episode must have at least `least` flows.
    pub fn new(least: usize) -> Self {
        Self { least, ..Self::default() }
    }

    /// Takes a packet.
    pub fn take(&mut self, packet: &Packet) {
        let now = self.intake.clock(Time::of(packet));
        if self.intake.repeats(packet) {
            self.packets += 1;
            return;
        }
        let packet = &Packet { time: now.as_nanos(), ..*packet };
        self.count(now);
        let ends = packet.ends();
        let side = usize::from(packet.source != ends[0]);
        let opens = packet.has(flags::SYN) && !packet.has(flags::ACK);
        let known = self.connections.get_mut(&ends);
        if opens && known.is_some_and(|one| one.whole().ends_before(packet, side)) {
            self.close(ends);
        }
        let opened = self.opened;
        let known = self.connections.entry(ends).or_insert_with(|| {
            self.opened += 1;
            let places = ends.map(|end| self.hosts.place(end.address));
            Known::new(Connection::new(self.opened, ends, places, now))
        });
        let is_first = self.opened > opened;
        let connection = known.whole();
        if !take_in(&mut self.intake, connection, packet, side) {
            return;
        }
        let [source, target] = [connection.hosts[side], connection.hosts[1 - side]];
        let missing = connection.missing_before(packet, side, &mut self.hosts.numbering);
        if connection.flow_mut(side).is_old(packet) {
            self.intake.copied(packet);
            return;
        }
        let counted = self.hosts.numbering.host(source).class() == Class::PerConnection;
        let key = (connection.serial, side);
        let round_trip = self.parameters.round_trip.unwrap_or(ROUND_TRIP);
        self.silences.take(packet, now);
        let usual = (round_trip, connection.trips().queued(1 - side));
        let (mark, own) = self.hosts.carry(packet, (source, target), key, usual);
        let timer = self.parameters.timer.usual();
        let around = Around { mark, own, round_trip, missing, counted, timer };
        let before = connection.flow(1 - side).bytes.una();
        let mut events = std::mem::take(&mut self.events);
        connection.handle(packet, around, &mut events);
        let votes = connection.votes(side);
        self.hosts.numbering.host(source).add(votes);
        self.intake.acknowledged(connection.flow(1 - side).bytes.una() - before, 0);
        let over = connection.over();
        if let Some(trip) = connection.trips().round() {
            self.parameters.trip(trip);
        }
        if is_first {
            known.rest(packet, around);
        }
        self.apply(ends, (key.0, connection_hosts(source, target, side)), &mut events);
        self.events = events;
        if over && packet.payload == 0 {
            self.close(ends);
        }
        if self.packets.is_multiple_of(SWEEP) {
            self.sweep();
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

    /// Forgets waits that are much shorter than the usual timer, if this timer is known and not
    /// shorter than `LONG`. Such a short wait ended with a repair that a queue had delayed. Waits
    /// for a lost SYN are kept, because they have another timer.
    fn forget_short_waits(&mut self) {
        let Some(usual) = self.parameters.timer.usual().filter(|usual| *usual >= LONG) else {
            return;
        };
        let is_short = |stall: &Stall| {
            let of_data = stall.ended == Ended::Timeout && stall.cause != Ok(Cause::Handshake);
            of_data && stall.length() * SHORT < usual
        };
        // If an episode has only short stalls, these stalls are kept.
        let all_short = |episode: &&Episode| {
            episode.stalls.iter().all(|&at| is_short(&self.stalls[at]) || self.stalls[at].void)
        };
        let kept: BTreeSet<usize> =
            self.episodes.iter().filter(all_short).flat_map(|one| one.stalls.clone()).collect();
        for (at, stall) in self.stalls.iter_mut().enumerate() {
            stall.void |= is_short(stall) && !kept.contains(&at);
        }
    }

    /// Decides unknown and uncertain causes by the identifications of packets. At the end of the
    /// capture, it is known which packets the identifications count.
    fn decide_by_numbers(&mut self) {
        for stall in &mut self.stalls {
            if let Some(cause) = stall.if_counted
                && (stall.cause.is_err() || stall.confidence <= NUMBERED)
                && self.hosts.counts_connections(stall.sender.address)
            {
                stall.cause = Ok(if cause == Cause::LackOfDupacks && stall.near_end {
                    Cause::Tail
                } else {
                    cause
                });
                stall.confidence = NUMBERED;
            }
        }
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

    fn judge_all(&mut self, place: usize, bursts: &[Burst]) {
        for burst in bursts {
            self.judge(place, burst);
        }
    }

    /// Keeps a burst if it is an episode.
    fn judge(&mut self, place: usize, burst: &Burst) {
        self.parameters.burst(burst);
        self.decide_restarts(place, burst);
        let address = self.hosts.address(place);
        let Some(receiver) = self.hosts.receiver(place) else { return };
        let found = episode::of(burst, &self.stalls, address, &receiver.load, self.least);
        if burst.members.len() >= self.least {
            self.blocks.take(burst, found.as_ref());
        }
        match found {
            Some(episode) if self.episodes.len() < LISTED => self.episodes.push(episode),
            Some(_) => self.unlisted += 1,
            None => {}
        }
    }

    /// Decides the causes of waits after which the flow continued as after the expiry of a timer.
    /// If other flows of the burst lost packets during the wait, the queue has overflowed, so the
    /// waiting flow has lost packets, too. If no other flow lost packets, a short wait is a wait
    /// for the server, and a long wait stays undecided.
    fn decide_restarts(&mut self, place: usize, burst: &Burst) {
        let losses: Vec<(Time, Time)> = burst
            .stalls
            .iter()
            .map(|&at| &self.stalls[at])
            .filter(|stall| stall.cause.is_ok() && stall.ended == Ended::Timeout)
            .map(|stall| (stall.start, stall.end))
            .collect();
        let alike = burst.lost > 0 && self.wait_alike(burst);
        for &at in &burst.stalls {
            let stall = &mut self.stalls[at];
            if !stall.open {
                continue;
            }
            stall.open = false;
            let meanwhile = |&(start, end): &(Time, Time)| start < stall.end && stall.start < end;
            let counted =
                stall.if_counted.filter(|_| self.hosts.counts_connections(stall.sender.address));
            let beside = alike || losses.iter().any(meanwhile);
            let window = (beside && stall.restart).then_some(Cause::FullWindow);
            if let Some(cause) = counted.or(window) {
                stall.cause = Ok(cause);
                stall.confidence = if counted.is_some() { NUMBERED } else { BESIDE };
                self.parameters.stall(stall);
            } else if !beside && (stall.length() < LONG || !stall.restart) {
                self.was_a_wait(at, place);
            }
        }
    }

    /// Whether flows of several hosts restart after the same time, or after three or seven times
    /// this time: the sum of two or three timers that double. Flows that wait for timers restart in
    /// this way, but flows that wait for servers do not.
    fn wait_alike(&self, burst: &Burst) -> bool {
        let open = burst.stalls.iter().map(|&at| &self.stalls[at]);
        let open: Vec<&Stall> = open.filter(|stall| stall.open && stall.restart).collect();
        let Some(shortest) = open.iter().map(|stall| stall.length()).min() else { return false };
        let fits = |stall: &&&Stall| {
            let times = BACK_OFFS.map(|times| times * shortest);
            times
                .iter()
                .any(|&time| stall.length().max(time) - stall.length().min(time) < time / ALIKE)
        };
        let hosts: BTreeSet<_> =
            open.iter().filter(fits).map(|stall| stall.sender.address).collect();
        shortest >= LONG && hosts.len() >= HOSTS && open.iter().all(|stall| fits(&stall))
    }

    /// Turns a stall into a wait for the server.
    fn was_a_wait(&mut self, at: usize, place: usize) {
        let stall = &mut self.stalls[at];
        stall.void = true;
        let (sender, wait) = (stall.sender, stall.as_wait());
        self.hosts.receiving(place).take(&Event::Waited { side: 0, wait }, sender);
    }

    /// Sorts the stalls, and updates the indices of stalls in episodes.
    fn stalls_in_order(&mut self) {
        let stays = |at: &usize| !self.stalls[*at].void;
        let mut order: Vec<usize> = (0..self.stalls.len()).filter(stays).collect();
        order.sort_by_key(|&at| (self.stalls[at].start, self.stalls[at].end));
        let mut place = vec![usize::MAX; self.stalls.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        self.stalls = order.iter().map(|&old| self.stalls[old].clone()).collect();
        for episode in &mut self.episodes {
            for stall in &mut episode.stalls {
                *stall = place[*stall];
            }
            episode.stalls.retain(|stall| *stall != usize::MAX);
        }
        self.episodes.sort_by_key(|episode| (episode.start, episode.end));
    }
}

/// The hosts of the two ends, in the order of the ends.
fn connection_hosts(source: usize, target: usize, side: usize) -> [usize; 2] {
    if side == 0 { [source, target] } else { [target, source] }
}

/// Whether a packet was not in the file before.
fn take_in(intake: &mut Intake, connection: &mut Connection, packet: &Packet, side: usize) -> bool {
    let trip = connection.trips().round();
    connection.speak(side);
    if !intake.take(packet, Time::of(packet), &mut connection.flow_mut(side).trail, trip) {
        return false;
    }
    if connection.is_replay(packet, side) {
        intake.copied(packet);
        return false;
    }
    true
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire_tests;
