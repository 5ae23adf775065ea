//! A policer drops what exceeds a rate, and keeps no queue: losses come together, although the link
//! of the receiver is not in use.

use super::{Answer, Seen};
use crate::vantage::Vantage;

pub const NAME: &str = "policer";

/// Fewer losses show nothing.
const COUNT: u64 = 8;
/// A full queue loses packets while its link sends without a pause: of its losses nearly all show
/// right behind another packet. Of a policer's this share does not.
const IDLE: f64 = 0.5;
/// Losses of one host or of all, which come together: variance over mean per 64 packets.
const TOGETHER: f64 = 1.6;

pub fn judge(seen: &Seen) -> Answer {
    let (losses, tallies) = (&seen.receiver.losses, &seen.receiver.tallies);
    let shown = tallies.idle_losses + tallies.busy_losses;
    if losses.count() == 0 {
        return Answer::new(Some(false), "", "no packet is seen to be lost");
    }
    if seen.vantage != Some(Vantage::Client) {
        let why =
            "only at the receiver it shows whether its link was in use when packets were lost";
        return Answer::new(None, "", why);
    }
    let share = tallies.idle_losses as f64 / shown.max(1) as f64;
    let why = format!(
        "{} of {shown} losses show while the link to {} is not in use",
        tallies.idle_losses, seen.address
    );
    let together = losses.dispersion().is_some_and(|dispersion| dispersion > TOGETHER);
    let found = match (shown >= COUNT, share >= IDLE, together) {
        (true, true, true) => Some(true),
        (true, false, _) if share < IDLE / 4.0 => Some(false),
        _ => None,
    };
    Answer::new(found, format!("on the way to {}", seen.address), why)
}
