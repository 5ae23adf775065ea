use crate::demand::Demand;
use crate::milestone::{EventKind, EventRow};
use crate::{EndId, Hosts};

use super::{at, blueprint, config, hosts};

#[test]
fn demands_are_taken_in_their_order() {
    let mut hosts = hosts(config(), 1);
    hosts.set_timer(at(5), 2, 9);
    hosts.send_datagram(3, 1500);
    hosts.finish(7);
    let expected = [
        Demand::Timer { at: at(5), application: 2, index: 9 },
        Demand::Datagram { flow: 3, size: 1500 },
        Demand::Finished { application: 7 },
    ];
    let taken = hosts.take_demands();
    assert_eq!(taken, expected);
    assert!(hosts.take_demands().is_empty());
    let room = taken.capacity();
    hosts.recycle(taken);
    hosts.finish(8);
    let again = hosts.take_demands();
    assert_eq!((again.capacity(), &again[..]), (room, &[Demand::Finished { application: 8 }][..]));
}

#[test]
fn rows_of_blocks_and_flows_are_recorded_if_someone_watches() {
    let rows = |mut hosts: Hosts| {
        hosts.set_now(at(30));
        hosts.record(EventKind::BlockStart, 4, None);
        hosts.record(EventKind::FlowDone, 4, Some(1));
        hosts.record_flow(EventKind::TailProbe, 1);
        hosts.opened(EndId::server(1));
        hosts.record_flow(EventKind::TailProbe, 1);
        let of = |demand: &Demand| match demand {
            Demand::Milestone(row) => *row,
            other => panic!("{other:?}"),
        };
        let rows = hosts.take_demands();
        let flow = hosts.get(EndId::server(1)).unwrap();
        let expected = [
            EventRow { block: 4, ..EventRow::new(at(30), EventKind::BlockStart, None) },
            EventRow { block: 4, ..EventRow::new(at(30), EventKind::FlowDone, Some(1)) },
            EventRow::of(at(30), EventKind::TailProbe, 1, flow),
        ];
        (rows.iter().map(of).collect::<Vec<_>>(), expected)
    };
    let (found, expected) = rows(hosts(config(), 2));
    assert_eq!(found, expected, "a flow that is not open has no row");
    let mut unwatched = Hosts::new(1, false);
    unwatched.add_blueprint(blueprint(config(), 0), 2);
    assert!(rows(unwatched).0.is_empty());
}
