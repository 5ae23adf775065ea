use super::*;
use crate::stall::tests::stall;

const MS_NS: i64 = 1_000_000;

#[test]
fn a_wait_much_shorter_than_the_usual_timer_is_none_unless_it_is_for_a_syn() {
    let left = |short: i64, long: i64| {
        let mut point = Point::new(3);
        for start in 0..4_i64 {
            let start = 1000 * start;
            point.stalls.push(stall(start * MS_NS, (start + long) * MS_NS, Cause::FullWindow));
        }
        for cause in [Cause::LackOfDupacks, Cause::Handshake] {
            point.stalls.push(stall(9000 * MS_NS, (9000 + short) * MS_NS, cause));
        }
        let probe = stall(9500 * MS_NS, (9500 + short) * MS_NS, Cause::Tail);
        point.stalls.push(Stall { ended: Ended::Probe, ..probe });
        for at in 0..4 {
            let one = point.stalls[at].clone();
            point.parameters.stall(&one);
        }
        point.forget_short_waits();
        point.stalls.iter().filter(|stall| !stall.void).count()
    };
    assert_eq!(left(49, 200), 6, "the lack of duplicate ACKs was none");
    assert_eq!(left(50, 200), 7, "a quarter of it");
    assert_eq!(left(10, 100), 7, "such a timer is not known to be the least");
}
