//! Times in which no packet arrived from any host, and the packets with which the flows continued.

use std::collections::BTreeSet;

use incast_capture::read::{Packet, flags};

use crate::burst::Key;
use crate::event::Resumed;
use crate::time::{Span, Time};

/// The shortest silence of all flows that can be an outage. A shorter silence is a pause of the
/// application or an ordinary timer.
const LEAST: Span = Span::from_millis(50);
/// A flow was sending before a silence if its last data came at most this time before the silence.
const JUST: Span = Span::from_millis(50);
/// Minimum number of flows that continue with data that were already acknowledged. With fewer
/// flows, each flow may have lost only one ACK.
const FLOWS: u32 = 3;
/// Minimum percentage of flows that continue with old bytes, among all flows that continue.
const SHARE: u32 = 80;
/// If an answer is missing for longer than this, it was lost, because stacks delay an ACK by 40 to
/// 200 ms.
const HELD: Span = Span::from_millis(300);
/// If requests are repeated on this number of flows, an outage is possible.
const SOME: u32 = 2;
const LISTED: usize = 64;

/// A silence of all flows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    pub start: Time,
    pub end: Time,
    /// Time of the last packet of data in the silence: a useless retransmission, or the packet at
    /// the start.
    last: Time,
    /// Numbers of flows that were sending before the silence, by the bytes with which they
    /// continued: acknowledged bytes, other old or missing bytes, and new bytes.
    acknowledged: u32,
    again: u32,
    fresh: u32,
    /// Number of flows in `acknowledged` and `again` that carry no requests.
    told: u32,
    /// Number of flows on which a host repeated a request without having received any packet since
    /// the first request.
    unanswered: u32,
    /// Number of flows that retransmitted during the silence, all without an answer.
    in_vain: u32,
    /// Whether any packet without data came since the silence ended.
    answered: bool,
    /// Whether the silence lasts to the end of the capture.
    pub to_end: bool,
}

impl Silence {
    /// Whether the path was out. If acknowledged data come again, neither direction worked. `None`
    /// if the capture shows only that data were lost.
    pub fn is_outage(&self) -> Option<bool> {
        if self.unanswered >= FLOWS || self.lost_repeats() {
            return Some(true); // a full queue would let some answers through
        }
        if self.unanswered > 0 {
            return None;
        }
        let repeated = self.acknowledged + self.again;
        let all = repeated + self.fresh;
        let most = repeated > 0 && repeated * 100 >= all * SHARE;
        if !most {
            return if self.acknowledged >= FLOWS { None } else { Some(false) };
        }
        (self.acknowledged >= FLOWS && 2 * self.acknowledged >= repeated).then_some(true)
    }

    /// Whether several flows retransmitted during the silence without an answer, and all of them
    /// retransmit once more. A queue that was idle for so long would have had room for some of
    /// these packets.
    pub fn lost_repeats(&self) -> bool {
        self.in_vain >= FLOWS && self.fresh == 0 && self.told >= FLOWS
    }

    /// Whether flows only retransmitted after the silence, because their packets from before the
    /// silence had not arrived.
    fn is_in_vain(&self) -> bool {
        let only_repeats = self.again > 0 && self.fresh + self.unanswered == 0;
        let unheard = self.acknowledged == 0 || !self.answered;
        only_repeats && unheard && self.is_outage() != Some(true)
    }

    /// Number of flows that continued with bytes that they had sent before.
    pub fn repeated(&self) -> u32 {
        (self.acknowledged + self.again).max(self.unanswered).max(self.in_vain)
    }
}

/// The silences of a point.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    last: Option<Time>,
    all: Vec<Silence>,
    /// The time since which a host has received no packet, and the flows on which the host has
    /// repeated a request since then.
    unanswered: (Time, BTreeSet<Key>),
    /// As `unanswered`, but with further flows: the host sent the first request on these flows
    /// shortly before that time.
    silent: (Time, BTreeSet<Key>),
    doubtful: Option<Silence>,
    /// The flows on which a repeated request was repeated once more, since a time.
    in_vain: (Time, BTreeSet<Key>),
    unheard: Vec<(Time, Time)>,
}

impl Silences {
    /// Takes a packet of any flow.
    pub fn take(&mut self, packet: &Packet, now: Time) {
        if packet.payload > 0 {
            self.data(now);
        } else if !packet.has(flags::SYN) {
            self.answer();
        }
    }

    /// Takes a packet of data of any flow.
    pub fn data(&mut self, now: Time) {
        let last = self.last.replace(now);
        if let Some(start) = last
            && now - start > LEAST
        {
            // Retransmissions that nobody has answered are a part of the silence.
            let before = self.all.pop_if(|one| one.is_in_vain() && start - one.end <= JUST);
            let mut silence = Silence { start, end: now, last: start, ..Silence::default() };
            if let Some(one) = before {
                silence.start = one.start;
                silence.in_vain = one.in_vain;
                if one.answered {
                    silence.last = one.last;
                } else if now - start > HELD {
                    silence.in_vain = one.in_vain.max(one.told);
                }
            }
            self.add(silence);
        }
    }

    fn add(&mut self, silence: Silence) {
        if self.all.len() < LISTED {
            self.all.push(silence);
        }
    }

    /// Notes a packet without data, which answers a packet of any flow.
    pub fn answer(&mut self) {
        if let Some(silence) = self.all.last_mut() {
            silence.answered = true;
        }
    }

    /// Notes that a flow whose last data came at `last` continues. `asks` is true if the flow
    /// carries requests. A server may send no ACK for a request until it has the answer.
    pub fn resumed(&mut self, last: Time, how: Resumed, asks: bool) {
        let Some(silence) = self.all.last_mut() else { return };
        if last > silence.last || last < silence.start - JUST {
            return;
        }
        match how {
            // The lost packets may be the answers that acknowledged a request.
            Resumed::Acknowledged if asks => silence.again += 1,
            Resumed::Acknowledged => silence.acknowledged += 1,
            Resumed::Again => silence.again += 1,
            Resumed::New => silence.fresh += 1,
        }
        silence.told += u32::from(how != Resumed::New && !asks);
    }

    /// Notes that a host repeats a request on a flow at `now`. The host first sent the request at
    /// `asked`, and last received a packet at `heard`.
    pub fn unanswered(&mut self, (heard, asked, now): (Time, Time, Time), flow: Key) {
        // A packet that came in the first quarter of the wait may have been in the network already.
        if now - asked < LEAST || heard > asked && 4 * (now - heard) < 3 * (now - asked) {
            return;
        }
        let silence = |unanswered| {
            let start = asked.max(heard);
            Silence { start, end: now, last: start, unanswered, ..Silence::default() }
        };
        if count(&mut self.silent, heard, flow) == SOME {
            self.doubtful.get_or_insert(silence(SOME));
        }
        if heard < asked && count(&mut self.unanswered, heard, flow) == FLOWS {
            self.add(silence(FLOWS));
        }
    }

    /// Notes that the capture ends at `now`. `sending` is the number of open flows that sent data
    /// shortly before the last data of all flows.
    pub fn finish(&mut self, now: Time, sending: u32) {
        if let Some(start) = self.last
            && now - start > LEAST
            && sending >= FLOWS
        {
            let silence =
                Silence { start, end: now, last: start, to_end: true, ..Silence::default() };
            self.doubtful.get_or_insert(silence);
        }
    }

    /// Whether data at this time came shortly before the last data of all flows.
    pub fn is_near_last(&self, time: Time) -> bool {
        self.last.is_some_and(|last| last - time <= JUST)
    }

    /// Notes that a host repeats a request on a flow at `now`, because the repeat at `before` was
    /// not answered. The host last received a packet at `heard`. If it received one soon after
    /// `before`, answers to several repeats may have overflowed a queue.
    pub fn repeated_in_vain(&mut self, (heard, before, now): (Time, Time, Time), flow: Key) {
        if heard > before && 4 * (heard - before) < 3 * (now - before) {
            return;
        }
        let (since, flows) = &mut self.in_vain;
        if now - *since > JUST {
            *since = now;
            flows.clear();
        }
        if flows.insert(flow) && flows.len() as u32 == SOME && self.unheard.len() < LISTED {
            self.unheard.push((before, now));
        }
    }

    /// Times in which requests were repeated on several flows, and no packet answered any of them. A
    /// server answers a repeated request at once, and a queue that overflowed before is empty by
    /// then.
    pub fn unheard(&self) -> &[(Time, Time)] {
        &self.unheard
    }

    /// A silence that may or may not be an outage: a host repeated requests, or the capture ends.
    pub fn doubtful(&self) -> Option<&Silence> {
        self.doubtful.as_ref()
    }

    /// Forgets retransmissions without an answer, because answers are missing in the file.
    pub fn lack_answers(&mut self) {
        self.all.iter_mut().for_each(|silence| silence.in_vain = 0);
    }

    /// All silences.
    pub fn all(&self) -> &[Silence] {
        &self.all
    }
}

/// Adds a flow to the set of flows counted since `time`, and returns the size of the set. A new
/// time replaces the old time and its flows.
fn count((since, flows): &mut (Time, BTreeSet<Key>), time: Time, flow: Key) -> u32 {
    if *since != time {
        *since = time;
        flows.clear();
    }
    flows.insert(flow);
    flows.len() as u32
}

#[cfg(test)]
mod tests;
