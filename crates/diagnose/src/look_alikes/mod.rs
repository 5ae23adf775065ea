//! Look-alikes: phenomena that resemble incast. Each look-alike is found, ruled out or undecided.
//!
//! To add a look-alike, write a file with `NAME` and `judge`, and add a line to `ALL`. The laws in
//! the tests below hold for every entry. "Ruled out" needs evidence: the answer is `None` if this
//! capture cannot show such evidence.

use incast_capture::read::Address;
use serde::Serialize;

use crate::point::Point;
use crate::receiver::{Receiver, Waits};
use crate::stall::{Reason, Stall};
use crate::time::Span;
use crate::vantage::Vantage;

mod bad_link;
mod capture_drops;
mod delayed_ack;
mod host_drops;
mod lost_acks;
mod marked;
mod mtu_black_hole;
mod one_by_one;
mod outage;
mod path;
mod policer;
mod receiver_paused;
mod slow_server;
mod window_limited;

pub use bad_link::{is_likely as is_likely_a_bad_link, may_be as may_be_a_bad_link};

/// The look-alikes that lose packets, but not in a queue that many flows fill. Such losses are not
/// incast.
pub const LOSING: [&str; 3] = [bad_link::NAME, path::NAME, policer::NAME];

type Judge = fn(&Seen) -> Answer;

/// The name and the judge of each look-alike, in the order of the report.
const ALL: &[(&str, Judge)] = &[
    (bad_link::NAME, bad_link::judge),
    (slow_server::NAME, slow_server::judge),
    (window_limited::NAME, window_limited::judge),
    (receiver_paused::NAME, receiver_paused::judge),
    (path::NAME, path::judge),
    (delayed_ack::NAME, delayed_ack::judge),
    (one_by_one::NAME, one_by_one::judge),
    (capture_drops::NAME, capture_drops::judge),
    (policer::NAME, policer::judge),
    (mtu_black_hole::NAME, mtu_black_hole::judge),
    (outage::NAME, outage::judge),
    (lost_acks::NAME, lost_acks::judge),
    (host_drops::NAME, host_drops::judge),
    (marked::NAME, marked::judge),
];

const WAITS_ONLY: &str = "no packet loss is seen, but flows wait as long as for a timer";

/// The input of a judge.
pub struct Seen<'a> {
    pub point: &'a Point,
    /// The host that receives most data. This host is taken for the client, because a client
    /// requests data from many hosts.
    pub receiver: &'a Receiver,
    pub address: Address,
    pub vantage: Option<Vantage>,
    /// Number of packets that the files report as missing.
    pub drops: u64,
}

impl Seen<'_> {
    fn at_server(&self) -> bool {
        self.vantage == Some(Vantage::Server)
    }

    /// The answer about losses on the way to the receiver if none is seen there. It is open if a
    /// flow in any direction waited so long that a timer may have ended the wait.
    fn without_losses(&self) -> Answer {
        let waits = self.point.stalls.iter().any(Stall::is_its_own);
        if waits || self.repeats_after_silence() {
            return Answer::new(None, "", WAITS_ONLY);
        }
        Answer::new(Some(false), "", "no packet loss is seen")
    }

    /// Whether a flow continued with a retransmission after a silence of all flows.
    fn repeats_after_silence(&self) -> bool {
        self.point.silences.all().iter().any(|silence| silence.repeated() > 0)
    }

    /// The waits of all hosts for one of these reasons.
    fn waits(&self, reasons: &[Reason]) -> Waits {
        let mut sum = Waits::default();
        for (_, receiver) in self.point.hosts.receivers() {
            for waits in reasons.iter().filter_map(|reason| receiver.waits.get(reason)) {
                sum.count += waits.count;
                sum.total += waits.total;
                let length = |waits: &Waits| waits.longest.map(|(wait, _)| wait.length());
                if length(waits) > length(&sum) {
                    sum.longest = waits.longest;
                }
            }
        }
        sum
    }
}

/// The answer of a judge.
#[derive(Debug)]
pub struct Answer {
    found: Option<bool>,
    place: String,
    why: String,
}

impl Answer {
    fn new(found: Option<bool>, place: impl Into<String>, why: impl Into<String>) -> Self {
        Self { found, place: place.into(), why: why.into() }
    }

    /// The answer about waits: their number, their lengths, and the frames at the ends of the
    /// longest wait.
    fn of_waits(waits: &Waits, found: impl Fn(Span) -> Option<bool>) -> Self {
        let Some((wait, sender)) = waits.longest else {
            return Self::new(Some(false), "", "no such wait");
        };
        let lasts = if wait.reason == Reason::StillPaused {
            ", and lasts to the end of the capture"
        } else {
            ""
        };
        let why = format!(
            "{} waits, {:.1} ms in all; the longest takes {:.1} ms, from frame {} to {}{lasts}",
            waits.count,
            waits.total.as_millis_f64(),
            wait.length().as_millis_f64(),
            wait.before.frame,
            wait.after.frame
        );
        Self::new(found(wait.length()), sender.to_string(), why)
    }
}

/// The answer for one look-alike.
#[derive(Clone, Debug, Serialize)]
pub struct LookAlike {
    pub name: &'static str,
    pub found: Option<bool>,
    #[serde(rename = "where")]
    pub place: String,
    pub why: String,
    /// Whether the look-alike explains or may explain the losses, so that the losses do not prove
    /// incast.
    #[serde(skip)]
    pub vetoes: bool,
}

/// Whether a finding rests on losses or requests that are in the file.
fn rests_on_losses(name: &str) -> bool {
    LOSING.contains(&name) || name == mtu_black_hole::NAME || name == one_by_one::NAME
}

/// The look-alikes that may affect only the paths of other servers. A capture at one server cannot
/// rule them out.
const ELSEWHERE: [&str; 5] =
    [bad_link::NAME, policer::NAME, mtu_black_hole::NAME, outage::NAME, host_drops::NAME];

/// All answers for a point. `drops` is the number of packets that the files of the point report as
/// missing. `leaves_out` is true if further packets are missing in the files, so that a missing
/// packet need not have been lost.
pub fn all(
    point: &Point,
    vantage: Option<Vantage>,
    drops: u64,
    leaves_out: bool,
) -> Vec<LookAlike> {
    let none = Receiver::default();
    let (address, receiver) = point.hosts.busiest().unwrap_or((Address::default(), &none));
    let seen = Seen { point, receiver, address, vantage, drops };
    let outage = outage::judge(&seen).found == Some(true);
    let doubts = [
        (leaves_out, "; but packets are missing in the file"),
        (outage, "; but an outage has lost packets"),
    ];
    let answer = |&(name, judge): &(&'static str, Judge)| {
        let Answer { mut found, place, mut why } = judge(&seen);
        let vetoes = found == Some(true) && LOSING.contains(&name);
        if found == Some(true) && rests_on_losses(name) {
            let doubt = doubts.iter().find(|(there, _)| *there);
            if let Some((_, doubt)) = doubt {
                found = None;
                why.push_str(doubt);
            }
        }
        if found == Some(false) && point.may_miss_others(vantage) && ELSEWHERE.contains(&name) {
            found = None;
            why.push_str(if point.may_be_at_a_server(vantage) {
                "; but a server sees only its own packets"
            } else {
                "; but the capture may be from the only server of these flows, which sees only its \
                 own packets"
            });
        }
        LookAlike { name, found, place, why, vetoes }
    };
    ALL.iter().map(answer).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::receiver::Sent;
    use crate::stall::{Place, Wait};
    use crate::time::tests::{MS, at};
    use incast_capture::read::Endpoint;

    /// The answer of a judge for a point whose busiest host is the given one.
    pub fn told(judge: Judge, receiver: &Receiver, vantage: Vantage) -> Option<bool> {
        let point = Point::new(3);
        let (address, vantage) = (Address::default(), Some(vantage));
        judge(&Seen { point: &point, receiver, address, vantage, drops: 0 }).found
    }

    /// The answer of a judge for a point.
    pub fn told_of(judge: Judge, point: &Point, vantage: Vantage) -> Option<bool> {
        let none = Receiver::default();
        let (address, receiver) = point.hosts.busiest().unwrap_or((Address::default(), &none));
        judge(&Seen { point, receiver, address, vantage: Some(vantage), drops: 0 }).found
    }

    /// A point with a host that has waited for this length, for one reason.
    pub fn waited(reason: Reason, length: Span) -> Point {
        let mut point = Point::new(3);
        let place = point.hosts.place(Address::default());
        let (before, after) = (Place::default(), Place::default());
        let wait = Wait { reason, start: at(0), end: at(0) + length, before, after, idle: 1.0 };
        let waits = Waits { count: 1, total: length, longest: Some((wait, Endpoint::default())) };
        point.hosts.receiving(place).waits.insert(reason, waits);
        point
    }

    #[test]
    fn what_others_may_have_met_is_not_ruled_out_by_one_server() {
        let ruled_out = |vantage, name| {
            let all = all(&Point::new(3), Some(vantage), 0, false);
            all.iter().any(|one| one.name == name && one.found == Some(false))
        };
        for name in ELSEWHERE {
            assert!(ruled_out(Vantage::Client, name), "{name}");
            assert!(!ruled_out(Vantage::Server, name), "{name}");
        }
    }

    #[test]
    fn nor_by_a_place_that_may_be_one() {
        let ruled_out = |round_trip, senders: u8| {
            let mut point = Point::new(3);
            point.parameters.round_trip = Some(Span::from_micros(round_trip));
            let place = point.hosts.place(Address::v4([10, 0, 0, 1]));
            let receiver = point.hosts.receiving(place);
            receiver.load.take(at(0), 1500);
            for host in 0..senders {
                let sent = Sent::of(100, 0);
                receiver.hosts.insert(Address::v4([10, 0, 0, 2 + host]), sent);
            }
            let all = all(&point, Some(Vantage::Client), 0, false);
            all.iter().any(|one| one.name == outage::NAME && one.found == Some(false))
        };
        assert!(!ruled_out(100, 1), "one sender, and near");
        assert!(ruled_out(300, 1) && ruled_out(100, 2));
    }

    #[test]
    fn nothing_is_found_where_nothing_was_seen() {
        for vantage in [None, Some(Vantage::Client), Some(Vantage::Server), Some(Vantage::Switch)] {
            for one in all(&Point::new(3), vantage, 0, false) {
                assert_ne!(one.found, Some(true), "{}", one.name);
                assert!(!one.why.is_empty() && !one.why.ends_with('.'), "{}", one.name);
            }
        }
    }

    #[test]
    fn the_longest_wait_of_all_hosts_is_told() {
        let point = waited(Reason::StillPaused, 7 * MS);
        let receiver = Receiver::default();
        let address = Address::default();
        let seen = Seen { point: &point, receiver: &receiver, address, vantage: None, drops: 0 };
        let waits = seen.waits(&[Reason::Paused, Reason::StillPaused]);
        assert_eq!((waits.count, waits.total), (1, 7 * MS));
        let why = Answer::of_waits(&waits, |_| None).why;
        assert!(
            why.contains("the longest takes 7.0 ms") && why.ends_with("to the end of the capture")
        );
        assert_eq!(seen.waits(&[Reason::Middle]).count, 0);
    }

    #[test]
    fn names_are_words_and_differ() {
        let names: std::collections::BTreeSet<_> = ALL.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), ALL.len());
        let word = |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_lowercase());
        assert!(names.iter().all(|name| word(name)));
        assert!(LOSING.iter().all(|name| names.contains(name)));
    }

    #[test]
    fn losses_are_never_ruled_out_as_those_of_another_by_their_number_alone() {
        for &(name, judge) in ALL {
            let mut receiver = Receiver::default();
            (0..40).for_each(|_| receiver.losses.packet());
            receiver.losses.lost(3);
            let found = told(judge, &receiver, Vantage::Client);
            if ["bad_link", "policer", "host_drops"].contains(&name) {
                assert_eq!(found, None, "{name}");
            }
        }
    }
}
