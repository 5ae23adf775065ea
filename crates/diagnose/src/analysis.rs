//! The whole of a capture: its vantage points, and the report.

use std::collections::BTreeSet;

use incast_capture::read::{End, Merge, Packet};

use crate::chain;
use crate::episode::Episode;
use crate::load::BIN;
use crate::look_alikes::{self, LookAlike};
use crate::point::Point;
use crate::report::{
    CannotTell, EpisodeTold, FileTold, ParametersTold, Report, StallTold, seconds,
};
use crate::stall::Stall;
use crate::vantage::Vantage;

/// What may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where the capture was taken, if it must not be guessed.
    pub vantage: Option<Vantage>,
    /// Flows that make an episode.
    pub flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { vantage: None, flows: 3 }
    }
}

/// Reads packets, and keeps what is open.
#[derive(Debug, Default)]
pub struct Analysis {
    options: Options,
    points: Vec<Point>,
}

impl Analysis {
    /// An empty one.
    pub fn new(options: Options) -> Self {
        Self { options, points: Vec::new() }
    }

    /// Takes the next packet.
    pub fn take(&mut self, packet: &Packet) {
        let at = usize::from(packet.point);
        while self.points.len() <= at {
            self.points.push(Point::new(self.options.flows));
        }
        self.points[at].take(packet);
    }

    /// Ends, and says what was found.
    pub fn finish(mut self, files: &Merge) -> Report {
        for point in &mut self.points {
            point.finish();
        }
        let told: Vec<FileTold> = files.files().map(file).collect();
        let drops = files.files().map(|(_, tally, _)| tally.dropped).sum();
        let vantage = |point: &Point| self.options.vantage.or_else(|| point.evidence.vantage());
        // What a client sees says most of an episode, what a server sees least.
        let rank = |point: &&Point| match vantage(point) {
            Some(Vantage::Client) => 3,
            Some(Vantage::Switch) => 2,
            Some(Vantage::Server) => 1,
            None => 0,
        };
        let Some(lead) = self.points.iter().max_by_key(rank) else { return empty(told) };
        let place = vantage(lead);
        let look_alikes = look_alikes::all(lead, place, drops);
        let others = self.points.iter().filter(|point| !std::ptr::eq(*point, lead));
        let stalls = stalls(lead, others);
        let random = found(&look_alikes, "bad_link") || found(&look_alikes, "path");
        let episodes: &[Episode] = if random { &[] } else { &lead.episodes };
        let began = self.points.iter().map(|point| point.first).min().unwrap_or(0);
        let ended = self.points.iter().map(|point| point.last).max().unwrap_or(0);
        let (incast, why) = verdict(lead, place, episodes, &stalls, &look_alikes);
        Report {
            incast,
            why,
            vantage: place,
            episodes: episodes.iter().map(|episode| told_of(episode, lead, began)).collect(),
            stalls: stalls.iter().map(|stall| StallTold::new(stall, began)).collect(),
            look_alikes,
            cannot_tell: cannot_tell(lead, place, &stalls),
            parameters: parameters(lead, place),
            files: told,
            began_s: seconds(began),
            length_s: seconds(ended - began),
            packets: self.points.iter().map(|point| point.packets).sum(),
            connections: lead.opened,
            unlisted: lead.unlisted,
        }
    }
}

/// The stalls of the leading point, and those of others that it has not seen.
fn stalls<'a>(lead: &Point, others: impl Iterator<Item = &'a Point>) -> Vec<Stall> {
    let mut all = lead.stalls.clone();
    for point in others {
        for stall in &point.stalls {
            let same = |known: &&mut Stall| {
                known.sender == stall.sender
                    && known.receiver == stall.receiver
                    && known.start < stall.end
                    && stall.start < known.end
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    let surer = stall.cause.is_ok() && stall.confidence > known.confidence;
                    if surer || known.cause.is_err() && stall.cause.is_ok() {
                        known.cause = stall.cause;
                        known.confidence = stall.confidence;
                    }
                }
                None => all.push(stall.clone()),
            }
        }
    }
    let mut all = chain::split(all);
    all.sort_by_key(|stall| (stall.start, stall.end));
    all
}

fn found(look_alikes: &[LookAlike], name: &str) -> bool {
    look_alikes.iter().any(|one| one.name == name && one.found == Some(true))
}

/// A bad link seldom stops more flows of one burst than this.
const ALONE: usize = 2;

/// Whether there is incast, and why.
fn verdict(
    lead: &Point,
    vantage: Option<Vantage>,
    episodes: &[Episode],
    stalls: &[Stall],
    look_alikes: &[LookAlike],
) -> (Option<bool>, String) {
    if let Some(worst) = episodes.iter().max_by_key(|episode| episode.lost) {
        let lost: i64 = episodes.iter().map(|episode| episode.lost).sum();
        let (waiting, waited) = (stalled(worst, lead).len(), seconds(worst.lost));
        let text = format!(
            "{} flows into {} begin together and fill the link, which then idles for {waited:.3} s \
             while {waiting} of them wait",
            worst.fan_in, worst.receiver,
        );
        let text = match episodes.len() {
            1 => text,
            count => format!(
                "in {count} episodes the link idles for {:.3} s; in the worst, {text}",
                seconds(lost)
            ),
        };
        let alone = episodes.iter().all(|episode| stalled(episode, lead).len() <= ALONE);
        let receiver = lead.receivers.get(&worst.receiver).filter(|_| alone);
        if let Some(receiver) = receiver.filter(|one| look_alikes::may_be_a_bad_link(one)) {
            let count = receiver.losses.count();
            let doubt = format!(
                "{text}; but {count} lost packets, {:.2} % of all, do not show whether a full \
                 queue or a bad link has dropped them",
                100.0 * receiver.losses.ratio()
            );
            return (None, doubt);
        }
        return (Some(true), text);
    }
    let names: Vec<&str> =
        look_alikes.iter().filter(|one| one.found == Some(true)).map(|one| one.name).collect();
    let instead = match names.len() {
        0 => String::new(),
        _ => format!("; found instead: {}", names.join(", ")),
    };
    if lead.packets == 0 {
        return (None, "there is no TCP packet in the capture".to_owned());
    }
    if vantage == Some(Vantage::Server) {
        let text = "the other servers are not seen at a server, so the number of flows is unknown";
        return match stalls.len() {
            0 => (None, format!("no flow waits for a retransmission here, but {text}{instead}")),
            _ => (None, text.to_owned()),
        };
    }
    let (fan_in, least) = (lead.parameters.fan_in, lead.least);
    let text = match stalls.len() {
        0 => "no flow waits for a retransmission".to_owned(),
        _ if fan_in < least => format!(
            "flows wait for retransmissions, but at most {fan_in} begin together, and an episode \
             has {least} or more (--flows)"
        ),
        _ if !lead.episodes.is_empty() => {
            "flows wait for retransmissions, but their losses are not those of a full queue"
                .to_owned()
        }
        _ => "flows wait for retransmissions, but no burst fills the link and then leaves it idle"
            .to_owned(),
    };
    (Some(false), format!("{text}{instead}"))
}

/// The flows of an episode that waited.
fn stalled(episode: &Episode, lead: &Point) -> BTreeSet<String> {
    let flows = episode.stalls.iter().filter_map(|&at| lead.stalls.get(at));
    flows.map(|stall| format!("{} > {}", stall.sender, stall.receiver)).collect()
}

fn told_of(episode: &Episode, lead: &Point, began: i64) -> EpisodeTold {
    EpisodeTold {
        start_s: seconds(episode.start - began),
        end_s: seconds(episode.end - began),
        receiver: episode.receiver.to_string(),
        fan_in: episode.fan_in,
        bytes: episode.bytes,
        lost_s: seconds(episode.lost),
        stalled: stalled(episode, lead).into_iter().collect(),
    }
}

/// What this place forbids to know.
fn cannot_tell(lead: &Point, vantage: Option<Vantage>, stalls: &[Stall]) -> Vec<CannotTell> {
    let mut list = Vec::new();
    let mut say = |what: &str, why: &str| {
        list.push(CannotTell { what: what.to_owned(), why: why.to_owned() });
    };
    match vantage {
        Some(Vantage::Server) => {
            say("episodes and their fan-in", "at a server the other servers are not seen");
        }
        Some(Vantage::Client) => {
            say(
                "how often a retransmission was lost",
                "a packet that is lost at the switch never reaches the client",
            );
        }
        Some(Vantage::Switch) => {}
        None => say(
            "where the capture was taken",
            "no connection shows how long both of its ends take to answer; use --vantage",
        ),
    }
    let mut undecided: Vec<(&Stall, &str)> = Vec::new();
    for stall in stalls {
        if let Err(why) = stall.cause {
            undecided.push((stall, why));
        }
    }
    for (stall, why) in undecided.iter().take(100) {
        let start = seconds(stall.start - lead.first);
        let what = format!("the cause of the stall of {} at {start:.6} s", stall.sender);
        say(&what, why);
    }
    list
}

fn parameters(lead: &Point, place: Option<Vantage>) -> ParametersTold {
    let known = &lead.parameters;
    let at_client = place == Some(Vantage::Client);
    let peak = lead.receivers.values().map(|receiver| receiver.full(at_client)).max();
    let rate = peak.filter(|&peak| peak > 0).map(|peak| peak as f64 * 8e9 / BIN as f64);
    let queued = Some(seconds(known.queued())).filter(|_| known.round_trip.is_some());
    ParametersTold {
        rtt_s: known.round_trip.map(seconds),
        rate_bps: rate,
        buffer_bytes: queued.zip(rate).map(|(queued, rate)| queued * rate / 8.0),
        mss: known.mss,
        receive_window: known.window,
        rto_min_s: known.timer.usual().map(seconds),
        servers: known.fan_in,
        sru: known.sru,
        blocks: known.blocks,
        persistent: known.messages > 2 * known.connections + 2,
        sack: known.sack,
        timestamps: known.timestamps,
        probes: known.probes,
    }
}

fn file(
    (path, tally, end): (&std::path::Path, incast_capture::read::Tally, Option<&End>),
) -> FileTold {
    let mut notes = Vec::new();
    match end {
        Some(End::Whole) => {}
        Some(End::Cut) => notes.push("is cut in the middle of a frame; read to its end".to_owned()),
        Some(End::Damaged(place, what)) => {
            notes.push(format!("is damaged at byte {place}: {what}; read up to there"));
        }
        None => notes.push("was not read to its end".to_owned()),
    }
    for (count, what) in [
        (tally.short, "frames are cut before the end of their TCP header"),
        (tally.fragments, "IP fragments have no TCP header"),
        (tally.malformed, "packets have lengths that contradict each other"),
        (tally.not_ip, "frames are not IP"),
        (tally.dropped, "packets were dropped by the capture, by its own account"),
    ] {
        if count > 0 {
            notes.push(format!("{count} {what}"));
        }
    }
    FileTold {
        path: path.display().to_string(),
        frames: tally.frames,
        packets: tally.packets,
        notes,
    }
}

fn empty(files: Vec<FileTold>) -> Report {
    Report {
        incast: None,
        why: "there is no TCP packet in the capture".to_owned(),
        vantage: None,
        episodes: Vec::new(),
        stalls: Vec::new(),
        look_alikes: Vec::new(),
        cannot_tell: Vec::new(),
        parameters: parameters(&Point::new(3), None),
        files,
        began_s: 0.0,
        length_s: 0.0,
        packets: 0,
        connections: 0,
        unlisted: 0,
    }
}
