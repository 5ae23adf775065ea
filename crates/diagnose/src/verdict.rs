//! Whether there is incast, and why.

use std::collections::BTreeSet;

use crate::episode::Episode;
use crate::intake::Lack;
use crate::look_alikes::{self, LookAlike};
use crate::point::Point;
use crate::report::seconds;
use crate::stall::Stall;
use crate::vantage::Vantage;

/// A bad link seldom stops more flows of one burst than this.
const ALONE: usize = 2;
/// Hosts that are needed: the flows of one may wait for its own link.
const HOSTS: usize = 2;

/// What a verdict rests on.
pub struct Case<'a> {
    pub lead: &'a Point,
    pub vantage: Option<Vantage>,
    pub episodes: &'a [Episode],
    pub stalls: &'a [Stall],
    pub look_alikes: &'a [LookAlike],
    pub lacks: &'a [Lack],
    /// What the files hold instead of TCP.
    pub others: &'a str,
}

impl Case<'_> {
    /// Whether there is incast, and why.
    pub fn decide(&self) -> (Option<bool>, String) {
        if self.lead.packets == 0 {
            return (None, nothing(self.others));
        }
        let (incast, why) = match self.episodes.iter().max_by_key(|episode| episode.lost) {
            Some(worst) => self.of_episodes(worst),
            None => self.without(),
        };
        let proven = incast == Some(true) && self.episodes.iter().any(|episode| episode.proven);
        if self.lacks.is_empty() || proven {
            return (incast, why);
        }
        let lacks: Vec<String> =
            self.lacks.iter().map(|lack| self.lead.intake.why(*lack)).collect();
        (None, format!("the capture is incomplete: {}", lacks.join("; ")))
    }

    fn of_episodes(&self, worst: &Episode) -> (Option<bool>, String) {
        let lead = self.lead;
        let lost: i64 = self.episodes.iter().map(|episode| episode.lost).sum();
        let (waiting, waited) = (stalled(worst, lead).len(), seconds(worst.lost));
        let text = format!(
            "{} flows into {} begin together and fill the link, which then idles for {waited:.3} s \
             while {waiting} of them wait{}",
            worst.fan_in,
            worst.receiver,
            if waiting == 1 { "s" } else { "" },
        );
        let text = match self.episodes.len() {
            1 => text,
            count => format!(
                "in {count} episodes the link idles for {:.3} s; in the worst, {text}",
                seconds(lost)
            ),
        };
        if self.episodes.iter().all(|episode| episode.hosts < HOSTS) {
            return (
                None,
                format!(
                    "{text}; but all flows come from one host, whose own link or disk may be the reason"
                ),
            );
        }
        let alone = self.episodes.iter().all(|episode| stalled(episode, lead).len() <= ALONE);
        let receiver = lead.hosts.receivers().map(|(place, one)| (lead.hosts.address(place), one));
        let doubtful = receiver
            .filter(|(address, _)| alone && *address == worst.receiver)
            .find(|(_, one)| look_alikes::may_be_a_bad_link(one));
        if let Some((_, receiver)) = doubtful {
            let doubt = format!(
                "{text}; but {} lost packets, {:.2} % of all, do not show whether a full queue or a \
                 bad link has dropped them",
                receiver.losses.count(),
                100.0 * receiver.losses.ratio()
            );
            return (None, doubt);
        }
        (Some(true), text)
    }

    fn without(&self) -> (Option<bool>, String) {
        let stalls = self.stalls.iter().filter(|stall| stall.cause.is_ok()).count();
        let found = self.look_alikes.iter().filter(|one| one.found == Some(true));
        let names: Vec<&str> = found.map(|one| one.name).collect();
        let instead = match names.len() {
            0 => String::new(),
            _ => format!("; found instead: {}", names.join(", ")),
        };
        if self.vantage == Some(Vantage::Server) {
            let text =
                "the other servers are not seen at a server, so the number of flows is unknown";
            return match stalls {
                0 => {
                    (None, format!("no flow waits for a retransmission here, but {text}{instead}"))
                }
                _ => (None, text.to_owned()),
            };
        }
        let (fan_in, least) = (self.lead.parameters.fan_in, self.lead.least);
        let open = self.stalls.iter().filter(|stall| stall.cause.is_err());
        let open: BTreeSet<_> = open.map(|stall| (stall.sender, stall.receiver)).collect();
        if stalls == 0 && open.len() >= least {
            let text = "flows wait as for a timer, but no packet shows whether anything was lost";
            return (None, format!("{text}{instead}"));
        }
        let text = match stalls {
            0 if self.stalls.is_empty() => "no flow waits for a retransmission".to_owned(),
            0 => "no flow is seen to wait for a retransmission".to_owned(),
            _ if fan_in < least => format!(
                "flows wait for retransmissions, but at most {fan_in} begin together, and an episode \
                 has {least} or more (--flows)"
            ),
            _ if !self.lead.episodes.is_empty() => {
                "flows wait for retransmissions, but their losses are not those of a full queue"
                    .to_owned()
            }
            _ => "flows wait for retransmissions, but no burst fills the link and then leaves it idle"
                .to_owned(),
        };
        (Some(false), format!("{text}{instead}"))
    }
}

/// What is said of files without TCP.
pub fn nothing(others: &str) -> String {
    let text = "there is no TCP packet in the capture";
    if others.is_empty() { text.to_owned() } else { format!("{text}: {others}") }
}

/// The flows of an episode that waited.
pub fn stalled(episode: &Episode, lead: &Point) -> BTreeSet<String> {
    let flows = episode.stalls.iter().filter_map(|&at| lead.stalls.get(at));
    flows.map(|stall| format!("{} > {}", stall.sender, stall.receiver)).collect()
}
