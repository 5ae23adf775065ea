//! Rows of events: the value of each column.

use super::{MSS, RTO, ack, at, config, hosts, micros, sent};
use crate::cause::{Cause, Diagnosis};
use crate::milestone::{EventKind, EventRow};
use crate::stalls::{Stall, StallCause};
use crate::{EndId, Event};
use incast_net::{Packet, Trigger};

#[test]
fn a_row_of_a_connection_has_its_state() {
    let mut hosts = hosts(config(), 3);
    let server = EndId::server(2);
    hosts.act_on(server).write(9 * MSS);
    let row = |hosts: &crate::Hosts| {
        EventRow::of(at(55), EventKind::FastRetransmit, 2, hosts.get(server).unwrap())
    };
    let empty = EventRow::new(at(55), EventKind::FastRetransmit, Some(2));
    let (cwnd, ssthresh) = (2 * MSS, 77 * MSS);
    let expected = EventRow { seq: 1, cwnd, ssthresh, rto: Some(RTO), ..empty };
    assert_eq!(row(&hosts), expected);
    sent(&mut hosts, server, at(0));
    assert_eq!(row(&hosts), EventRow { flight: 2 * MSS, packets: 2, ..expected });
    hosts.deliver(at(100), &ack(2, 1 + MSS));
    sent(&mut hosts, server, at(100));
    let later = row(&hosts);
    assert_eq!(
        (later.seq, later.cwnd, later.flight, later.packets),
        (1 + MSS, 3 * MSS, 3 * MSS, 4)
    );
    assert_eq!((later.srtt, later.rto), (Some(micros(100)), Some(RTO)));
    hosts.deliver(at(101), &ack(2, 1 + MSS));
    hosts.deliver(at(102), &ack(2, 1 + MSS));
    assert_eq!(row(&hosts), EventRow { dupacks: 2, ..later });
}

#[test]
fn a_row_of_a_timeout_has_the_state_before_it() {
    let mut hosts = hosts(config(), 1);
    let server = EndId::server(0);
    hosts.act_on(server).write(9 * MSS);
    sent(&mut hosts, server, at(0));
    hosts.deliver(at(100), &ack(0, 1 + MSS));
    sent(&mut hosts, server, at(100));
    hosts.deliver(at(101), &ack(0, 1 + MSS));
    let due = hosts.end_mut(server).poll_timeout();
    assert!(hosts.expire(due, server));
    let event = std::iter::from_fn(|| hosts.poll_event(server))
        .find_map(|event| if let Event::Timeout(report) = event { report } else { None });
    let report = event.expect("the timer has expired");
    assert_eq!(hosts.connection(server).unwrap().cwnd(), MSS, "it has reacted");
    let end = hosts.get(server).unwrap();
    let diagnosis = Diagnosis { cause: Cause::Tail, lost_in_window: 3 };
    let row = EventRow::timeout(due, 0, &report, diagnosis, end);
    let of = EventRow::of(due, EventKind::Timeout, 0, end);
    let expected = EventRow {
        seq: 1 + MSS,
        cwnd: 3 * MSS,
        ssthresh: 77 * MSS,
        flight: 3 * MSS,
        dupacks: 1,
        lost_in_window: 3,
        rto: Some(RTO),
        cause: Some(Cause::Tail),
        block_head: Some(report.block_head),
        ..of
    };
    assert_eq!(row, expected);
    assert_eq!((row.packets, row.srtt), (4, Some(micros(100))));
    assert!(of.rto > Some(RTO), "the timer has doubled");
    assert_ne!((of.ssthresh, of.dupacks), (row.ssthresh, row.dupacks));
}

#[test]
fn a_row_of_a_stall_has_the_next_byte_that_the_client_expects() {
    let mut hosts = hosts(config(), 1);
    let client = EndId::client(0);
    hosts.opened(client);
    let route = client.peer().route();
    let data = Packet { route, seq: 1, payload: MSS as u16, ..Packet::default() };
    hosts.deliver(at(5), &data);
    let stall = Stall { flow: 0, wait: micros(700), cause: StallCause::from(Trigger::Persist) };
    let row = EventRow::stall(at(5), stall, hosts.get(client).unwrap());
    let empty = EventRow::new(at(5), EventKind::Stall, Some(0));
    let (stall, wait) = (Some(StallCause::Persist), Some(micros(700)));
    assert_eq!(row, EventRow { seq: 1 + MSS, stall, wait, ..empty });
}
