//! The verdict: whether there is incast, and the reason.

use std::collections::BTreeSet;

use crate::episode::Episode;
use crate::intake::Lack;
use crate::look_alikes::{self, LookAlike};
use crate::point::Point;
use crate::stall::Stall;
use crate::time::Span;
use crate::vantage::Vantage;

/// A bad link may stop up to this number of flows of one burst, but rarely more.
const ALONE: usize = 2;
/// Smallest number of sending hosts in incast. The flows of a single host may wait for the link of
/// this host.
const HOSTS: usize = 2;

/// The input of a verdict.
pub struct Case<'a> {
    pub lead: &'a Point,
    pub vantage: Option<Vantage>,
    pub episodes: &'a [Episode],
    pub stalls: &'a [Stall],
    pub look_alikes: &'a [LookAlike],
    pub lacks: &'a [Lack],
    /// A description of the frames in the files that are not TCP.
    pub others: &'a str,
}

impl Case<'_> {
    /// The verdict: whether there is incast, and the reason.
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
        let lost: Span = self.episodes.iter().map(|episode| episode.lost).sum();
        let (waiting, waited) = (stalled(worst, lead).len(), worst.lost.as_secs_f64());
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
                lost.as_secs_f64()
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
        let doubtful =
            receiver.filter(|(address, _)| *address == worst.receiver).find(|(_, one)| {
                alone && look_alikes::may_be_a_bad_link(one)
                    || look_alikes::is_likely_a_bad_link(one)
            });
        if let Some((_, receiver)) = doubtful {
            let doubt = format!(
                "{text}; but the losses seen ({} or {:.2} % of all packets) do not show \
                 whether a full queue or a bad link is the reason",
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
        if self.lead.may_be_at_a_server(self.vantage) {
            let text = "a server does not see the other servers, so the number of flows is unknown";
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
            let text =
                "flows wait as long as for a timer, but no packet shows whether data were lost";
            return (None, format!("{text}{instead}"));
        }
        if !self.lead.episodes.is_empty() && self.episodes.is_empty() {
            let text = "flows of a burst wait while the link idles, but their losses may have \
                        another cause";
            return (None, format!("{text}{instead}"));
        }
        let text = match stalls {
            0 if self.stalls.is_empty() => "no flow waits for a retransmission".to_owned(),
            0 => "no flow is seen to wait for a retransmission".to_owned(),
            _ if fan_in < least => format!(
                "flows wait for retransmissions, but at most {fan_in} begin together, and an \
                 episode needs {least} or more (--flows)"
            ),
            _ => "flows wait for retransmissions, but no burst fills the link and then leaves it idle"
                .to_owned(),
        };
        (Some(false), format!("{text}{instead}"))
    }
}

/// The verdict on files without TCP.
pub fn nothing(others: &str) -> String {
    let text = "there is no TCP packet in the capture";
    if others.is_empty() { text.to_owned() } else { format!("{text}: {others}") }
}

/// The flows of an episode that waited.
pub fn stalled(episode: &Episode, lead: &Point) -> BTreeSet<String> {
    let flows = episode.stalls.iter().filter_map(|&at| lead.stalls.get(at));
    flows.map(|stall| format!("{} > {}", stall.sender, stall.receiver)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stall::Cause;
    use crate::stall::tests::stall;
    use crate::time::tests::{MS, at};
    use incast_capture::read::{Address, Endpoint};

    /// A point that has seen a burst with this number of flows.
    fn point(fan_in: usize) -> Point {
        let mut point = Point::new(3);
        point.packets = 100;
        point.parameters.fan_in = fan_in;
        point
    }

    /// The wait of the flow with this port.
    fn wait(port: u16) -> Stall {
        let sender = Endpoint { port, ..Endpoint::default() };
        Stall { sender, ..stall(0, 200, Cause::FullWindow) }
    }

    /// An episode of flows of `hosts` hosts, with the first `stalls` stalls of its point.
    fn episode(hosts: usize, stalls: usize) -> Episode {
        Episode {
            start: at(0),
            end: at(0) + 300 * MS,
            receiver: Address::default(),
            fan_in: 4,
            hosts,
            proven: true,
            bytes: 40_000,
            lost: 200 * MS,
            stalls: (0..stalls).collect(),
        }
    }

    fn case(lead: &Point) -> Case<'_> {
        Case {
            lead,
            vantage: Some(Vantage::Client),
            episodes: &lead.episodes,
            stalls: &lead.stalls,
            look_alikes: &[],
            lacks: &[],
            others: "",
        }
    }

    /// A point with an episode of flows from `hosts` hosts, of which `waiting` flows wait.
    fn with_episode(hosts: usize, waiting: u16) -> Point {
        let mut lead = point(4);
        lead.stalls = (0..waiting).map(wait).collect();
        lead.episodes = vec![episode(hosts, waiting.into())];
        lead
    }

    #[test]
    fn without_packets_there_is_no_answer() {
        let empty = Point::new(3);
        let (incast, why) = Case { others: "2 frames of ARP", ..case(&empty) }.decide();
        assert_eq!(incast, None);
        assert_eq!(why, "there is no TCP packet in the capture: 2 frames of ARP");
        assert_eq!(nothing(""), "there is no TCP packet in the capture");
    }

    #[test]
    fn an_episode_is_incast() {
        let lead = with_episode(4, 3);
        let (incast, why) = case(&lead).decide();
        assert_eq!(incast, Some(true));
        assert!(why.starts_with("4 flows into ") && why.ends_with("while 3 of them wait"), "{why}");
        assert!(why.contains("0.200 s"), "{why}");
    }

    #[test]
    fn several_episodes_are_told_by_the_worst() {
        let mut lead = with_episode(4, 3);
        lead.episodes.push(Episode { lost: 300 * MS, fan_in: 9, ..episode(4, 3) });
        let (incast, why) = case(&lead).decide();
        assert_eq!(incast, Some(true));
        assert!(
            why.starts_with("in 2 episodes the link idles for 0.500 s; in the worst, 9"),
            "{why}"
        );
    }

    #[test]
    fn flows_of_one_host_may_wait_for_its_own_link() {
        assert_eq!(case(&with_episode(1, 3)).decide().0, None);
        assert_eq!(case(&with_episode(2, 3)).decide().0, Some(true));
        let mut lead = with_episode(1, 3);
        lead.episodes.push(episode(2, 3));
        assert_eq!(case(&lead).decide().0, Some(true), "one of them has others");
    }

    #[test]
    fn few_waits_with_few_losses_may_be_those_of_a_bad_link() {
        let with_losses = |waiting, lost: u32| {
            let mut lead = with_episode(4, waiting);
            let place = lead.hosts.place(Address::default());
            let receiver = lead.hosts.receiving(place);
            (0..400).for_each(|_| receiver.losses.packet());
            receiver.losses.lost(lost);
            case(&lead).decide()
        };
        let (incast, why) = with_losses(2, 3);
        assert_eq!(incast, None);
        assert!(
            why.contains("but the losses seen (3 or 0.74 % of all packets) do not show"),
            "{why}"
        );
        assert_eq!(with_losses(3, 3).0, Some(true), "three flows wait, and the losses are few");
        assert_eq!(with_losses(2, 40).0, Some(true), "9 % were lost");
    }

    #[test]
    fn an_incomplete_capture_shows_only_what_is_proven() {
        let mut lead = with_episode(4, 3);
        let lacking = |lead: &Point| Case { lacks: &[Lack::DataOnly], ..case(lead) }.decide();
        assert_eq!(lacking(&lead).0, Some(true));
        lead.episodes[0].proven = false;
        let (incast, why) = lacking(&lead);
        assert_eq!(incast, None);
        assert!(why.starts_with("the capture is incomplete: no ACK without data"), "{why}");
        let (incast, _) = lacking(&point(4));
        assert_eq!(incast, None, "nor that there is none");
    }

    #[test]
    fn without_an_episode_there_is_none_and_the_reason_is_told() {
        let mut lead = point(4);
        let told = |lead: &Point| {
            let (incast, why) = case(lead).decide();
            assert_eq!(incast, Some(false), "{why}");
            why
        };
        assert_eq!(told(&lead), "no flow waits for a retransmission");
        lead.stalls = vec![Stall { cause: Err("unknown"), ..wait(0) }];
        assert_eq!(told(&lead), "no flow is seen to wait for a retransmission");
        lead.stalls = vec![wait(0)];
        assert!(told(&lead).ends_with("no burst fills the link and then leaves it idle"));
        lead.episodes = vec![episode(4, 1)];
        let elsewhere = Case { episodes: &[], ..case(&lead) }.decide();
        assert_eq!(elsewhere.0, None);
        assert!(elsewhere.1.ends_with("may have another cause"));
        lead.episodes.clear();
        lead.parameters.fan_in = 2;
        assert!(
            Case { episodes: &[], ..case(&lead) }.decide().1.contains("at most 2 begin together")
        );
    }

    #[test]
    fn what_was_found_instead_is_named() {
        let one = |name, found| LookAlike {
            name,
            found,
            place: String::new(),
            why: String::new(),
            vetoes: false,
        };
        let all = [one("path", Some(true)), one("policer", None), one("marked", Some(true))];
        let lead = point(4);
        let (incast, why) = Case { look_alikes: &all, ..case(&lead) }.decide();
        assert_eq!(incast, Some(false));
        assert!(why.ends_with("; found instead: path, marked"), "{why}");
    }

    #[test]
    fn at_a_server_the_number_of_flows_is_unknown() {
        let mut lead = point(4);
        let told = |lead: &Point| Case { vantage: Some(Vantage::Server), ..case(lead) }.decide();
        let (incast, why) = told(&lead);
        assert_eq!(incast, None);
        assert!(why.starts_with("no flow waits for a retransmission here, but"), "{why}");
        lead.stalls = vec![wait(0)];
        let (incast, why) = told(&lead);
        assert_eq!(incast, None);
        assert!(why.starts_with("a server does not see the other"), "{why}");
    }

    #[test]
    fn flows_that_wait_without_a_known_cause_leave_it_open() {
        let told = |ports: &[u16], known: bool| {
            let mut lead = point(4);
            lead.stalls =
                ports.iter().map(|port| Stall { cause: Err("unknown"), ..wait(*port) }).collect();
            if known {
                lead.stalls.push(wait(99));
            }
            case(&lead).decide().0
        };
        assert_eq!(told(&[1, 2, 3], false), None);
        assert_eq!(told(&[1, 2, 2], false), Some(false), "of two flows");
        assert_eq!(told(&[1, 2, 3], true), Some(false));
    }

    #[test]
    fn as_many_flows_as_an_episode_has_began_together() {
        let why = |fan_in| {
            let mut lead = point(fan_in);
            lead.stalls = vec![wait(0)];
            case(&lead).decide().1
        };
        assert!(why(2).contains("at most 2 begin together, and an episode needs 3 or more"));
        assert!(why(3).contains("no burst fills the link"));
    }
}
