//! Outages of the whole path: all flows fell silent at once, and continued with retransmissions.

use super::{Answer, Seen};
use crate::outage::Silence;

pub const NAME: &str = "outage";

/// Smallest number of lost ACKs that cannot be a coincidence and may come from an outage.
const IN_VAIN: u64 = 3;

pub fn judge(seen: &Seen) -> Answer {
    let silences = seen.point.silences.all();
    // In a capture at one server, the retransmissions may have been lost because flows of other
    // servers filled a queue.
    let is_certain =
        |one: &&Silence| one.is_outage() == Some(true) && !(seen.at_server() && one.lost_repeats());
    let certain = silences.iter().find(is_certain);
    let open = silences.iter().find(|one| one.is_outage() != Some(false));
    let Some(silence) = certain.or(open).or(seen.point.silences.doubtful()) else {
        let in_vain = seen.receiver.tallies.in_vain;
        if in_vain >= IN_VAIN {
            let why =
                format!("{in_vain} timers retransmitted acknowledged data, at different times");
            return Answer::new(None, "the path of all flows", why);
        }
        let why = "at no time did all flows fall silent and then retransmit";
        return Answer::new(Some(false), "", why);
    };
    if silence.to_end {
        let length = (silence.end - silence.start).as_millis_f64();
        let why = format!(
            "several flows were sending, then no data arrived for {length:.1} ms, to the end of the \
             capture"
        );
        return Answer::new(None, "the path of all flows", why);
    }
    let why = format!(
        "for {:.1} ms nothing arrived, then {} flow{} retransmitted data",
        (silence.end - silence.start).as_millis_f64(),
        silence.repeated(),
        if silence.repeated() == 1 { "" } else { "s" }
    );
    let why = if certain.is_some_and(Silence::lost_repeats) {
        format!("{why}, and no retransmission was answered")
    } else if certain.is_some() {
        format!("{why} that had been acknowledged")
    } else {
        format!("{why}; the timers after incast have the same effect")
    };
    Answer::new(certain.map(|_| true), "the path of all flows", why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{told, told_of};
    use super::*;
    use crate::event::Resumed;
    use crate::point::Point;
    use crate::receiver::Receiver;
    use crate::time::tests::{MS, at};
    use crate::vantage::Vantage;

    #[test]
    fn a_silence_of_all_flows_is_an_outage_by_how_they_go_on() {
        let found = |how| {
            let mut point = Point::new(3);
            point.silences.data(at(0));
            point.silences.data(at(0) + 200 * MS);
            (0..3).for_each(|_| point.silences.resumed(at(0), how, false));
            told_of(judge, &point, Vantage::Client)
        };
        let all = [Resumed::Acknowledged, Resumed::Again, Resumed::New];
        assert_eq!(all.map(found), [Some(true), None, Some(false)]);
    }

    #[test]
    fn repeats_in_vain_at_other_times_leave_it_open() {
        let found = |in_vain| {
            let mut receiver = Receiver::default();
            receiver.tallies.in_vain = in_vain;
            told(judge, &receiver, Vantage::Client)
        };
        assert_eq!([IN_VAIN - 1, IN_VAIN].map(found), [Some(false), None]);
    }

    #[test]
    fn at_a_server_repeats_without_an_answer_leave_it_open() {
        let found = |vantage| {
            let mut point = Point::new(3);
            point.silences.data(at(0));
            point.silences.data(at(0) + 200 * MS);
            (0..3).for_each(|_| point.silences.resumed(at(0), Resumed::Again, false));
            point.silences.data(at(0) + 600 * MS);
            (0..3).for_each(|_| point.silences.resumed(at(0), Resumed::Again, false));
            told_of(judge, &point, vantage)
        };
        assert_eq!([found(Vantage::Client), found(Vantage::Server)], [Some(true), None]);
        let mut known = Point::new(3);
        known.silences.data(at(0));
        known.silences.data(at(0) + 200 * MS);
        (0..3).for_each(|_| known.silences.resumed(at(0), Resumed::Acknowledged, false));
        assert_eq!(told_of(judge, &known, Vantage::Server), Some(true));
    }
}
