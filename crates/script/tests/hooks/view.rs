//! The events and views of hooks, and the order of their calls.

use std::sync::{Arc, Mutex};

use incast_engine::{Span, Time};
use incast_tcp::hooks::{Advice, SendEvent};
use incast_tcp::{ReceiverHook, SenderHook};

use super::{Sender, run, with};

#[test]
fn the_view_tells_of_the_first_segment_how_often_and_when_it_was_sent() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let hook = Sender::on(move |_, view| {
        let millis = view.head_sent_at.as_picos() / Span::from_millis(1).as_picos();
        notes.lock().expect("nobody panics").push((view.head_transmissions, millis));
        Advice::NONE
    });
    with(
        hook,
        "config initial_window=1seg
         +5ms write 1000
         > data 1:1001
         +1s > data 1:1001 rtx
         +5ms < ack 1001",
    );
    // The events are: the segment is sent, the timer expires, the segment is retransmitted, the
    // segment is acknowledged.
    assert_eq!(*seen.lock().expect("nobody panics"), [(1, 5), (1, 5), (2, 1005), (0, 0)]);
}

#[test]
fn the_sender_hook_hears_of_timeouts_but_not_of_those_it_advised() {
    let probe = |event: SendEvent<'_>| match event {
        SendEvent::Timeout => Advice { empty_probe: 1, ..Advice::NONE },
        _ => Advice::NONE,
    };
    let text = "write 1000\n> data 1:1001\n";
    with(
        Sender::on(move |event, _| probe(event)),
        &format!("{text}+1s > ack 1 label 1\n> data 1:1001 rtx"),
    );
    let hook = Sender {
        on_event: Box::new(move |event, _| probe(event)),
        ..Sender::at(3, Advice { expire_timer: true, ..Advice::NONE })
    };
    with(hook, &format!("{text}+3ms > data 1:1001 rtx\n> nothing"));
}

#[test]
fn the_sender_hook_sees_acks_and_departures_with_the_state_of_the_moment() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = Sender::on(move |event, view| {
        let what = match event {
            SendEvent::Ack { packet, .. } => format!("ack {}", packet.ack),
            SendEvent::Sent(packet) => format!("sent {}", packet.seq),
            SendEvent::Timeout => "timeout".to_owned(),
        };
        log.lock().unwrap().push((what, *view));
        Advice::NONE
    });
    with(
        hook,
        "config limited_transmit=false initial_ssthresh=2seg
         write 2500
         > data 1:2001 by 1000
         +8ms < ack 1001 win 7000
         > data 2001:2501
         < ack 1001 x3
         > data 1001:2001 rtx",
    );
    let seen = seen.lock().unwrap();
    let names: Vec<_> = seen.iter().map(|(what, _)| what.as_str()).collect();
    let again = "ack 1001";
    assert_eq!(
        names,
        ["sent 1", "sent 1001", again, "sent 2001", again, again, again, "sent 1001"]
    );
    let first = &seen[0].1;
    assert_eq!((first.una, first.next, first.max, first.written), (1, 1001, 1001, 2501));
    assert_eq!((first.cwnd, first.ssthresh, first.mss), (2000, 2000, 1000));
    assert_eq!((first.srtt, first.in_recovery, first.dupacks), (None, false, 0));
    let last = &seen[7].1;
    assert_eq!(last.now, Time::ZERO + Span::from_millis(8));
    assert_eq!((last.una, last.next, last.max, last.receive_window), (1001, 2501, 2501, 7000));
    assert_eq!(last.srtt, Some(Span::from_millis(8)));
    assert_eq!((last.in_recovery, last.dupacks, last.cwnd), (true, 3, 2000));
}

#[test]
fn the_order_of_hooks_does_not_matter() {
    let first = || Sender::shaping(|_, _| Advice { segment_size: 700, label: 1, ..Advice::NONE });
    let second = || Sender::shaping(|_, _| Advice { segment_size: 300, label: 2, ..Advice::NONE });
    for hooks in [[first(), second()], [second(), first()]] {
        run(
            |connection| {
                for hook in hooks {
                    connection.add_sender_hook(Box::new(hook));
                }
            },
            "write 600\n> data 1:301 label 3\n> data 301:601 label 3",
        );
    }
}

#[test]
fn only_the_hook_whose_deadline_passed_is_asked() {
    run(
        |connection| {
            for (millis, label) in [(5, 1), (3, 2)] {
                let advice = Advice { empty_probe: label, ..Advice::NONE };
                connection.add_sender_hook(Box::new(Sender::at(millis, advice)));
            }
        },
        "+3ms > ack 1 label 2\n+2ms > ack 1 label 1\n+1s > nothing",
    );
}

/// `may_send` in the hook's view at every ACK, in the order of the ACKs.
fn may_send(lines: &str) -> Vec<bool> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = Sender::on(move |event, _| {
        if let SendEvent::Ack { may_send, .. } = event {
            log.lock().expect("nobody panicked").push(may_send);
        }
        Advice::NONE
    });
    with(hook, lines);
    Arc::into_inner(seen).map_or(Vec::new(), |seen| seen.into_inner().expect("nobody panicked"))
}

#[test]
fn a_hook_learns_whether_an_ack_lets_data_leave() {
    // The ACKs allow, in this order: two segments of limited transmit, a fast retransmit, and after
    // inflation a new segment. Then follow a partial ACK, the ACK that ends recovery, and the ACK
    // of all data.
    let seen = may_send(
        "config initial_window=6seg
         write 10000
         > data 1:6001 by 1000
         < ack 1
         > data 6001:7001
         < ack 1
         > data 7001:8001
         < ack 1
         > data 1:1001 rtx
         < ack 1 x3
         > data 8001:9001
         < ack 1001
         > data 1001:2001 rtx
         > data 9001:10001
         < ack 9001
         < ack 10001",
    );
    let expected = [true, true, false, false, false, true, true, false, false];
    assert_eq!(seen, expected);
    // After a timeout, the segments in the send queue count as data that may be sent. The
    // receiver's window and the application also limit sending.
    let seen = may_send(
        "write 4000
         > data 1:2001 by 1000
         +1s > data 1:1001 rtx
         < ack 1
         < ack 1001
         > data 1001:2001 rtx
         > data 2001:3001
         < ack 3001 win 0
         < ack 3001 win 900
         > data 3001:3901",
    );
    assert_eq!(seen, [false, true, false, true]);
    let seen = may_send(
        "config sack=true recovery.name=sack
         write 3000
         > data 1:2001 by 1000
         < ack 1 sack 1001:2001
         > data 2001:3001
         < ack 2001
         < ack 3001",
    );
    assert_eq!(seen, [true, false, false]);
}

#[test]
fn a_handshake_carries_the_labels_of_both_kinds_of_hooks() {
    struct Labels(u16);
    impl SenderHook for Labels {
        fn handshake(&self) -> Advice {
            Advice { label: self.0, ..Advice::NONE }
        }
    }
    impl ReceiverHook for Labels {
        fn handshake(&self) -> Advice {
            Advice { label: self.0, ..Advice::NONE }
        }
    }
    for (role, packets) in [
        ("opener", "open\n> syn label 3\n< syn ack 1 label 4\n> ack 1"),
        ("acceptor", "< syn label 4\n> syn ack 1 label 3\n< ack 1"),
    ] {
        run(
            |connection| {
                connection.add_sender_hook(Box::new(Labels(1)));
                connection.add_receiver_hook(Box::new(Labels(2)));
            },
            &format!("config handshake=three-way role={role}\n{packets}\n> nothing"),
        );
    }
}
