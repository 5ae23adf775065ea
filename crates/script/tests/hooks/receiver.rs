//! Advice of receiver hooks.

use incast_engine::Time;
use incast_net::Packet;
use incast_tcp::ReceiverHook;
use incast_tcp::hooks::{Advice, ReceiveView};

use super::run;

/// A receiver hook made of a closure and of fixed advice on sent packets.
struct Receiver<F> {
    on_segment: F,
    shape: fn(Time) -> Advice,
}

impl<F: FnMut(&Packet, &ReceiveView) -> Advice + Send> ReceiverHook for Receiver<F> {
    fn on_segment(&mut self, packet: &Packet, view: &ReceiveView) -> Advice {
        (self.on_segment)(packet, view)
    }

    fn shape(&self, now: Time) -> Advice {
        (self.shape)(now)
    }
}

#[track_caller]
pub(super) fn receiving(
    on_segment: impl FnMut(&Packet, &ReceiveView) -> Advice + Send + 'static,
    shape: fn(Time) -> Advice,
    lines: &str,
) {
    let hook = Receiver { on_segment, shape };
    run(|connection| connection.add_receiver_hook(Box::new(hook)), lines);
}

#[test]
fn a_labelled_ack_is_not_delayed_and_not_swallowed_by_data() {
    receiving(
        |packet, _| Advice { label: packet.label, ..Advice::NONE },
        |_| Advice::NONE,
        "config delayed_ack=2/40ms handshake=three-way
         write 1000
         < syn
         > syn ack 1
         < data 1:1001 ack 1 label 1
         > data 1:1001 ack 1001
         > ack 1001 label 1
         > nothing",
    );
}

#[test]
fn receive_window_cap_is_advertised_but_takes_nothing_back() {
    receiving(
        |_, _| Advice::NONE,
        |now| {
            let receive_window_cap = if now == Time::ZERO { 3000 } else { 500 };
            Advice { receive_window_cap, ..Advice::NONE }
        },
        "< data 1:1001
         > ack 1001 win 3000
         +1ms < data 1001:2001
         > ack 2001 win 2000
         < data 2001:4001
         > ack 4001 win 500",
    );
}

#[test]
fn extra_acks_follow_the_regular_one() {
    receiving(
        |packet, _| Advice { extra_acks: 2 * packet.label as u8, ..Advice::NONE },
        |_| Advice::NONE,
        "< data 1:1001
         > ack 1001
         < data 1001:2001 label 1
         > ack 2001
         > ack 2001
         > ack 2001
         > nothing
         < data 2001:3001
         > ack 3001",
    );
}

#[test]
fn a_receiver_hook_without_advice_leaves_the_ack_alone() {
    receiving(
        |_, _| Advice::NONE,
        |_| Advice::NONE,
        "config delayed_ack=2/40ms\n< data 1:1001\n> nothing\n+40ms > ack 1001",
    );
}

#[test]
fn a_receiver_hook_sees_duplicates_and_what_is_expected_next() {
    receiving(
        |packet, view| {
            assert_eq!(
                view.duplicate,
                packet.seq_end() < view.next || packet.seq == packet.seq_end()
            );
            Advice { label: u16::from(view.duplicate), ..Advice::NONE }
        },
        |_| Advice::NONE,
        "< data 1:1001
         > ack 1001
         < data 1001:2001
         > ack 2001
         < data 1:1001 rtx
         > ack 2001 label 1
         < ack 1 label 8
         > ack 2001 label 1",
    );
}

#[test]
fn echo_repeats_the_timestamp_of_the_segment_at_hand() {
    let lines = "config timestamps=1ms
         < data 1:1001 ts 70:0
         > ack 1001 ts 0:70
         +1ms < data 2001:3001 ts 71:0
         > ack 1001 ts 1:";
    receiving(
        |_, _| Advice { echo: true, ..Advice::NONE },
        |_| Advice::NONE,
        &format!("{lines}71"),
    );
    receiving(|_, _| Advice::NONE, |_| Advice::NONE, &format!("{lines}70"));
}
