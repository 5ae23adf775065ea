//! Decisions on bursts and stalls: which bursts are episodes, and what flows waited for if no packet
//! shows it.

use std::collections::BTreeSet;

use super::{LISTED, Point};
use crate::burst::Burst;
use crate::episode::{self, Episode};
use crate::event::Event;
use crate::stall::{Cause, Ended, Stall};
use crate::time::{Span, Time};

/// Confidence in a cause that was decided at the end by the identifications of packets.
const NUMBERED: f64 = 0.9;
/// Confidence that a flow waited for a lost window, if the only evidence is that other flows lost
/// packets during the wait.
const BESIDE: f64 = 0.75;
/// A wait that is shorter than the usual timer divided by this factor was not ended by a timer.
const SHORT: i64 = 4;
/// If a wait is shorter than this and nothing shows a loss, the flow waited for a server.
const LONG: Span = Span::from_millis(150);
/// The lengths of waits in units of the timer: after one expiry, after two and after three, because
/// the timer doubles.
const BACK_OFFS: [i64; 3] = [1, 3, 7];
/// Timers of one burst differ by at most this fraction (1/n), because round trips differ.
const ALIKE: i64 = 50;
/// If this number of hosts have waits of equal length, timers have ended these waits, because so
/// many slow servers would hardly be late by the same time.
const HOSTS: usize = 3;

impl Point {
    /// Forgets waits that are much shorter than the usual timer, if this timer is known and not
    /// shorter than `LONG`. Such a short wait ended with a repair that a queue had delayed. Waits
    /// for a lost SYN are kept, because they have another timer.
    pub(super) fn forget_short_waits(&mut self) {
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
    pub(super) fn decide_by_numbers(&mut self) {
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

    pub(super) fn judge_all(&mut self, place: usize, bursts: &[Burst]) {
        for burst in bursts {
            self.judge(place, burst);
        }
    }

    /// Keeps a burst if it is an episode.
    pub(super) fn judge(&mut self, place: usize, burst: &Burst) {
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
    pub(super) fn decide_restarts(&mut self, place: usize, burst: &Burst) {
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
    pub(super) fn was_a_wait(&mut self, at: usize, place: usize) {
        let stall = &mut self.stalls[at];
        stall.void = true;
        let (sender, wait) = (stall.sender, stall.as_wait());
        self.hosts.receiving(place).take(&Event::Waited { side: 0, wait }, sender);
    }

    /// Sorts the stalls, and updates the indices of stalls in episodes.
    pub(super) fn stalls_in_order(&mut self) {
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
