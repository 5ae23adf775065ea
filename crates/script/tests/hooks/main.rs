//! The effect of every field of `Advice` on the packets.

mod demands;
mod hold;
mod receiver;
mod shape;
mod view;

use incast_engine::{Span, Time};
use incast_script::Script;
use incast_tcp::hooks::{Advice, SendEvent, SendView, TxPlan};
use incast_tcp::{Connection, SenderHook};

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

    /// Gives advice once, at `millis`.
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

/// If `Advice` gets a new field, this test does not compile until the field has a test in a file of
/// this folder.
#[test]
fn every_field_has_a_test() {
    let Advice {
        segment_size: _,
        counts_segments: _,
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
