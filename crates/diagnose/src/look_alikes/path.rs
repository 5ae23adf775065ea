//! Losses on the paths of some hosts only.

use super::{Answer, Seen};
use crate::losses::Losses;
use crate::receiver::Sent;

pub const NAME: &str = "path";

/// Hosts with fewer packets than this do not count.
const PACKETS: u64 = 8;
/// A host is lossy if a larger share of its packets than `LOSSY` is lost, and clean if at most the
/// share `CLEAN` is lost. It is also clean if the worst host loses at least `RELATIVE` times its
/// share, because a few packets that were only late may be counted as lost.
const LOSSY: f64 = 0.005;
const CLEAN: f64 = 0.002;
const RELATIVE: f64 = 50.0;
/// Smallest mean number of losses per lossy host that cannot be a coincidence.
const COUNT: u64 = 5;
/// If the variance over mean of the losses per 16 packets of a lossy host is larger than this, the
/// losses come together, as in a queue. It is about 1 if a path loses packets at random.
const TOGETHER: f64 = 2.0;
/// Losses that come together still belong to a path if at most one host in this many is lossy,
/// because a queue that all hosts share would hit more hosts.
const FEW: usize = 3;
const LISTED: usize = 8;

pub fn judge(seen: &Seen) -> Answer {
    let receiver = seen.receiver;
    if seen.at_server() || receiver.hosts.len() < 2 {
        return Answer::new(None, "", "only one host's data is seen here");
    }
    let hosts: Vec<_> =
        receiver.hosts.iter().filter(|(_, sent)| sent.losses.packets() >= PACKETS).collect();
    let share = |sent: &Sent| sent.losses.count() as f64 / sent.losses.packets() as f64;
    let worst = hosts.iter().map(|(_, sent)| share(sent)).fold(0.0, f64::max);
    let is_clean = |sent: &Sent, limit: f64| share(sent) <= limit.max(worst / RELATIVE);
    let (clean, lossy): (Vec<_>, Vec<_>) =
        hosts.into_iter().partition(|(_, sent)| is_clean(sent, LOSSY));
    let names: Vec<String> = lossy.iter().take(LISTED).map(|(host, _)| host.to_string()).collect();
    let lost: u64 = lossy.iter().map(|(_, sent)| sent.losses.count()).sum();
    let why = format!("{} of {} hosts have losses", lossy.len(), lossy.len() + clean.len());
    let few = !lossy.is_empty() && 2 * lossy.len() <= clean.len() + lossy.len();
    let certain = few
        && lost >= COUNT * lossy.len() as u64
        && clean.iter().all(|(_, sent)| is_clean(sent, CLEAN));
    let losses = Losses::together(lossy.iter().map(|(_, sent)| &sent.losses));
    let together = losses.dispersion().is_some_and(|dispersion| dispersion > TOGETHER);
    let certain = certain && (!together || FEW * lossy.len() <= lossy.len() + clean.len());
    // A few hosts with few losses may be on a bad path, or may have lost packets in a full queue.
    let found = if certain {
        Some(true)
    } else if few {
        None
    } else {
        Some(false)
    };
    Answer::new(found, names.join(", "), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::Receiver;
    use crate::vantage::Vantage;
    use incast_capture::read::Address;

    fn of(lost: &[u64]) -> Option<bool> {
        let mut receiver = Receiver::default();
        for (host, &lost) in lost.iter().enumerate() {
            let sent = Sent::of(1000, lost);
            receiver.hosts.insert(Address::v4([10, 0, 0, host as u8]), sent);
        }
        told(judge, &receiver, Vantage::Client)
    }

    #[test]
    fn a_path_loses_packets_of_its_hosts_only() {
        assert_eq!(of(&[40, 0, 1, 0]), Some(true));
        assert_eq!(of(&[40, 0, 4, 0]), None, "another host has some, too");
        assert_eq!(of(&[40, 30, 20, 0]), Some(false));
        assert_eq!(of(&[0, 0, 0]), Some(false));
        assert_eq!(of(&[40]), None);
    }

    /// The answer for hosts with these numbers of packets and losses.
    fn hosts(sent: &[(u64, u64)], vantage: Vantage) -> Option<bool> {
        let mut receiver = Receiver::default();
        for (host, &(packets, lost)) in sent.iter().enumerate() {
            let sent = Sent::of(packets, lost);
            receiver.hosts.insert(Address::v4([10, 0, 0, host as u8]), sent);
        }
        told(judge, &receiver, vantage)
    }

    #[test]
    fn a_host_has_losses_from_half_a_per_cent_on_and_has_none_up_to_a_fifth() {
        assert_eq!([of(&[6, 0]), of(&[5, 0])], [Some(true), Some(false)]);
        assert_eq!([of(&[40, 2]), of(&[40, 3])], [Some(true), None]);
    }

    #[test]
    fn a_host_is_clean_beside_a_host_that_loses_fifty_times_its_share() {
        let found = |lost| hosts(&[(1000, 300), (1000, lost), (1000, 0)], Vantage::Client);
        assert_eq!([found(6), found(7)], [Some(true), Some(false)]);
    }

    #[test]
    fn one_in_two_hosts_at_most_is_on_a_bad_path() {
        assert_eq!(of(&[40, 40, 0, 0]), Some(true));
        assert_eq!(of(&[40, 40, 0]), Some(false));
        assert_eq!(of(&[40, 40]), Some(false));
    }

    #[test]
    fn five_losses_of_each_such_host_are_no_accident() {
        let found = |lost| hosts(&[(500, lost), (500, 0)], Vantage::Client);
        assert_eq!([found(5), found(4)], [Some(true), None]);
        let two = |one| hosts(&[(500, one), (500, 3), (500, 0), (500, 0)], Vantage::Client);
        assert_eq!([two(7), two(6)], [Some(true), None], "ten and nine of two");
    }

    #[test]
    fn hosts_of_few_packets_say_nothing() {
        let found = |packets| hosts(&[(1000, 40), (packets, 3), (1000, 0)], Vantage::Client);
        assert_eq!(found(7), Some(true));
        assert_eq!(found(8), Some(false), "two of three have losses");
        assert_eq!(hosts(&[(1000, 40), (1000, 0)], Vantage::Server), None);
        assert_eq!(hosts(&[(1000, 40), (1000, 0)], Vantage::Switch), Some(true));
    }

    #[test]
    fn losses_that_come_together_are_those_of_a_path_only_if_a_third_of_the_hosts_has_them() {
        let found = |clean: u8, together: bool| {
            let mut receiver = Receiver::default();
            for host in 0..=clean {
                let mut sent = Sent::default();
                for group in 0..16 {
                    let lost = if together { 16 * u32::from(group % 8 == 0) } else { 2 };
                    sent.losses.lost(if host == 0 { lost } else { 0 });
                    (0..16).for_each(|_| sent.losses.packet());
                }
                receiver.hosts.insert(Address::v4([10, 0, 0, host]), sent);
            }
            told(judge, &receiver, Vantage::Client)
        };
        assert_eq!([found(2, true), found(1, true)], [Some(true), None]);
        assert_eq!(found(1, false), Some(true));
    }
}
