//! The analysis of a whole capture, with its vantage points, and the report.

use std::collections::{BTreeMap, BTreeSet};

use incast_capture::read::{End, Merge, Packet, Tally, Tunnel};

use crate::chain;
use crate::episode::Episode;
use crate::intake::Lack;
use crate::load::BIN;
use crate::look_alikes::{self, LookAlike};
use crate::point::Point;
use crate::report::{
    CannotTell, EpisodeTold, FileTold, ParametersTold, Report, StallTold, TunnelTold,
};
use crate::stall::Stall;
use crate::time::{Span, Time};
use crate::vantage::Vantage;
use crate::verdict::{self, Case, stalled};

/// Largest number of overlapping waits of a flow.
const NESTED: usize = 8;

/// The options of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The vantage point if the user gives it; otherwise it is inferred.
    pub vantage: Option<Vantage>,
    /// Minimum number of flows in an episode.
    pub flows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { vantage: None, flows: 3 }
    }
}

/// Takes packets, and keeps the state of open connections.
#[derive(Debug, Default)]
pub struct Analysis {
    options: Options,
    points: Vec<Point>,
}

impl Analysis {
    /// Makes an empty analysis.
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

    /// Ends the analysis, and returns the report.
    pub fn finish(mut self, files: &Merge) -> Report {
        for point in &mut self.points {
            point.finish();
        }
        let told: Vec<FileTold> = files.files().map(file).collect();
        let drops = files.files().map(|(_, tally, _)| tally.dropped).sum();
        let others =
            told.iter().flat_map(|file| &file.notes).cloned().collect::<Vec<_>>().join("; ");
        let Some((lead, seen_from)) = leading(&self.points, self.options.vantage) else {
            return Report { why: verdict::nothing(&others), files: told, ..Report::default() };
        };
        let (place, confidence) = seen_from.unzip();
        let lacks = lead.intake.lacks(drops);
        let leaves_out = lead.intake.leaves_out(&lacks);
        let look_alikes = look_alikes::all(lead, place, drops, leaves_out);
        let rest = self.points.iter().filter(|point| !std::ptr::eq(*point, lead));
        let mut stalls = stalls(lead, rest);
        if leaves_out {
            stalls.iter_mut().for_each(Stall::doubt);
        }
        let episodes = episodes(lead, place, &look_alikes);
        let began = self.points.iter().map(|point| point.first).min().unwrap_or_default();
        let ended = self.points.iter().map(|point| point.last).max().unwrap_or_default();
        let case = Case {
            lead,
            vantage: place,
            episodes: &episodes,
            stalls: &stalls,
            look_alikes: &look_alikes,
            lacks: &lacks,
            others: &others,
        };
        let (incast, why) = case.decide();
        Report {
            incast,
            why,
            vantage: place,
            vantage_confidence: confidence.unwrap_or(0.0),
            severity: lead.blocks.severity(!episodes.is_empty()),
            incomplete: lacks.iter().map(|lack| lack.name()).collect(),
            tunnels: tunnels(files),
            episodes: episodes.iter().map(|episode| told_of(episode, lead, began)).collect(),
            stalls: stalls.iter().map(|stall| StallTold::new(stall, began)).collect(),
            look_alikes,
            cannot_tell: cannot_tell(lead, place, &stalls, &lacks),
            parameters: parameters(lead, place),
            files: told,
            began_s: began.as_secs_f64(),
            length_s: (ended - began).as_secs_f64(),
            packets: self.points.iter().map(|point| point.packets).sum(),
            connections: lead.opened,
            unlisted: lead.unlisted,
        }
    }
}

/// The point that shows most of an episode, with its vantage. A capture at the client shows most,
/// and a capture at a server shows least.
fn leading(points: &[Point], given: Option<Vantage>) -> Option<(&Point, Option<(Vantage, f64)>)> {
    let all = points.iter().map(|point| (point, place(point, given)));
    all.max_by_key(|(_, place)| match place.map(|(vantage, _)| vantage) {
        Some(Vantage::Client) => 3,
        Some(Vantage::Switch) => 2,
        Some(Vantage::Server) => 1,
        None => 0,
    })
}

/// The vantage of a point, and the confidence in it.
fn place(point: &Point, given: Option<Vantage>) -> Option<(Vantage, f64)> {
    if let Some(given) = given {
        return Some((given, 1.0));
    }
    let (vantage, sure) = point.evidence.vantage()?;
    // A capture at a server does not show other servers. If several hosts send data to one host,
    // the vantage point is therefore between these hosts.
    let several = point.hosts.busiest().is_some_and(|(_, receiver)| receiver.senders() > 1);
    if vantage == Vantage::Server && several {
        return Some((Vantage::Switch, sure));
    }
    Some((vantage, sure))
}

/// If this number of flows lost retransmissions on an idle link, an episode has another cause.
const SEVERAL: usize = 2;

/// The episodes of a point, except episodes whose losses have another explanation.
fn episodes(lead: &Point, place: Option<Vantage>, look_alikes: &[LookAlike]) -> Vec<Episode> {
    if place == Some(Vantage::Server)
        || look_alikes.iter().any(|one| one.vetoes)
        || !lead.intake.has_a_clock()
    {
        return Vec::new();
    }
    let outages = lead.silences.all().iter().filter(|one| one.is_outage() == Some(true));
    let unheard = lead.silences.unheard().iter().copied();
    let spans: Vec<_> = outages.map(|one| (one.start, one.end)).chain(unheard).collect();
    let apart = |episode: &&Episode| {
        spans.iter().all(|&(start, end)| end <= episode.start || episode.end <= start)
    };
    let holes: BTreeSet<_> = lead.black_holes.iter().map(|hole| hole.sender).collect();
    let of_holes = |&at: &usize| lead.stalls.get(at).is_some_and(|one| holes.contains(&one.sender));
    let other = |episode: &&Episode| holes.is_empty() || !episode.stalls.iter().all(of_holes);
    let unqueued = |episode: &&Episode| {
        let stalls = episode.stalls.iter().filter_map(|&at| lead.stalls.get(at));
        let senders = stalls.filter(|one| one.is_lost_on_an_idle_link()).map(|one| one.sender);
        senders.collect::<BTreeSet<_>>().len() < SEVERAL
    };
    lead.episodes.iter().filter(apart).filter(other).filter(unqueued).cloned().collect()
}

/// The tunnels that carried the packets of all files.
fn tunnels(files: &Merge) -> Vec<TunnelTold> {
    let inside = |kind: Tunnel| files.files().map(|(_, tally, _)| tally.inside(kind)).sum();
    let told = |kind: Tunnel| TunnelTold { kind: kind.name(), packets: inside(kind) };
    Tunnel::ALL.into_iter().map(told).filter(|one| one.packets > 0).collect()
}

/// The stalls of the leading point, and those stalls of other points that the leading point has not
/// seen.
fn stalls<'a>(lead: &Point, others: impl Iterator<Item = &'a Point>) -> Vec<Stall> {
    let mut all = lead.stalls.clone();
    let key = |stall: &Stall, at| ((stall.sender, stall.receiver, stall.start), at);
    let mut places: BTreeMap<_, usize> =
        all.iter().enumerate().rev().map(|(at, stall)| key(stall, at)).collect();
    for point in others {
        for stall in &point.stalls {
            let flow = |time| (stall.sender, stall.receiver, time);
            let before = places.range(flow(Time::EVER)..flow(stall.end)).rev().take(NESTED);
            let same = before.map(|(_, &at)| at).filter(|&at| stall.start < all[at].end);
            let Some(at) = same.last() else {
                places.extend([key(stall, all.len())]);
                all.push(stall.clone());
                continue;
            };
            let known = &mut all[at];
            let surer = stall.cause.is_ok() && stall.confidence > known.confidence;
            if surer || known.cause.is_err() && stall.cause.is_ok() {
                known.cause = stall.cause;
                known.confidence = stall.confidence;
            }
        }
    }
    let mut all = chain::split(all);
    all.sort_by_key(|stall| (stall.start, stall.end));
    all
}

fn told_of(episode: &Episode, lead: &Point, began: Time) -> EpisodeTold {
    EpisodeTold {
        start_s: (episode.start - began).as_secs_f64(),
        end_s: (episode.end - began).as_secs_f64(),
        receiver: episode.receiver.to_string(),
        fan_in: episode.fan_in,
        bytes: episode.bytes,
        lost_s: episode.lost.as_secs_f64(),
        stalled: stalled(episode, lead).into_iter().collect(),
    }
}

/// The questions that cannot be answered from this vantage point.
fn cannot_tell(
    lead: &Point,
    vantage: Option<Vantage>,
    stalls: &[Stall],
    lacks: &[Lack],
) -> Vec<CannotTell> {
    let mut list = Vec::new();
    let mut say = |what: &str, why: &str| {
        list.push(CannotTell { what: what.to_owned(), why: why.to_owned() });
    };
    for lack in lacks {
        say("what happened to packets that are not in the file", &lead.intake.why(*lack));
    }
    match vantage {
        Some(Vantage::Server) => {
            say("episodes and their fan-in", "a server does not see the other servers");
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
        let start = (stall.start - lead.first).as_secs_f64();
        let what = format!("the cause of the stall of {} at {start:.6} s", stall.sender);
        say(&what, why);
    }
    list
}

fn parameters(lead: &Point, place: Option<Vantage>) -> ParametersTold {
    let known = &lead.parameters;
    let at_client = place == Some(Vantage::Client);
    let peak = lead.hosts.receivers().map(|(_, receiver)| receiver.full(at_client)).max();
    let rate = peak.filter(|&peak| peak > 0).map(|peak| peak as f64 * 8e9 / BIN.as_nanos() as f64);
    let queued = Some(known.queued().as_secs_f64()).filter(|_| known.round_trip.is_some());
    ParametersTold {
        rtt_s: known.round_trip.map(Span::as_secs_f64),
        rate_bps: rate,
        buffer_bytes: queued.zip(rate).map(|(queued, rate)| queued * rate / 8.0),
        mss: known.mss,
        receive_window: known.window,
        rto_min_s: known.timer.usual().map(Span::as_secs_f64),
        servers: known.fan_in,
        sru: known.sru,
        blocks: known.blocks,
        persistent: known.messages > 2 * known.connections + 2,
        sack: known.sack,
        timestamps: known.timestamps,
        probes: known.probes,
    }
}

fn file((path, tally, end): (&std::path::Path, Tally, Option<&End>)) -> FileTold {
    let mut notes = Vec::new();
    match end {
        Some(End::Whole) => {}
        Some(End::Cut) => {
            notes
                .push("is cut in the middle of a frame; the frames before it were read".to_owned());
        }
        Some(End::Damaged(place, what)) => {
            notes.push(format!(
                "is damaged at byte {place}: {what}; the frames before it were read"
            ));
        }
        None => notes.push("was not read to its end".to_owned()),
    }
    notes.extend(tally.notes());
    FileTold {
        path: path.display().to_string(),
        frames: tally.frames,
        packets: tally.packets,
        notes,
    }
}

#[cfg(test)]
mod tests;
