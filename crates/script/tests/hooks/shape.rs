//! Advice on sent packets: size, labels and time.

use incast_engine::{Span, Time};
use incast_tcp::SenderHook;
use incast_tcp::hooks::{Advice, SendEvent, SendView, TxPlan};

use super::receiver::receiving;
use super::{Sender, run, with};

#[test]
fn segment_size_cuts_the_stream_and_sets_the_unit_of_growth() {
    with(
        Sender::shaping(|_, _| Advice { segment_size: 400, ..Advice::NONE }),
        "write 9000
         > data 1:2001 by 400
         +1ms < ack 401
         assert cwnd == 2400
         > data 2001:2801 by 400",
    );
    // The size is at most the MSS and at least one byte.
    with(
        Sender::shaping(|_, _| Advice { segment_size: 5000, ..Advice::NONE }),
        "write 9000\n> data 1:2001 by 1000",
    );
    with(
        Sender::shaping(|_, _| Advice { segment_size: 0, ..Advice::NONE }),
        "config initial_window=2\nwrite 9000\n> data 1:2\n> data 2:3",
    );
}

/// Kulkarni & Agrawal, algorithm 4: if segments grow, cwnd keeps its bytes. If segments
/// shrink, a cwnd that counts segments keeps its number of segments.
#[test]
fn counts_segments_makes_cwnd_follow_their_size() {
    let resizing = |counts_segments: bool| {
        Sender::shaping(move |view, _| {
            let segment_size = match view.una {
                ..2000 => 1000,
                2000..2300 => 100,
                _ => 200,
            };
            Advice { segment_size, counts_segments, ..Advice::NONE }
        })
    };
    with(
        resizing(true),
        "write 9000
         > data 1:2001 by 1000
         +1ms < ack 2001
         > data 2001:2301 by 100
         assert cwnd == 300
         +1ms < ack 2301
         > data 2301:2701 by 200
         assert cwnd == 400",
    );
    with(
        resizing(false),
        "write 9000
         > data 1:2001 by 1000
         +1ms < ack 2001
         > data 2001:5001 by 100
         assert cwnd == 3000",
    );
}

#[test]
fn segment_size_does_not_cut_what_was_sent_before() {
    with(
        Sender::shaping(|_, plan| {
            let segment_size = if plan.retransmission { 100 } else { 1000 };
            Advice { segment_size, ..Advice::NONE }
        }),
        "write 2000\n> data 1:2001 by 1000\n+1s > data 1:1001 rtx",
    );
}

#[test]
fn rto_floor_delays_the_timer() {
    let floor = |millis| Advice { rto_floor: Span::from_millis(millis), ..Advice::NONE };
    let lines = "write 2000
         > data 1:2001 by 1000
         +1ms < ack 1001
         assert rto == 200ms, deadline == 500ms
         +500ms > data 1001:2001 rtx
         assert rto == 400ms";
    with(Sender::timing(move |_| floor(500)), &format!("{lines}\n+500ms > data 1001:2001 rtx"));
    // A hook that knows the backoff can follow it or ignore it.
    with(
        Sender::timing(move |view| floor(500 << view.doublings)),
        &format!("{lines}\n+1s > data 1001:2001 rtx"),
    );
    with(
        Sender::timing(move |view| floor(if view.rto == Span::from_millis(200) { 500 } else { 0 })),
        &format!("{lines}\n+400ms > data 1001:2001 rtx"),
    );
    // The floor is at most the maximum RTO, and does not apply to other timers.
    with(
        Sender::timing(move |_| floor(500)),
        "config rto.max=250ms\nwrite 1000\n> data 1:1001\n+250ms > data 1:1001 rtx",
    );
}

#[test]
fn header_bytes_can_only_shrink() {
    with(
        Sender::shaping(|_, _| Advice { header_bytes: 12, ..Advice::NONE }),
        "write 1000\n> data 1:1001 header 12\n< data 1:2 ack 1\n> ack 2 header 40",
    );
    with(
        Sender::shaping(|_, _| Advice { header_bytes: 99, ..Advice::NONE }),
        "write 1000\n> data 1:1001 header 40",
    );
    receiving(
        |_, _| Advice::NONE,
        |_| Advice { header_bytes: 12, ..Advice::NONE },
        "< data 1:2\n> ack 2 header 12",
    );
}

#[test]
fn label_marks_data_and_acks() {
    with(
        Sender::shaping(|view, plan| {
            let label = u16::from(plan.seq == view.una) + 2 * u16::from(plan.retransmission);
            Advice { label, ..Advice::NONE }
        }),
        "write 2000
         > data 1:1001 label 1
         > data 1001:2001
         +1s > data 1:1001 rtx label 3",
    );
    receiving(
        |packet, _| Advice { label: packet.label, ..Advice::NONE },
        |_| Advice::NONE,
        "< data 1:1001 label 5\n> ack 1001 label 5\n< data 1001:2001\n> ack 2001",
    );
}

#[test]
fn hold_until_delays_data_but_no_acks() {
    let at = Time::ZERO + Span::from_millis(5);
    with(
        Sender::shaping(move |_, _| Advice { hold_until: at, ..Advice::NONE }),
        "write 2000
         > nothing
         +1ms < data 1:2 ack 1
         > ack 2
         +4ms > data 1:1001
         > data 1001:2001",
    );
}

/// Keeps segments at least a millisecond apart.
struct Spacing(Time);

impl SenderHook for Spacing {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        if matches!(event, SendEvent::Sent(_)) {
            self.0 = view.now + Span::from_millis(1);
        }
        Advice::NONE
    }

    fn shape(&self, _: &SendView, _: &TxPlan) -> Advice {
        Advice { hold_until: self.0, ..Advice::NONE }
    }
}

#[test]
fn hold_until_can_move_on_with_every_segment() {
    run(
        |connection| connection.add_sender_hook(Box::new(Spacing(Time::ZERO))),
        "config initial_window=4seg
         write 4000
         > data 1:1001
         +1ms > data 1001:2001
         +1ms > data 2001:3001
         +500us < ack 1001
         +500us > data 3001:4001",
    );
    run(
        |connection| connection.add_sender_hook(Box::new(Spacing(Time::ZERO))),
        "config initial_window=3seg send_jitter=100us
         write 3000
         +0~+100us > data 1:1001
         +1ms~+1100us > data 1001:2001
         +1ms~+1100us > data 2001:3001",
    );
}

#[test]
fn window_ceiling_bounds_the_flight() {
    with(
        Sender::shaping(|_, _| Advice { window_ceiling: 1500, ..Advice::NONE }),
        "write 9000
         > data 1:1001
         > nothing
         +1ms < ack 1001
         > data 1001:2001
         > nothing
         assert cwnd == 3000",
    );
}
