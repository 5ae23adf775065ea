//! Requests that are sent one after the other.

use super::{Answer, Seen};

pub const NAME: &str = "one_by_one";

/// Minimum numbers of hosts and of messages that count as evidence.
const HOSTS: usize = 3;
const MESSAGES: u64 = 3;
/// Minimum percentage of messages for which no other flow sent between the request and the
/// message's first packet.
const SHARE: u64 = 90;

pub fn judge(seen: &Seen) -> Answer {
    let (hosts, tallies) = (seen.receiver.hosts.len(), &seen.receiver.tallies);
    if seen.at_server() && hosts < 2 {
        return Answer::new(None, "", "the requests to other servers are not seen here");
    }
    let why = format!(
        "{} of {} messages of {hosts} hosts were requested while no other flow sent",
        tallies.lone, tallies.messages
    );
    let found = hosts >= HOSTS
        && tallies.messages >= MESSAGES
        && tallies.lone * 100 >= tallies.messages * SHARE;
    Answer::new(Some(found), format!("requests of {}", seen.address), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::{Receiver, Sent, Tallies};
    use crate::vantage::Vantage;
    use incast_capture::read::Address;

    fn of(hosts: u8, lone: u64, messages: u64) -> Receiver {
        let mut receiver = Receiver::default();
        receiver.tallies = Tallies { lone, messages, ..Tallies::default() };
        for host in 0..hosts {
            receiver.hosts.insert(Address::v4([10, 0, 0, host]), Sent::default());
        }
        receiver
    }

    #[test]
    fn answers_that_wait_for_each_other_have_the_link_alone() {
        let found = |receiver: &Receiver| told(judge, receiver, Vantage::Client);
        assert_eq!(found(&of(3, 90, 100)), Some(true));
        assert_eq!(found(&of(3, 89, 100)), Some(false));
        assert_eq!(found(&of(2, 100, 100)), Some(false), "two hosts");
        assert_eq!(found(&of(3, 2, 2)), Some(false), "two messages");
        assert_eq!(found(&of(3, 3, 3)), Some(true));
    }

    #[test]
    fn at_a_server_others_are_not_seen() {
        assert_eq!(told(judge, &of(1, 100, 100), Vantage::Server), None);
        assert_eq!(told(judge, &of(3, 100, 100), Vantage::Server), Some(true));
    }

    #[test]
    fn two_hosts_at_a_server_are_enough_to_say_no() {
        assert_eq!(told(judge, &of(2, 100, 100), Vantage::Server), Some(false));
    }
}
