//! The state machine of figure 7 in the paper.

/// The state of the sender's heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The next segment carries the label.
    Label,
    /// The heartbeat is in flight, and no segment is labelled.
    DontLabel,
    /// The heartbeat has returned. The next state follows at once.
    Transient,
    /// The heartbeat has returned to this sender, and no data can leave now. The sender is in loss
    /// recovery, which will send data.
    Wait,
    /// The heartbeat has returned to this sender, and no data can leave now. If this number of
    /// further dummies are answered and still no data can leave, the retransmission timer expires
    /// early.
    Arrested(u8),
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A labelled segment left.
    LabelSent,
    /// A labelled ACK arrived.
    LabelledAck,
    /// A dummy of this stall was answered.
    DummyAck,
    /// Any other ACK arrived.
    Ack,
    /// The retransmission timer expired.
    Timeout,
}

/// The state of the connection after an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Data can leave now.
    MaySend,
    /// All sent data are acknowledged, and no data can be sent, so no data can be lost.
    Done,
    /// Loss recovery continues.
    Recovery,
    /// No data can leave now.
    Stuck,
}

/// The action to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    None,
    /// Send a dummy.
    Dummy,
    /// Act as if the retransmission timer had expired.
    Expire,
}

/// Dummies per stall.
const DUMMIES: u8 = 3;

impl State {
    /// The state after `input`, and the action: figure 7 and §III.C, line by line.
    #[expect(clippy::match_same_arms, reason = "one arm per line of the figure")]
    pub fn next(self, input: Input, outlook: Outlook) -> (Self, Action) {
        use Input::{Ack, DummyAck, LabelSent, LabelledAck, Timeout};
        use Outlook::{Done, MaySend, Recovery, Stuck};
        use State::{Arrested, DontLabel, Label, Transient, Wait};
        match (self, input, outlook) {
            (_, Timeout, _) => (Label, Action::None),
            // The application may have written data, which are then sent without a preceding ACK.
            (Label | Wait | Arrested(_), LabelSent, _) => (DontLabel, Action::None),

            (DontLabel, LabelledAck, _) => Transient.next(input, outlook),
            // The heartbeat was lost, but all sent data are acknowledged.
            (DontLabel, Ack | DummyAck, Done) => (Label, Action::None),

            (Transient | Wait | Arrested(_), _, Done | MaySend) => (Label, Action::None),
            (Transient | Wait | Arrested(_), _, Recovery) => (Wait, Action::None),
            (Transient | Wait, _, Stuck) => (Arrested(DUMMIES), Action::Dummy),

            (Arrested(1), DummyAck, Stuck) => (Label, Action::Expire),
            (Arrested(left), DummyAck, Stuck) => (Arrested(left - 1), Action::Dummy),

            (Label | DontLabel | Arrested(_), _, _) => (self, Action::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTLOOKS: [Outlook; 4] =
        [Outlook::Done, Outlook::MaySend, Outlook::Recovery, Outlook::Stuck];
    const INPUTS: [Input; 5] =
        [Input::LabelSent, Input::LabelledAck, Input::DummyAck, Input::Ack, Input::Timeout];
    const STATES: [State; 6] = [
        State::Label,
        State::DontLabel,
        State::Wait,
        State::Arrested(1),
        State::Arrested(2),
        State::Arrested(3),
    ];

    fn every_case() -> impl Iterator<Item = (State, Input, Outlook)> {
        STATES.into_iter().flat_map(|state| {
            INPUTS.into_iter().flat_map(move |input| {
                OUTLOOKS.into_iter().map(move |outlook| (state, input, outlook))
            })
        })
    }

    #[test]
    fn the_transient_state_is_left_at_once() {
        for (state, input, outlook) in every_case() {
            assert_ne!(state.next(input, outlook).0, State::Transient);
        }
    }

    #[test]
    fn only_after_acks_the_outlook_matters() {
        for state in STATES {
            for input in [Input::Timeout, Input::LabelSent] {
                let after = OUTLOOKS.map(|outlook| state.next(input, outlook));
                assert!(after.iter().all(|next| *next == after[0]), "{state:?} {input:?}");
            }
        }
    }

    #[test]
    fn a_timeout_always_starts_the_heartbeat_anew() {
        for (state, _, outlook) in every_case() {
            assert_eq!(state.next(Input::Timeout, outlook), (State::Label, Action::None));
        }
    }

    #[test]
    fn the_timer_expires_after_the_third_answer_and_never_during_recovery() {
        for (state, input, outlook) in every_case() {
            let expires = state.next(input, outlook).1 == Action::Expire;
            let due =
                (state, input, outlook) == (State::Arrested(1), Input::DummyAck, Outlook::Stuck);
            assert_eq!(expires, due, "{state:?} {input:?} {outlook:?}");
        }
        let mut state = State::DontLabel;
        let mut actions = Vec::new();
        for input in [Input::LabelledAck, Input::DummyAck, Input::DummyAck, Input::DummyAck] {
            let (next, action) = state.next(input, Outlook::Stuck);
            state = next;
            actions.push(action);
        }
        assert_eq!(actions, [Action::Dummy, Action::Dummy, Action::Dummy, Action::Expire]);
        assert_eq!(state, State::Label);
    }

    #[test]
    fn a_dummy_leaves_only_on_the_way_to_or_within_arrested() {
        for (state, input, outlook) in every_case() {
            let (next, action) = state.next(input, outlook);
            assert!(action != Action::Dummy || matches!(next, State::Arrested(_)));
        }
    }
}
