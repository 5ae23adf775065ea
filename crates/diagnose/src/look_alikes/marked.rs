//! Congestion that is marked (RFC 3168) instead of dropped.

use super::{Answer, Seen};

pub const NAME: &str = "marked";

/// Smallest number of marks that cannot be a coincidence.
const COUNT: u64 = 3;

pub fn judge(seen: &Seen) -> Answer {
    let tallies = &seen.receiver.tallies;
    let (marked, echoed) = (tallies.marked, tallies.echoed);
    if marked + echoed == 0 {
        return Answer::new(Some(false), "", "no packet has the mark CE (congestion experienced)");
    }
    let why = format!(
        "{marked} packets have the mark CE (congestion experienced), and {echoed} ACKs echo it; {} \
         packets were lost",
        seen.receiver.losses.count()
    );
    let found = (marked + echoed >= COUNT).then_some(true);
    Answer::new(found, format!("on the way to {}", seen.address), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told;
    use super::*;
    use crate::receiver::{Receiver, Tallies};
    use crate::vantage::Vantage;

    #[test]
    fn marks_and_echoes_are_found_and_a_single_one_is_undecided() {
        let of = |marked, echoed| {
            let tallies = Tallies { marked, echoed, ..Tallies::default() };
            let mut receiver = Receiver::default();
            receiver.tallies = tallies;
            told(judge, &receiver, Vantage::Server)
        };
        assert_eq!(
            [of(0, 0), of(1, 1), of(0, 3), of(9, 0)],
            [Some(false), None, Some(true), Some(true)]
        );
    }
}
