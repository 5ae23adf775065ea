//! ACKs are lost on the way back: data comes again that had been acknowledged.

use super::{Answer, Seen};
use crate::stall::{Cause, Ended, Stall};

pub const NAME: &str = "lost_acks";

/// Packets sent in vain that are no accident, and their share of all repairs.
const COUNT: u64 = 2;
const SHARE: f64 = 0.5;

pub fn judge(seen: &Seen) -> Answer {
    let stalls = seen.point.stalls.iter();
    // A probe may have met an ACK that was only held.
    let by_timer = |stall: &&Stall| stall.ended == Ended::Timeout;
    let lost =
        stalls.filter(by_timer).filter(|stall| stall.cause == Ok(Cause::AckLoss)).count() as u64;
    let in_vain = seen.receiver.tallies.in_vain;
    if lost + in_vain == 0 {
        let why = "no data came again that had been acknowledged";
        let found = if seen.at_server() { None } else { Some(false) };
        return Answer::new(found, "", why);
    }
    let place = format!("on the way from {}", seen.address);
    let why = format!(
        "{in_vain} timers sent again what had been acknowledged; {lost} waits were for lost ACKs"
    );
    if seen.point.silences.all().iter().any(|one| one.is_outage() == Some(true)) {
        return Answer::new(None, place, format!("{why}; an outage does the same"));
    }
    let share = (in_vain + lost) as f64 / (in_vain + lost + seen.receiver.losses.count()) as f64;
    let certain = in_vain + lost >= COUNT && share >= SHARE;
    Answer::new(certain.then_some(true), place, why)
}
