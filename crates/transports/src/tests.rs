//! Properties of all transports and parts.

use incast_engine::{Entry, Foreign, Rate, Span, Stream, Time};
use incast_host::{EndId, Seat};
use serde_json::{from_value, json};

use super::*;

/// The server's end of a flow.
pub(crate) fn seat() -> Seat {
    Seat {
        end: EndId::server(0),
        incarnation: 0,
        rate: Rate(1_000_000_000),
        base_rtt: Span::from_micros(100),
        random: Stream::named(1, "connection", 0),
    }
}

#[test]
fn every_transport_has_valid_defaults_and_a_table_that_reads_back() {
    for Entry { name, .. } in ENTRIES {
        let config: TransportConfig = from_value(json!({ "name": name })).expect("it has defaults");
        let kind = config.kind();
        kind.check().expect("they are valid");
        let table = kind.table();
        assert_eq!(table["name"], *name);
        let again: TransportConfig = from_value(table.clone()).expect("it is a table");
        assert_eq!(again.kind().table(), table);
        assert!(
            kind.full_packet().payload > 0 && kind.window() >= kind.full_packet().payload.into()
        );
        assert_ne!(kind.family(), "tcp");
        let end = kind.end(seat());
        assert!(end.is_quiet() && end.delivered() == 0, "{name}");
    }
}

#[test]
fn paths_are_those_of_their_chooser() {
    let mut random = Stream::named(1, "paths", 0);
    let mut draw = |name: &str| {
        let config: paths::Paths = from_value(json!(name)).expect("it is in the list");
        let mut chooser = config.build(&seat());
        [(); 400].map(|()| chooser.next(&mut random) % 4)
    };
    assert_eq!(draw("ecmp"), [0; 400]);
    let turns = draw("round-robin");
    assert!((0..400).all(|at| turns[at as usize] == at % 4));
    let random = draw("oblivious");
    let of = |path| random.iter().filter(|it| **it == path).count();
    assert!((0..4).all(|path| (70..130).contains(&of(path))));
}

#[test]
fn a_part_from_elsewhere_is_built_and_named() {
    struct Two;
    impl paths::PathChooser for Two {
        fn next(&mut self, _: &mut Stream) -> u32 {
            2
        }
    }
    let paths =
        paths::Paths::Foreign(Foreign::new("two", |_: &Seat| -> Box<dyn paths::PathChooser> {
            Box::new(Two)
        }));
    assert_eq!(paths.clone().build(&seat()).next(&mut Stream::named(1, "paths", 0)), 2);
    assert_eq!(json!(paths), json!({ "name": "foreign", "entry": "two" }));
    assert!(from_value::<paths::Paths>(json!("two")).is_err(), "only the list can be read");
}

/// Calls a function of every entry of every list of parts.
macro_rules! for_each_part {
    ($do:ident: $($list:ident::$config:ident),+) => {$(
        for Entry { name, .. } in $list::ENTRIES {
            let part: $list::$config = from_value(json!(name)).expect("it has defaults");
            $do!(name, part, $list::$config);
        }
    )+};
}

#[test]
fn every_part_has_valid_defaults_and_a_table_that_reads_back() {
    macro_rules! check {
        ($name:ident, $part:ident, $config:ty) => {
            $part.check().expect("they are valid");
            assert_eq!(json!($part)["name"], *$name);
            let again: $config = from_value(json!($part)).expect("it is a table");
            assert_eq!(again, $part);
            $part.build(&seat());
        };
    }
    for_each_part!(check: credit::Credits, paths::Paths, rate::RateLaws, repair::Repairs);
}

#[test]
fn every_chooser_draws_from_the_given_stream_only() {
    macro_rules! check {
        ($name:ident, $part:ident, $config:ty) => {
            let draw = || {
                let mut random = Stream::named(1, "paths", 0);
                let mut chooser = $part.build(&seat());
                let mut next = |at: u32| {
                    let path = chooser.next(&mut random);
                    let kinds = [Good, Marked, Trimmed, Lost];
                    chooser.heard(path, kinds[at as usize % kinds.len()]);
                    path
                };
                (0..400).map(&mut next).collect::<Vec<_>>()
            };
            assert_eq!(draw(), draw(), "{}", $name);
        };
    }
    use paths::Feedback::{Good, Lost, Marked, Trimmed};
    for_each_part!(check: paths::Paths);
}

/// Whatever a law has heard, its sender may still send.
#[test]
fn no_rate_law_stops_its_sender() {
    macro_rules! check {
        ($name:ident, $part:ident, $config:ty) => {
            let mut law = $part.build(&seat());
            for step in 0..2000_u64 {
                let now = Time::ZERO + Span::from_micros(step * 50);
                match step / 10 % 5 {
                    0 => law.on_ack(now, &Acked { bytes: 1000, rtt: Some(Span::from_millis(1)) }),
                    1 => law.on_mark(now),
                    2 => law.on_nack(now),
                    3 => law.on_timeout(now),
                    _ => law.on_ack(now, &Acked { bytes: 1, rtt: None }),
                }
                if law.poll_timeout() <= now {
                    law.on_deadline(now);
                    assert!(law.poll_timeout() > now, "{}", $name);
                }
                assert!(law.rate() != Some(Rate(0)) && law.window() != Some(0), "{}", $name);
            }
        };
    }
    use rate::Acked;
    for_each_part!(check: rate::RateLaws);
}
