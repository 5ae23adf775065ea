//! Properties of all transports and parts.

use incast_engine::{Entry, Foreign, Rate, Span, Stream};
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
