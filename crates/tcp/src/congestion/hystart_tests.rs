//! When slow start ends, round by round.

use serde_json::{Value, from_value, json};

use super::super::law_tests;
use super::*;

const PATH: PathView = law_tests::PATH;

fn params(value: Value) -> Params {
    from_value(value).unwrap()
}

#[test]
fn a_name_stands_for_a_table_with_its_defaults() {
    for name in NAMES {
        let by_name = params(json!(name));
        assert_eq!(by_name, params(json!({ "name": name })));
        assert_eq!(by_name, params(json!(by_name)), "it reads what it writes");
    }
    assert_eq!(params(json!("rfc9406")), Params::rfc9406());
    let wrong = |value: Value| from_value::<Params>(value).unwrap_err().to_string();
    assert!(wrong(json!("hystart")).contains("unknown variant"));
    assert!(wrong(json!({ "name": "linux", "limit": 8 })).contains("unknown field"));
    assert!(wrong(json!(5)).contains("a table such as"));
}

#[test]
fn thresholds_out_of_order_are_found() {
    let fault = |value: Value| params(value).check().unwrap_err().key;
    for name in ["rfc9406", "linux"] {
        let found = fault(json!({ "name": name, "min_thresh": "17ms" }));
        assert_eq!(found, "hystart.min_thresh");
    }
}

/// A round of ACKs, one per segment, `apart` from each other and with the same round trip. Returns
/// the number of the ACK that ends slow start.
fn train(hystart: &mut Hystart, round: u64, apart: Span, rtt: Span, srtt: Option<Span>) -> u64 {
    let first = round * 2_000_000;
    let ends = |number: &u64| {
        let path = PathView {
            now: Time::ZERO + Span::from_secs(1) + apart * *number,
            una: first + number * 1000,
            max: first + 1_000_000,
            srtt,
            ..PATH
        };
        let ack = AckSample { acked: 1000, rtt: Some(rtt), ..AckSample::default() };
        hystart.on_ack(&ack, &path, 100_000, 1 << 40).is_over
    };
    (1..1000).find(ends).unwrap_or(u64::MAX)
}

#[test]
fn linux_allows_a_train_what_offloading_takes() {
    let end = |srtt| {
        let mut hystart = *params(json!("linux")).build().unwrap();
        train(&mut hystart, 0, Span::from_micros(10), Span::from_micros(100), srtt)
    };
    // Without an SRTT, the train ends slow start once it is longer than 50 us, half
    // of the smallest round trip.
    assert_eq!(end(None), 1 + 5 + 1);
    // The extra time is 131 us: 4 x 64 KiB at twice the rate of 100 kB per 100 us. Half of 231 us
    // is 115 us.
    assert_eq!(end(Some(Span::from_micros(100))), 1 + 11 + 1);
    // The extra time is at most 1 ms.
    assert_eq!(end(Some(Span::from_millis(10))), 1 + 55 + 1);
}

#[test]
fn linux_watches_the_slow_start_after_a_timeout_with_a_new_smallest_round_trip() {
    let mut hystart = *params(json!({ "name": "linux", "ack_spacing": "0s" })).build().unwrap();
    let end = |hystart: &mut Hystart, round, millis| {
        train(hystart, round, Span::from_micros(1), Span::from_millis(millis), None)
    };
    assert_eq!(end(&mut hystart, 0, 10), u64::MAX);
    assert_eq!(end(&mut hystart, 1, 15), 9, "8 samples of the round are known");
    assert!(hystart.on_congestion());
    assert_eq!(end(&mut hystart, 2, 15), u64::MAX);
}

/// RFC 9406 §4.2: only a round trip below the baseline ends CSS.
#[test]
fn css_goes_on_while_the_round_trip_is_not_below_its_baseline() {
    let mut careful = Careful::new(PlusPlus::default());
    let micros = Span::from_micros;
    for (smallest, stays) in [(100, true), (101, true), (99, false)] {
        careful.baseline = Some(micros(100));
        careful.judge(micros(smallest));
        assert_eq!(careful.baseline.is_some(), stays, "{smallest} us");
    }
}
