//! Policers drop packets that exceed a rate, and have no queue. The losses at a policer come
//! together although the receiver's link is not in use.

use super::{Answer, Seen};
use crate::vantage::Vantage;

pub const NAME: &str = "policer";

/// Minimum number of losses that counts as evidence.
const COUNT: u64 = 8;
/// A full queue loses packets while its link sends without a pause, so nearly all its losses appear
/// right behind another packet. At a policer, at least this share of the losses appears after a
/// pause.
const IDLE: f64 = 0.3;
/// The capture may show the time of only some losses. If it shows the time of less than one loss in
/// `SHOWN`, nearly all losses with a known time must occur after a pause.
const SHOWN: u64 = 4;
const NEARLY_ALL: f64 = 0.9;
/// Losses come together if the variance over mean of the losses per 64 packets is larger than this.
const TOGETHER: f64 = 1.6;
/// If more than this share of the packets is lost, the losses also count as coming together,
/// because nobody would use a link with so many random losses.
const MANY: f64 = 0.06;

pub fn judge(seen: &Seen) -> Answer {
    let (losses, tallies) = (&seen.receiver.losses, &seen.receiver.tallies);
    let shown = tallies.idle_losses + tallies.busy_losses;
    if losses.count() == 0 {
        return seen.without_losses();
    }
    let together = losses.ratio() > MANY
        || losses.dispersion().is_some_and(|dispersion| dispersion > TOGETHER);
    if seen.vantage != Some(Vantage::Client) {
        let why = "only a capture at the receiver shows whether its link was in use when packets \
                   were lost";
        return Answer::new(None, "", why);
    }
    let share = tallies.idle_losses as f64 / shown.max(1) as f64;
    let why = format!(
        "{} of {shown} losses occur while the link to {} is not in use",
        tallies.idle_losses, seen.address
    );
    let least = if SHOWN * shown < losses.count() { NEARLY_ALL } else { IDLE };
    let found = match (shown >= COUNT, share >= least, together) {
        (true, true, true) => Some(true),
        _ => None,
    };
    Answer::new(found, format!("on the way to {}", seen.address), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::Receiver;

    /// A receiver of `packets` packets that has lost `idle` packets while its link was not in use,
    /// and `busy` packets while its link was in use.
    fn receiver(packets: u32, idle: u64, busy: u64) -> Receiver {
        let mut receiver = Receiver::default();
        (0..packets).for_each(|_| receiver.losses.packet());
        receiver.losses.lost((idle + busy) as u32);
        receiver.tallies.idle_losses = idle;
        receiver.tallies.busy_losses = busy;
        receiver
    }

    fn found(receiver: &Receiver) -> Option<bool> {
        told(judge, receiver, Vantage::Client)
    }

    #[test]
    fn losses_while_the_link_is_not_in_use_are_those_of_a_policer() {
        assert_eq!(found(&receiver(100, 8, 0)), Some(true));
        assert_eq!(found(&receiver(100, 7, 0)), None, "too few");
        assert_eq!(found(&receiver(0, 0, 0)), Some(false));
    }

    #[test]
    fn a_full_queue_loses_them_while_its_link_is_in_use() {
        assert_eq!(found(&receiver(100, 3, 7)), Some(true));
        assert_eq!(found(&receiver(100, 2, 8)), None);
    }

    #[test]
    fn where_few_losses_show_when_they_were_nearly_all_must_agree() {
        let hidden = |idle, busy| {
            let mut receiver = receiver(100, idle, busy);
            receiver.losses.lost(31);
            found(&receiver)
        };
        assert_eq!([hidden(9, 1), hidden(8, 2)], [Some(true), None]);
        assert_eq!(hidden(8, 3), Some(true), "a quarter of them");
    }

    #[test]
    fn a_bad_link_loses_few_and_at_random() {
        assert_eq!(found(&receiver(117, 8, 0)), Some(true), "more than 6 %");
        assert_eq!(found(&receiver(126, 8, 0)), None, "and less");
        assert_eq!(found(&receiver(6400, 64, 0)), Some(true), "they come together");
        let mut spread = Receiver::default();
        for number in 0..6400 {
            spread.losses.packet();
            spread.losses.lost(u32::from(number % 100 == 50));
        }
        spread.tallies.idle_losses = 64;
        assert_eq!(found(&spread), None);
    }

    #[test]
    fn only_the_receiver_shows_whether_its_link_is_in_use() {
        let lost = receiver(100, 8, 0);
        assert_eq!(told(judge, &lost, Vantage::Server), None);
        assert_eq!(told(judge, &lost, Vantage::Switch), None);
    }

    #[test]
    fn the_share_that_no_link_loses_is_more_than_6_per_cent() {
        // 9 of 150 packets are lost, and then 9 of 149.
        assert_eq!(found(&receiver(141, 9, 0)), None);
        assert_eq!(found(&receiver(140, 9, 0)), Some(true));
    }

    #[test]
    fn eight_losses_must_show_when_they_were() {
        let shown = |idle, busy| {
            let mut receiver = receiver(100, idle, busy);
            receiver.losses.lost(4);
            found(&receiver)
        };
        assert_eq!([shown(4, 4), shown(4, 3)], [Some(true), None]);
    }
}
