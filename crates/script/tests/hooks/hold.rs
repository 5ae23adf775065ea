//! Receiver hooks can delay ACKs but cannot change them.

use std::sync::{Arc, Mutex};

use incast_engine::{Span, Time};
use incast_tcp::ReceiverHook;
use incast_tcp::hooks::{AckEvent, Advice};

use super::run;

type OnAck = Box<dyn FnMut(AckEvent<'_>, Time) -> Time + Send>;

struct Holder(OnAck);

impl ReceiverHook for Holder {
    fn on_ack(&mut self, event: AckEvent<'_>, now: Time) -> Advice {
        Advice { hold_ack_until: (self.0)(event, now), ..Advice::NONE }
    }
}

#[track_caller]
fn holding(on_ack: impl FnMut(AckEvent<'_>, Time) -> Time + Send + 'static, lines: &str) {
    run(|connection| connection.add_receiver_hook(Box::new(Holder(Box::new(on_ack)))), lines);
}

/// Delays every ACK by this time.
fn for_millis(millis: u64) -> impl FnMut(AckEvent<'_>, Time) -> Time + Send + 'static {
    move |event, now| match event {
        AckEvent::Ready(_) => now + Span::from_millis(millis),
        _ => Time::ZERO,
    }
}

#[test]
fn an_ack_leaves_as_it_was_when_it_was_ready() {
    holding(
        for_millis(3),
        "< data 1:1001
         +1ms < data 2001:3001
         +1ms < data 3001:4001
         assert holding_ack == true
         +1ms > ack 1001
         +1ms > ack 1001
         +1ms > ack 1001
         assert holding_ack == false
         +1ms < data 1001:2001
         +3ms > ack 4001",
    );
}

#[test]
fn the_first_keeps_those_behind_it() {
    // The first ACK is delayed by 5 ms, the others by 1 ms.
    let mut first = true;
    holding(
        move |event, now| match event {
            AckEvent::Ready(_) if std::mem::take(&mut first) => now + Span::from_millis(5),
            AckEvent::Ready(_) => now + Span::from_millis(1),
            _ => Time::ZERO,
        },
        "< data 1:1001
         < data 1001:2001
         +5ms > ack 1001
         > ack 2001
         < data 2001:3001
         +1ms > ack 3001",
    );
}

#[test]
fn a_hook_is_asked_again_and_may_hold_on() {
    let mut asked = 0;
    holding(
        move |event, now| match event {
            AckEvent::Left => Time::ZERO,
            _ if asked < 3 => {
                asked += 1;
                now + Span::from_millis(1)
            }
            _ => Time::ZERO,
        },
        "< data 1:1001\n+3ms > ack 1001\n< data 1001:2001\n> ack 2001",
    );
}

#[test]
fn rfc5681_4_2_nobody_holds_an_ack_for_more_than_half_a_second() {
    holding(
        |_, _| Time::NEVER,
        "< data 1:1001
         +100ms < data 1001:2001
         +400ms > ack 1001
         +100ms > ack 2001",
    );
}

#[test]
fn two_hooks_hold_until_the_later_one_lets_go() {
    for millis in [[2, 5], [5, 2]] {
        run(
            |connection| {
                for millis in millis {
                    connection.add_receiver_hook(Box::new(Holder(Box::new(for_millis(millis)))));
                }
            },
            "< data 1:1001\n+5ms > ack 1001",
        );
    }
}

#[test]
fn everyone_is_ready_then_due_then_has_left() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    holding(
        move |event, now| {
            let mut log = log.lock().unwrap();
            match event {
                AckEvent::Ready(packet) => {
                    log.push(format!("ready {}", packet.ack));
                    return now + Span::from_millis(packet.ack / 1000);
                }
                AckEvent::Expired => log.push("due".to_owned()),
                AckEvent::Left => log.push("left".to_owned()),
            }
            Time::ZERO
        },
        "< data 1:501
         > ack 501
         < data 501:2001
         < data 2001:2501
         +2ms > ack 2001
         > ack 2501",
    );
    let expected = "ready 501, left, ready 2001, ready 2501, due, left, due, left";
    assert_eq!(seen.lock().unwrap().join(", "), expected);
}

#[test]
fn data_say_what_a_held_ack_would_have_said() {
    holding(
        for_millis(3),
        "< data 1:1001
         +1ms write 1000
         > data 1:1001 ack 1001
         < data 1001:2001 ack 1001
         assert holding_ack == true
         +3ms > ack 2001
         assert holding_ack == false",
    );
}

#[test]
fn extra_acks_wait_with_the_regular_one() {
    struct Extra;
    impl ReceiverHook for Extra {
        fn on_segment(
            &mut self,
            _: &incast_net::Packet,
            _: &incast_tcp::hooks::ReceiveView,
        ) -> Advice {
            Advice { extra_acks: 2, ..Advice::NONE }
        }
    }
    run(
        |connection| {
            connection.add_receiver_hook(Box::new(Extra));
            connection.add_receiver_hook(Box::new(Holder(Box::new(for_millis(3)))));
        },
        "< data 1:1001\n+3ms > ack 1001\n> ack 1001\n> ack 1001",
    );
}

#[test]
fn rfc8257_3_2_the_ack_before_a_change_of_marks_keeps_its_place() {
    holding(
        for_millis(3),
        "config ecn=data delayed_ack=2/40ms congestion_control.name=dctcp
         < data 1:1001 ect
         < data 1001:2001 ce
         +3ms > ack 1001
         > ack 2001 ece",
    );
}

#[test]
fn a_request_is_timed_from_when_it_leaves() {
    holding(
        for_millis(3),
        "config role=opener syn_rto=10ms
         request 100
         +3ms > request 1 size 100
         assert deadline == 10ms
         +10ms > nothing
         +3ms > request 1 size 100
         +1ms < data 1:1001
         +3ms > ack 1001",
    );
}

#[test]
fn the_request_on_a_handshake_waits_but_no_syn_does() {
    holding(
        for_millis(3),
        "config role=opener handshake=three-way
         request
         > syn
         +1ms < syn ack 1
         +3ms > ack 1 request 1",
    );
}
