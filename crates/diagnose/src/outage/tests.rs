use super::*;
use crate::time::tests::{MS, at, ns};

#[test]
fn repeats_that_are_not_answered_on_several_flows_are_unheard() {
    let heard_at = |heard: i64, repeats: &[(i64, u64)]| {
        let mut silences = Silences::default();
        for &(time, flow) in repeats {
            let times = (at(0) + heard * MS, at(0) + 200 * MS, at(0) + time * MS);
            silences.repeated_in_vain(times, (flow, 0));
        }
        silences.unheard().to_vec()
    };
    let unheard = |repeats: &[(i64, u64)]| heard_at(100, repeats);
    let span = |end| vec![(at(0) + 200 * MS, at(0) + end * MS)];
    assert_eq!(unheard(&[(600, 1), (650, 2), (650, 3)]), span(650));
    assert_eq!(unheard(&[(600, 1), (651, 2)]), [], "at different times");
    assert_eq!(unheard(&[(600, 1), (601, 1)]), [], "one flow");
    let both = [(600, 1), (600, 2)];
    assert_eq!([heard_at(499, &both), heard_at(500, &both)], [vec![], span(600)]);
}

#[test]
fn flows_that_send_nothing_to_the_end_leave_it_open() {
    let doubtful = |end: Span, sending| {
        let mut silences = Silences::default();
        silences.data(at(0) + 100 * MS);
        assert!(silences.is_near_last(at(0) + 50 * MS));
        assert!(!silences.is_near_last(at(0) + 50 * MS - ns(1)));
        silences.finish(at(0) + 100 * MS + end, sending);
        silences.doubtful().map(|one| (one.to_end, one.end - one.start))
    };
    assert_eq!(doubtful(51 * MS, 3), Some((true, 51 * MS)));
    assert_eq!([doubtful(50 * MS, 3), doubtful(51 * MS, 2)], [None, None]);
}

fn told(how: &[Resumed]) -> Option<bool> {
    let mut silences = Silences::default();
    silences.data(at(0));
    silences.data(at(0) + 230 * MS);
    for &how in how {
        silences.resumed(at(0) - MS, how, false);
    }
    silences.resumed(at(0) - 60 * MS, Resumed::New, false); // this flow ended earlier
    silences.all()[0].is_outage()
}

#[test]
fn a_host_that_hears_nothing_from_anybody_has_no_path() {
    let mut silences = Silences::default();
    let ask = |silences: &mut Silences, heard, flow| {
        silences.unanswered((at(heard), at(5), at(5) + 200 * MS), flow);
    };
    for flow in [(1, 0), (1, 0), (2, 0)] {
        ask(&mut silences, 4, flow);
    }
    ask(&mut silences, 60, (3, 0));
    assert!(silences.all().is_empty(), "the third had heard something");
    for flow in [(1, 0), (2, 0), (3, 0)] {
        ask(&mut silences, 4, flow);
    }
    assert_eq!(silences.all()[0].is_outage(), Some(true));
}

#[test]
fn a_host_that_soon_heard_nothing_any_more_may_have_no_path() {
    let found = |heard, flows| {
        let mut silences = Silences::default();
        for flow in 0..flows {
            silences.unanswered((at(0) + heard * MS, at(0) + 5 * MS, at(0) + 205 * MS), (flow, 0));
        }
        assert!(silences.all().is_empty());
        silences.doubtful().map(Silence::is_outage)
    };
    assert_eq!([found(4, 2), found(5, 4), found(55, 2)], [Some(None); 3]);
    assert_eq!(found(5, 1), None);
    assert_eq!(found(56, 4), None, "the host was heard for a quarter of the time");
}

#[test]
fn repeats_of_several_flows_that_are_all_lost_are_no_queue_s() {
    let found = |flows, answered| {
        let mut silences = Silences::default();
        silences.data(at(0));
        silences.data(at(0) + 200 * MS);
        (0..flows).for_each(|_| silences.resumed(at(0), Resumed::Again, false));
        if answered {
            silences.answer();
        }
        silences.data(at(0) + 600 * MS);
        (0..flows).for_each(|_| silences.resumed(at(0), Resumed::Again, false));
        let told = silences.all().last().unwrap().is_outage();
        silences.lack_answers();
        assert_eq!(silences.all().last().unwrap().is_outage(), None);
        told
    };
    assert_eq!(found(FLOWS, false), Some(true));
    assert_eq!(found(FLOWS - 1, false), None);
    assert_eq!(found(FLOWS, true), None, "one was answered");
}

#[test]
fn repeats_that_nobody_answers_are_a_part_of_the_silence() {
    let found = |how| {
        let mut silences = Silences::default();
        silences.data(at(0));
        silences.data(at(0) + 200 * MS);
        (0..3).for_each(|_| silences.resumed(at(0), how, false));
        silences.data(at(0) + 600 * MS);
        (0..3).for_each(|_| silences.resumed(at(0) - MS, Resumed::Acknowledged, false));
        silences.all().last().unwrap().is_outage()
    };
    assert_eq!(found(Resumed::Again), Some(true));
    assert_eq!(found(Resumed::New), Some(false), "the path had worked in between");
}

#[test]
fn all_flows_repeat_what_was_acknowledged_after_an_outage() {
    use Resumed::{Acknowledged, Again, New};
    assert_eq!(told(&[Acknowledged, Acknowledged, Acknowledged, Again]), Some(true));
    assert_eq!(told(&[Acknowledged, Acknowledged]), None, "or two ACKs were lost");
    assert_eq!(told(&[Again; 5]), None, "as the timers of incast do");
    assert_eq!(told(&[Acknowledged, Acknowledged, New, New]), Some(false));
    assert_eq!(told(&[]), Some(false));
}

/// The verdict on a silence of this length. `before` is the time from the last data of three
/// flows to the silence. After the silence, these flows repeat acknowledged bytes.
#[expect(clippy::option_option, reason = "whether there is one, and what it tells")]
fn silence(length: Span, before: Span) -> Option<Option<bool>> {
    let mut silences = Silences::default();
    silences.data(at(0));
    silences.data(at(0) + length);
    (0..3).for_each(|_| silences.resumed(at(0) - before, Resumed::Acknowledged, false));
    silences.all().first().map(Silence::is_outage)
}

#[test]
fn a_silence_is_longer_than_50_ms_and_its_flows_had_been_sending() {
    assert_eq!(silence(LEAST, Span::ZERO), None, "a pause");
    assert_eq!(silence(LEAST + ns(1), Span::ZERO), Some(Some(true)));
    assert_eq!(silence(200 * MS, JUST), Some(Some(true)));
    assert_eq!(silence(200 * MS, JUST + ns(1)), Some(Some(false)), "they had ended before");
    assert_eq!(silence(200 * MS, Span::ZERO - ns(1)), Some(Some(false)), "behind its start");
}

#[test]
fn four_in_five_flows_repeat_and_half_of_them_what_was_acknowledged() {
    let of = |acknowledged, again, fresh| {
        Silence { acknowledged, again, fresh, ..Silence::default() }.is_outage()
    };
    assert_eq!([of(4, 0, 1), of(3, 0, 1)], [Some(true), None]);
    assert_eq!([of(3, 3, 0), of(3, 4, 0)], [Some(true), None]);
    assert_eq!([of(2, 0, 0), of(2, 0, 1)], [None, Some(false)]);
    assert_eq!([of(0, 4, 1), of(0, 3, 1)], [None, Some(false)]);
    assert_eq!(of(0, 0, 0), Some(false));
    let asked = |unanswered| Silence { unanswered, ..Silence::default() }.is_outage();
    assert_eq!([0, 1, 2, 3].map(asked), [Some(false), None, None, Some(true)]);
}

#[test]
fn repeats_are_lost_if_none_is_answered_and_all_repeat_once_more() {
    let of = |in_vain, fresh, told| {
        Silence { fresh, told, in_vain, ..Silence::default() }.lost_repeats()
    };
    assert!(of(3, 0, 3) && !of(2, 0, 3) && !of(3, 1, 3) && !of(3, 0, 2));
}

#[test]
fn as_many_flows_repeated_as_any_count_says() {
    let of = |acknowledged, again, unanswered, in_vain| {
        let told = Silence { acknowledged, again, unanswered, in_vain, ..Silence::default() };
        told.repeated()
    };
    assert_eq!([of(2, 3, 4, 1), of(1, 1, 4, 3), of(1, 1, 2, 9)], [5, 4, 9]);
}

#[test]
fn requests_that_come_again_may_have_lost_their_answers() {
    let mut silences = Silences::default();
    silences.resumed(at(0), Resumed::New, false);
    silences.data(at(0));
    silences.data(at(0) + 200 * MS);
    for how in [Resumed::Acknowledged, Resumed::Again, Resumed::New] {
        silences.resumed(at(0), how, true);
    }
    let one = silences.all()[0];
    assert_eq!((one.acknowledged, one.again, one.fresh, one.told), (0, 2, 1, 0));
    for how in [Resumed::Acknowledged, Resumed::Again, Resumed::New] {
        silences.resumed(at(0), how, false);
    }
    let one = silences.all()[0];
    assert_eq!((one.acknowledged, one.again, one.fresh, one.told), (1, 3, 2, 2));
}

/// Three flows retransmit after 200 ms, and other data come after 210 ms. The next data come
/// `after` later.
fn twice(after: Span, answered: bool) -> Vec<(Span, u32)> {
    let mut silences = Silences::default();
    silences.data(at(0));
    silences.data(at(0) + 200 * MS);
    (0..3).for_each(|_| silences.resumed(at(0), Resumed::Again, false));
    silences.data(at(0) + 210 * MS);
    if answered {
        silences.answer();
    }
    silences.data(at(0) + 210 * MS + after);
    silences.all().iter().map(|one| (one.end - one.start, one.in_vain)).collect()
}

#[test]
fn an_answer_that_is_missing_for_more_than_300_ms_was_lost() {
    assert_eq!(twice(HELD + ns(1), false), [(510 * MS + ns(1), 3)]);
    assert_eq!(twice(HELD, false), [(510 * MS, 0)]);
    assert_eq!(twice(HELD + ns(1), true), [(510 * MS + ns(1), 0)]);
    assert_eq!(twice(LEAST, false), [(200 * MS, 0)], "no silence");
}

#[test]
fn repeats_that_go_on_for_long_are_no_part_of_a_silence() {
    let parts = |rest| {
        let mut silences = Silences::default();
        silences.data(at(0));
        silences.data(at(0) + 200 * MS);
        silences.resumed(at(0), Resumed::Again, false);
        silences.data(at(0) + 225 * MS);
        silences.data(at(0) + 200 * MS + rest);
        silences.data(at(0) + 700 * MS);
        silences.all().len()
    };
    assert_eq!([parts(JUST), parts(JUST + ns(1))], [1, 2]);
}

#[test]
fn a_host_that_asks_again_soon_shows_nothing() {
    let found = |asked: i64, heard: i64, now: Span| {
        let mut silences = Silences::default();
        for flow in 0..3 {
            let times = (at(0) + heard * MS, at(0) + asked * MS, at(0) + now);
            silences.unanswered(times, (flow, 0));
        }
        (silences.all().len(), silences.doubtful().is_some())
    };
    assert_eq!(found(100, 50, 150 * MS), (1, true));
    assert_eq!(found(100, 50, 150 * MS - ns(1)), (0, false));
    assert_eq!(found(100, 100, 150 * MS), (0, true), "the host was heard when it asked");
    // The host received a packet after a quarter of the wait, or after a little more.
    assert_eq!([found(0, 50, 200 * MS), found(0, 51, 200 * MS)], [(0, true), (0, false)]);
}

#[test]
fn silences_have_the_times_of_their_questions() {
    let mut silences = Silences::default();
    for flow in 0..3 {
        silences.unanswered((at(4), at(9), at(9) + 200 * MS), (flow, 0));
    }
    let one = silences.all()[0];
    assert_eq!((one.start, one.end, one.last), (at(9), at(9) + 200 * MS, at(9)));
    assert_eq!((one.unanswered, one.repeated()), (3, 3));
    let doubtful = silences.doubtful().expect("of two");
    assert_eq!((doubtful.start, doubtful.unanswered), (at(9), 2));
}

#[test]
fn no_more_silences_are_kept_than_are_listed() {
    let mut silences = Silences::default();
    (0..100).for_each(|time| silences.data(at(0) + 100 * time * MS));
    assert_eq!(silences.all().len(), LISTED);
}
