//! What hooks advise shows on the wire: every field of `Advice`, one by one.

mod hold;
mod receiver;

use std::sync::{Arc, Mutex};

use incast_engine::{Span, Time};
use incast_script::Script;
use incast_tcp::hooks::{Advice, Copies, SendEvent, SendView, TxPlan};
use incast_tcp::{Connection, ReceiverHook, SenderHook};
use receiver::receiving;

type OnEvent = Box<dyn FnMut(SendEvent<'_>, &SendView) -> Advice + Send>;
type Timer = Box<dyn Fn(&SendView) -> Advice + Send>;
type Shape = Box<dyn Fn(&SendView, &TxPlan) -> Advice + Send>;

/// A sender hook made of closures.
struct Sender {
    on_event: OnEvent,
    shape: Shape,
    timer: Timer,
    deadline: Time,
    due: Advice,
}

impl Sender {
    fn idle() -> Self {
        let on_event: OnEvent = Box::new(|_, _| Advice::NONE);
        let shape: Shape = Box::new(|_, _| Advice::NONE);
        let timer: Timer = Box::new(|_| Advice::NONE);
        Self { on_event, shape, timer, deadline: Time::NEVER, due: Advice::NONE }
    }

    fn shaping(shape: impl Fn(&SendView, &TxPlan) -> Advice + Send + 'static) -> Self {
        Self { shape: Box::new(shape), ..Self::idle() }
    }

    fn on(event: impl FnMut(SendEvent<'_>, &SendView) -> Advice + Send + 'static) -> Self {
        Self { on_event: Box::new(event), ..Self::idle() }
    }

    fn timing(timer: impl Fn(&SendView) -> Advice + Send + 'static) -> Self {
        Self { timer: Box::new(timer), ..Self::idle() }
    }

    /// Advises once, at `millis`.
    fn at(millis: u64, due: Advice) -> Self {
        Self { deadline: Time::ZERO + Span::from_millis(millis), due, ..Self::idle() }
    }
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        (self.on_event)(event, view)
    }

    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        (self.shape)(view, plan)
    }

    fn timer(&self, view: &SendView) -> Advice {
        (self.timer)(view)
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, view: &SendView) -> Advice {
        assert_eq!(view.now, self.deadline, "asked at its deadline only");
        self.deadline = Time::NEVER;
        self.due
    }
}

#[track_caller]
fn run(prepare: impl FnOnce(&mut Connection), lines: &str) {
    let script = Script::parse("hooks", &format!("# See the test's name.\n{lines}"));
    if let Err(failure) = script.and_then(|script| script.run_with(prepare)) {
        panic!("{failure}");
    }
}

#[track_caller]
fn with(hook: Sender, lines: &str) {
    run(|connection| connection.add_sender_hook(Box::new(hook)), lines);
}

/// A new field does not compile here until it has its test below.
#[test]
fn every_field_has_a_test() {
    let Advice {
        segment_size: _,
        header_bytes: _,
        label: _,
        hold_until: _,
        receive_window_cap: _,
        window_ceiling: _,
        extra_acks: _,
        copies: _,
        enter_recovery: _,
        restart_window: _,
        expire_timer: _,
        keep_rto: _,
        empty_probe: _,
        end_again: _,
        echo: _,
        rto_floor: _,
        hold_ack_until: _,
    } = Advice::NONE;
}

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
    // Never more than the MSS, and never nothing.
    with(
        Sender::shaping(|_, _| Advice { segment_size: 5000, ..Advice::NONE }),
        "write 9000\n> data 1:2001 by 1000",
    );
    with(
        Sender::shaping(|_, _| Advice { segment_size: 0, ..Advice::NONE }),
        "config initial_window=2\nwrite 9000\n> data 1:2\n> data 2:3",
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
    // A hook that knows of the backoff may go along with it, or leave it alone.
    with(
        Sender::timing(move |view| floor(500 << view.doublings)),
        &format!("{lines}\n+1s > data 1001:2001 rtx"),
    );
    with(
        Sender::timing(move |view| floor(if view.rto == Span::from_millis(200) { 500 } else { 0 })),
        &format!("{lines}\n+400ms > data 1001:2001 rtx"),
    );
    // Never beyond the maximum, and not where the timer is another one's.
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
            let label = u8::from(plan.seq == view.una) + 2 * u8::from(plan.retransmission);
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

/// Keeps a millisecond between any two segments.
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

#[test]
fn copies_of_the_head_or_the_highest_segment_leave_at_once() {
    let copies = |copies| Sender::at(3, Advice { copies, ..Advice::NONE });
    let start = "write 3000\n> data 1:2001 by 1000\n";
    with(
        copies(Copies::HEAD),
        &format!("{start}+3ms > data 1:1001 rtx\nassert cwnd == 2000, flight == 2000"),
    );
    with(copies(Copies::HIGHEST), &format!("{start}+3ms > data 1001:2001 rtx"));
    with(
        copies(Copies::HEAD.union(Copies::HIGHEST)),
        &format!("{start}+3ms > data 1:1001 rtx\n> data 1001:2001 rtx"),
    );
    with(copies(Copies::HEAD), "write 100\n> data 1:101\n< ack 101\n+1s > nothing");
}

#[test]
fn rfc6298_3_a_copy_is_no_sample() {
    for (sampling, copies, copied) in [
        ("per-ack", Copies::HEAD, "1:1001"),
        ("per-window", Copies::HEAD, "1:1001"),
        ("per-ack", Copies::HIGHEST, "1001:2001"),
    ] {
        with(
            Sender::at(3, Advice { copies, ..Advice::NONE }),
            &format!(
                "config rtt_sampling={sampling}
                 write 2000
                 > data 1:2001 by 1000
                 +3ms > data {copied} rtx
                 +7ms < ack 2001
                 assert srtt == none",
            ),
        );
    }
    // A copy of another segment does not disturb the one that is being timed.
    with(
        Sender::at(3, Advice { copies: Copies::HIGHEST, ..Advice::NONE }),
        "config rtt_sampling=per-window
         write 2000
         > data 1:2001 by 1000
         +3ms > data 1001:2001 rtx
         +7ms < ack 1001
         assert srtt == 10ms",
    );
}

#[test]
fn a_copy_is_told_from_a_regular_retransmission() {
    let hook = Sender {
        shape: Box::new(|_, plan| Advice { label: u8::from(plan.requested), ..Advice::NONE }),
        ..Sender::at(3, Advice { copies: Copies::HEAD, ..Advice::NONE })
    };
    with(
        hook,
        "write 1000
         > data 1:1001
         +3ms > data 1:1001 rtx label 1
         +997ms > data 1:1001 rtx",
    );
}

#[test]
fn enter_recovery_does_not_wait_for_three_duplicates() {
    with(
        Sender::on(|_, view| Advice { enter_recovery: view.dupacks == 1, ..Advice::NONE }),
        "config initial_window=6seg limited_transmit=false
         write 6000
         > data 1:6001 by 1000
         +1ms < ack 1
         > data 1:1001 rtx
         assert in_recovery == true, ssthresh == 3000, cwnd == 3000
         event fast-retransmit
         +1ms < ack 6001
         assert in_recovery == false",
    );
    with(
        Sender::at(3, Advice { enter_recovery: true, ..Advice::NONE }),
        "+3ms > nothing\nassert in_recovery == false, ssthresh == 1073741824",
    );
}

#[test]
fn restart_window_falls_back_to_the_initial_window() {
    with(
        Sender::at(20, Advice { restart_window: true, ..Advice::NONE }),
        "config initial_ssthresh=9seg
         write 4000
         > data 1:2001 by 1000
         +1ms < ack 1001
         > data 2001:4001 by 1000
         < ack 4001
         assert cwnd == 4000
         +19ms assert cwnd == 2000, ssthresh == 9000",
    );
}

#[test]
fn expire_timer_acts_as_a_timeout() {
    for (keep_rto, rto) in [(false, "2s"), (true, "1s")] {
        let advice = Advice { expire_timer: true, keep_rto, ..Advice::NONE };
        with(
            Sender::at(3, advice),
            &format!(
                "config initial_window=6seg
                 write 6000
                 > data 1:6001 by 1000
                 +3ms > data 1:1001 rtx
                 assert cwnd == 1000, ssthresh == 3000, rto == {rto}, deadline == {rto}
                 event timeout advised == true, flight == 6000",
            ),
        );
        with(Sender::at(3, advice), "+1s > nothing\nassert rto == 1s, cwnd == 2000");
    }
}

#[test]
fn expire_timer_keeps_what_else_is_owed() {
    let advice = Advice { expire_timer: true, copies: Copies::HIGHEST, ..Advice::NONE };
    with(
        Sender::at(3, advice),
        "write 2000
         > data 1:2001 by 1000
         +3ms > data 1001:2001 rtx
         > data 1:1001 rtx
         > nothing",
    );
}

#[test]
fn empty_probe_is_a_labelled_packet_without_data() {
    with(
        Sender::at(3, Advice { empty_probe: 4, ..Advice::NONE }),
        "write 1000\n> data 1:1001\n+3ms > ack 1 label 4 seq 1001 header 40\n> nothing",
    );
}

#[test]
fn end_again_is_the_fin_or_an_empty_packet_where_there_is_none() {
    let hook = || Sender::at(3, Advice { end_again: 4, ..Advice::NONE });
    with(hook(), "write 1000\n> data 1:1001\n+3ms > ack 1 label 4 seq 1001 header 40\n> nothing");
    let closed = "config fin=true\nwrite 1000\n> data 1:1001\nclose\n> data 1001:1001 fin\n";
    with(
        hook(),
        &format!(
            "{closed}+3ms > data 1001:1001 fin rtx header 40
             assert flight == 1001, data_packets == 3, retransmitted_packets == 1
             +7ms < ack 1002
             assert srtt == 10ms, drained == true",
        ),
    );
    // A FIN that waits for the window is not sent out of turn, and one that arrived not at all.
    with(
        hook(),
        "config fin=true
         write 3000
         > data 1:2001 by 1000
         close
         +3ms > ack 1 label 4 seq 2001",
    );
    with(hook(), &format!("{closed}+1ms < ack 1002\n+1s > nothing"));
}

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
    // Sent, the timeout, sent again, acknowledged.
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
            SendEvent::Ack(packet) => format!("ack {}", packet.ack),
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

/// What every ACK lets the hook see of `may_send`, in the order of the ACKs.
fn may_send(lines: &str) -> Vec<bool> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = Sender::on(move |event, view| {
        if matches!(event, SendEvent::Ack(_)) {
            log.lock().expect("nobody panicked").push(view.may_send);
        }
        Advice::NONE
    });
    with(hook, lines);
    Arc::into_inner(seen).map_or(Vec::new(), |seen| seen.into_inner().expect("nobody panicked"))
}

#[test]
fn a_hook_learns_whether_an_ack_lets_data_leave() {
    // New data, limited transmit, fast retransmit, inflation, a partial ACK, the full ACK, the end.
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
    // What a timeout called back counts, as do the receiver's window and the application.
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
    struct Labels(u8);
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
