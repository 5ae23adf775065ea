use incast_engine::{Rate, Stream};
use incast_host::EndId;
use serde_json::from_value;

use super::*;

fn params(changes: &Value) -> Params {
    from_value(changes.clone()).expect("they are parameters")
}

fn end(params: &Params, id: EndId) -> Box<dyn Guest> {
    let random = Stream::named(1, "connection", id.0.into());
    params.end(Seat {
        end: id,
        incarnation: 0,
        rate: Rate(1_000_000_000),
        base_rtt: Span::from_micros(100),
        random,
    })
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

/// All packets that an end sends now.
fn sent(end: &mut dyn Guest, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| {
        let mut draft = Packet::default();
        end.poll_transmit(now, &mut draft).then_some(draft)
    })
    .collect()
}

fn ends(changes: &Value) -> [Box<dyn Guest>; 2] {
    let params = params(changes);
    params.check().expect("they are valid");
    [EndId::server(0), EndId::client(0)].map(|id| end(&params, id))
}

/// Delivers the packets of the list to an end.
fn arrive(end: &mut dyn Guest, now: Time, packets: &[Packet]) {
    for packet in packets {
        end.handle_segment(now, packet);
    }
}

#[test]
fn a_request_is_repeated_until_data_arrive_and_counts_once() {
    let [mut server, mut client] = ends(&json!({ "rto": "1ms" }));
    client.handle_call(Call::Request(100));
    client.handle_call(Call::NotifyAt(3000));
    let request = sent(&mut *client, at(0));
    assert_eq!((request.len(), request[0].size(), request[0].seq), (1, 100, 1));
    assert_eq!(client.poll_timeout(), at(1000));
    client.handle_timeout(at(1000));
    assert_eq!(client.poll_event(), Some(Event::Timeout(None)));
    let again = sent(&mut *client, at(1000));
    assert_eq!(again, request);
    arrive(&mut *server, at(1010), &again);
    arrive(&mut *server, at(1020), &request);
    assert_eq!((server.poll_event(), server.poll_event()), (Some(Event::Request), None));
    server.handle_call(Call::Write(3000));
    let data = sent(&mut *server, at(1020));
    assert_eq!(data.iter().map(|it| it.payload).collect::<Vec<_>>(), [1024, 1024, 952]);
    arrive(&mut *client, at(1050), &data);
    assert_eq!((client.poll_event(), client.delivered()), (Some(Event::Received), 3000));
    let answers = sent(&mut *client, at(1050));
    assert_eq!(answers.iter().map(|it| it.ack).collect::<Vec<_>>(), [1024, 2048, 3000]);
    arrive(&mut *server, at(1080), &answers);
    assert!(server.is_quiet() && client.is_quiet());
    assert_eq!((server.poll_timeout(), client.poll_timeout()), (Time::NEVER, Time::NEVER));
    assert_eq!(server.counters().data_packets, 3);
}

#[test]
fn the_window_limits_what_is_outstanding() {
    let [mut server, mut client] = ends(&json!({ "mtu": 1000, "window": 4000 }));
    server.handle_call(Call::Write(10_000));
    let first = sent(&mut *server, at(0));
    assert_eq!((first.len(), server.state().flight, server.state().cwnd), (4, 4000, 4000));
    arrive(&mut *client, at(10), &first[..2]);
    arrive(&mut *server, at(20), &sent(&mut *client, at(10)));
    assert_eq!(sent(&mut *server, at(20)).len(), 2);
}

#[test]
fn what_is_lost_is_asked_for_and_what_is_all_lost_waits_for_the_timer() {
    for (repair, again) in [("go-back-n", 3), ("selective-repeat", 1)] {
        let [mut server, mut client] =
            ends(&json!({ "mtu": 1000, "repair": repair, "rto": "1ms" }));
        server.handle_call(Call::Write(4000));
        let data = sent(&mut *server, at(0));
        arrive(&mut *client, at(10), &[data[0], data[2], data[3]]);
        let answers = sent(&mut *client, at(10));
        assert!(answers[1].flags.contains(Flags::NACK), "{repair}");
        arrive(&mut *server, at(20), &answers);
        assert_eq!(server.poll_event(), Some(Event::FastRetransmit));
        assert_eq!(server.counters().fast_retransmits, 1, "{repair}");
        let repaired = sent(&mut *server, at(20));
        assert_eq!(repaired.len(), again, "{repair}");
        assert!(repaired.iter().all(|it| it.flags.contains(Flags::RETRANSMISSION)));
        // The retransmission is lost, too.
        assert_eq!(server.poll_timeout(), at(20) + Span::from_millis(1));
        server.handle_timeout(at(1020));
        assert!(std::iter::from_fn(|| server.poll_event()).any(|it| it == Event::Timeout(None)));
        let last = sent(&mut *server, at(1020));
        assert_eq!(last[0].seq, 1000, "{repair}");
        arrive(&mut *client, at(1030), &last);
        arrive(&mut *server, at(1040), &sent(&mut *client, at(1030)));
        assert!(server.is_quiet() && client.delivered() == 4000, "{repair}");
    }
}

/// When a header arrives without its data, the receiver requests the data at once.
#[test]
fn a_trimmed_packet_is_repaired_without_a_timeout() {
    for repair in ["go-back-n", "selective-repeat"] {
        let [mut server, mut client] = ends(&json!({ "mtu": 1000, "repair": repair }));
        server.handle_call(Call::Write(2000));
        let mut data = sent(&mut *server, at(0));
        data[1].trim();
        arrive(&mut *client, at(10), &data);
        let answers = sent(&mut *client, at(10));
        assert_eq!(answers[1].lacks(), Some(1000..2000), "{repair}");
        arrive(&mut *server, at(20), &answers);
        arrive(&mut *client, at(30), &sent(&mut *server, at(20)));
        assert_eq!(client.delivered(), 2000, "{repair}");
    }
}

#[test]
fn marks_and_paths_come_back_to_the_sender() {
    let [mut server, mut client] = ends(&json!({ "mtu": 1000, "paths": "round-robin" }));
    server.handle_call(Call::Write(3000));
    let mut data = sent(&mut *server, at(0));
    assert_eq!(data.iter().map(Packet::path).collect::<Vec<_>>(), [Some(0), Some(1), Some(2)]);
    data[2].mark();
    arrive(&mut *client, at(10), &data);
    let answers = sent(&mut *client, at(10));
    assert_eq!(answers.iter().map(Packet::echoed_path).collect::<Vec<_>>(), [0, 1, 2]);
    let echoed: Vec<bool> = answers.iter().map(|it| it.flags.contains(Flags::ECE)).collect();
    assert_eq!(echoed, [false, false, true]);
}

#[test]
fn values_that_no_end_can_have_are_refused() {
    let fault = |changes: Value| {
        let fault = params(&changes).check().expect_err("it is invalid");
        format!("{}: {}", fault.key, fault.message)
    };
    assert_eq!(fault(json!({ "mtu": 0 })), "mtu: 0 is out of range; must be 1 to 65000 bytes");
    assert_eq!(
        fault(json!({ "header_size": 300 })),
        "header_size: 300 is out of range; must be 1 to 255 bytes"
    );
    assert_eq!(
        fault(json!({ "window": 1000 })),
        "window: 1000 is less than a packet; must be at least mtu, 1024 bytes"
    );
    assert_eq!(fault(json!({ "rto": "0s" })), "rto: must be above 0");
}
