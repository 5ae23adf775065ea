//! What looks like incast and is something else: each is found, ruled out, or cannot be told.

use incast_capture::read::Address;
use serde::Serialize;

use crate::event::Reason;
use crate::point::Point;
use crate::receiver::{Receiver, Waits};
use crate::vantage::Vantage;

/// The answer for one of them.
#[derive(Clone, Debug, Serialize)]
pub struct LookAlike {
    pub name: &'static str,
    pub found: Option<bool>,
    #[serde(rename = "where")]
    pub place: String,
    pub why: String,
}

/// Losses come together if their variance per group is so many times their mean.
const TOGETHER: f64 = 3.0;
/// And at random up to this.
const RANDOM: f64 = 1.6;
/// A larger share than this is lost by full queues; a link that lost as much would not be in use.
const MANY: f64 = 0.06;
/// A link may lose this share and still be in use.
const FEW: f64 = 0.02;

/// All answers for what was seen at a point; `drops` are packets that its files say are missing.
pub fn all(point: &Point, vantage: Option<Vantage>, drops: u64) -> Vec<LookAlike> {
    // Requests go to many hosts; the one that most data goes to is the reader.
    let busiest = point.receivers.iter().max_by_key(|(_, receiver)| receiver.load.bytes());
    let Some((&address, receiver)) = busiest else { return Vec::new() };
    let trip = point.parameters.round_trip.unwrap_or(1_000_000);
    vec![
        bad_link(receiver, address, vantage),
        waiting("slow_server", receiver, &[Reason::FirstByte, Reason::Middle], slow(trip)),
        window_limited(receiver, address),
        waiting("receiver_paused", receiver, &[Reason::Paused], 0),
        path(receiver, vantage),
        waiting("delayed_ack", receiver, &[Reason::DelayedAck], 20_000_000),
        one_by_one(receiver, address, vantage),
        capture_drops(receiver, drops),
    ]
}

/// A wait for a server that is longer than this is one for the server, not the network.
fn slow(trip: i64) -> i64 {
    (20 * trip).max(3_000_000)
}

fn answer(name: &'static str, found: Option<bool>, place: String, why: String) -> LookAlike {
    LookAlike { name, found, place, why }
}

/// Losses that are spread over all packets instead of over full queues.
pub fn bad_link(receiver: &Receiver, address: Address, vantage: Option<Vantage>) -> LookAlike {
    let (name, losses) = ("bad_link", &receiver.losses);
    let count = losses.count();
    if count == 0 {
        let why = "no packet is seen to be lost".to_owned();
        return answer(name, Some(false), String::new(), why);
    }
    let place = format!("on the way to {address}");
    let told = format!("{count} losses, {:.2} % of packets", 100.0 * losses.ratio());
    let Some(dispersion) = losses.dispersion() else {
        let why = format!("{told}: too few to see whether they come at random");
        let many = losses.ratio() > MANY && vantage != Some(Vantage::Server);
        return answer(name, many.then_some(false), place, why);
    };
    if vantage == Some(Vantage::Server) {
        let why = format!("{told}: one server sees too little of a queue to tell");
        return answer(name, None, place, why);
    }
    let told = format!("{told}; variance over mean per 64 packets {dispersion:.1}");
    if dispersion <= RANDOM && losses.ratio() > MANY {
        answer(name, None, place, format!("{told}: at random, but too many for a link that works"))
    } else if dispersion <= RANDOM {
        answer(name, Some(true), place, format!("{told}: at random, not when a queue is full"))
    } else if dispersion >= TOGETHER {
        answer(name, Some(false), place, format!("{told}: they come together"))
    } else {
        answer(name, None, place, format!("{told}: between random and together"))
    }
}

/// Whether a full queue need not have dropped what a host has missed: the losses are few, and are
/// not seen to come together.
pub fn may_be_a_bad_link(receiver: &Receiver) -> bool {
    let losses = &receiver.losses;
    let few = losses.count() < 5 || losses.ratio() < FEW;
    few && losses.dispersion().is_none_or(|dispersion| dispersion < TOGETHER)
}

/// Waits of some reasons, if one is longer than `least`.
fn waiting(name: &'static str, receiver: &Receiver, reasons: &[Reason], least: i64) -> LookAlike {
    let waits = reasons.iter().filter_map(|reason| receiver.waits.get(reason));
    let length = |waits: &&Waits| waits.longest.map_or(0, |(wait, _)| wait.end - wait.start);
    let longest = waits.clone().max_by_key(length);
    let count: u64 = waits.clone().map(|waits| waits.count).sum();
    let total: i64 = waits.map(|waits| waits.total).fold(0, i64::saturating_add);
    let Some((wait, sender)) = longest.and_then(|waits| waits.longest) else {
        return answer(name, Some(false), String::new(), "no such wait".to_owned());
    };
    let (length, frames) = (wait.end - wait.start, (wait.before.frame, wait.after.frame));
    let why = format!(
        "{count} waits, {:.1} ms in all; the longest {:.1} ms, from frame {} to {}",
        total as f64 / 1e6,
        length as f64 / 1e6,
        frames.0,
        frames.1
    );
    answer(name, Some(length > least), sender.to_string(), why)
}

/// Rounds of packets that end where the window does, on a link that is not full.
fn window_limited(receiver: &Receiver, address: Address) -> LookAlike {
    let name = "window_limited";
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let (rounds, acks) = (receiver.rounds, receiver.acks);
    let by_round = rounds >= 5 && share(receiver.full, rounds) > 0.5;
    let by_ack = acks >= 10 && share(receiver.full_acks, acks) > 0.5;
    let why = format!(
        "{} of {rounds} rounds of packets end where the window does; before {} of {acks} ACKs the \
         window was used up",
        receiver.full, receiver.full_acks
    );
    let found = (by_round || by_ack) && receiver.losses.count() == 0;
    answer(name, Some(found), format!("flows to {address}"), why)
}

/// Losses of some hosts, and of no others.
fn path(receiver: &Receiver, vantage: Option<Vantage>) -> LookAlike {
    let name = "path";
    if vantage == Some(Vantage::Server) || receiver.hosts.len() < 2 {
        let why = "only one host's data is seen here".to_owned();
        return answer(name, None, String::new(), why);
    }
    let hosts = receiver.hosts.iter().filter(|(_, sent)| sent.packets >= 8);
    let (lossy, clean): (Vec<_>, Vec<_>) =
        hosts.partition(|(_, sent)| sent.lost * 200 > sent.packets);
    let names: Vec<String> = lossy.iter().take(8).map(|(host, _)| host.to_string()).collect();
    let lost: u64 = lossy.iter().map(|(_, sent)| sent.lost).sum();
    let why = format!("{} of {} hosts have losses", lossy.len(), lossy.len() + clean.len());
    let found = !lossy.is_empty()
        && lossy.len() * 2 <= clean.len() + lossy.len()
        && lost >= 5 * lossy.len() as u64
        && clean.iter().all(|(_, sent)| sent.lost * 500 <= sent.packets);
    answer(name, Some(found), names.join(", "), why)
}

/// Answers that are asked for one after the other.
fn one_by_one(receiver: &Receiver, address: Address, vantage: Option<Vantage>) -> LookAlike {
    let name = "one_by_one";
    let why = format!(
        "{} of {} messages of {} hosts were asked for while no other flow sent",
        receiver.lone,
        receiver.messages,
        receiver.hosts.len()
    );
    if vantage == Some(Vantage::Server) && receiver.hosts.len() < 2 {
        let why = "the requests to other servers are not seen here".to_owned();
        return answer(name, None, String::new(), why);
    }
    let found = receiver.hosts.len() >= 3
        && receiver.messages >= 3
        && receiver.lone * 10 >= receiver.messages * 9;
    answer(name, Some(found), format!("requests of {address}"), why)
}

/// Bytes that were acknowledged and are not in the capture.
fn capture_drops(receiver: &Receiver, drops: u64) -> LookAlike {
    let (bytes, times) = receiver.unseen;
    let why = match (times, drops) {
        (0, 0) => "every acknowledged byte is in the capture".to_owned(),
        (0, _) => format!("the capture says that it has dropped {drops} packets"),
        _ => format!("{bytes} bytes in {times} places were acknowledged and never seen"),
    };
    answer("capture_drops", Some(times > 0 || drops > 0), "the capture itself".to_owned(), why)
}
