//! Answers that are asked for one after the other.

use super::{Answer, Seen};

pub const NAME: &str = "one_by_one";

/// Hosts and messages that show an order.
const HOSTS: usize = 3;
const MESSAGES: u64 = 3;
/// Of a hundred messages so many began when no other flow had sent since they were asked for.
const SHARE: u64 = 90;

pub fn judge(seen: &Seen) -> Answer {
    let (hosts, tallies) = (seen.receiver.hosts.len(), &seen.receiver.tallies);
    if seen.at_server() && hosts < 2 {
        return Answer::new(None, "", "the requests to other servers are not seen here");
    }
    let why = format!(
        "{} of {} messages of {hosts} hosts were asked for while no other flow sent",
        tallies.lone, tallies.messages
    );
    let found = hosts >= HOSTS
        && tallies.messages >= MESSAGES
        && tallies.lone * 100 >= tallies.messages * SHARE;
    Answer::new(Some(found), format!("requests of {}", seen.address), why)
}
