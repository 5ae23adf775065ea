//! A remedy for stalls. The repair depends on where in a message a flow stalls.
//!
//! Kulkarni & Agrawal §5.2 leave the distinction between timeouts at the head of a block (ABTT) and
//! those inside it (IBTT) to future work. A sender cannot observe the switch. But it knows where
//! its message begins and ends, whether a part of the message was acknowledged, and whether
//! duplicate ACKs arrived. These facts decide what the sender does when no ACK has arrived for a
//! few round trips: see [`Position`]. The retransmission timer does not change. After `tries`
//! repairs without an ACK, only this timer is left. `docs/reference/head-tail.md` contains the
//! reasons and the evaluation.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incast_engine::{Fault, Span, Stream, Time};
use incast_net::{Flags, Packet};
use incast_tcp::hooks::{Advice, Copies, SendEvent, SendView, SenderHook};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::seam::{Installation, Measure, Outcome, Place, Remedy, Situation};

/// Repairs that depend on where in a message a flow stalls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HeadTailRemedy")]
pub struct Params {
    /// Time without an ACK after which a flow counts as stalled, in units of the longest round
    /// trip. A random time up to the same length is added. Default: 1.
    #[schemars(range(min = 1, max = 1000))]
    pub patience: u32,
    /// Lower bound, in seconds, of the time after which a flow counts as stalled, without the
    /// random part. Default: 1 ms.
    pub least_wait: Span,
    /// Number of consecutive repairs without an ACK after which only the retransmission timer can
    /// repair. Default: 10.
    #[schemars(range(max = 100))]
    pub tries: u32,
    /// The messages at whose head cwnd is reset to the initial window.
    pub restart: Restart,
    /// Whether a server's next connection starts with the longest round trip and the repairs of the
    /// last connection (RFC 9040). Default: true.
    pub carry: bool,
}

/// The messages at whose head cwnd is reset to the initial window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "HeadTailRestart")]
pub enum Restart {
    /// For no message.
    Never,
    /// For the eight messages after a message that needed a repair.
    #[default]
    AfterRepairs,
    /// At the head of every message.
    Always,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            patience: 1,
            least_wait: Span::from_millis(1),
            tries: 10,
            restart: Restart::default(),
            carry: true,
        }
    }
}

impl Remedy for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.least_wait.is_zero() {
            return Err(Fault::new("least_wait", "must be longer than 0; write e.g. \"1ms\""));
        }
        Ok(())
    }

    fn measures(&self) -> &'static [Measure] {
        const COUNTS: &[Measure] = &[
            Measure {
                name: "head-tail.heads",
                unit: "1",
                description: "Repairs at the head of a message.",
            },
            Measure {
                name: "head-tail.inside",
                unit: "1",
                description: "Repairs inside a message.",
            },
            Measure {
                name: "head-tail.tails",
                unit: "1",
                description: "Repairs after a whole message had been sent.",
            },
            Measure {
                name: "head-tail.again",
                unit: "1",
                description: "Repairs of segments that had already been retransmitted.",
            },
            Measure {
                name: "head-tail.early_timeouts",
                unit: "1",
                description: "Repairs by an early timeout, also counted in `timeouts`.",
            },
        ];
        COUNTS
    }

    fn install(&self, _: &Situation) -> Box<dyn Installation> {
        Box::new(Client { params: self.clone(), counts: Arc::default(), servers: Vec::new() })
    }
}

/// Counters of all senders of a client, in the order of the measures.
type Counts = [AtomicU64; 5];

/// Index of the early timeouts in [`Counts`]. The four positions have the indices before it.
const EARLY: usize = 4;

struct Client {
    params: Params,
    counts: Arc<Counts>,
    servers: Vec<Arc<Mutex<Memory>>>,
}

impl Installation for Client {
    fn measure(&self, _: &Outcome) -> Vec<Option<f64>> {
        self.counts.iter().map(|count| Some(count.load(Relaxed) as f64)).collect()
    }

    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        let server = place.server as usize;
        let memory = if self.params.carry {
            if self.servers.len() <= server {
                self.servers.resize_with(server + 1, Arc::default);
            }
            Arc::clone(&self.servers[server])
        } else {
            Arc::default()
        };
        let (params, counts) = (self.params.clone(), Arc::clone(&self.counts));
        Some(Box::new(Sender::new(params, counts, memory, place.random)))
    }
}

/// What a server remembers from its connections to the client.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// The longest round trip, which decays from message to message.
    longest: Span,
    /// Number of following messages that begin with the initial window.
    cautious: u32,
}

/// The position in a message at which a sender is stalled, which decides the repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// No part of the message was acknowledged. All servers began at the same time, so the queue is
    /// the probable cause. The first segment is sent again, and the window does not change. If this
    /// copy is also not acknowledged, the whole window counts as lost, and restarts with one
    /// segment.
    Head,
    /// The window does not allow the remaining data to be sent, and no ACK arrives, so the whole
    /// window counts as lost. It restarts with one segment.
    Inside,
    /// All data were sent, so no later segment can trigger duplicate ACKs. The last segment is sent
    /// again. Its ACK either completes the message or is a duplicate ACK, which alone is then
    /// enough to begin recovery.
    Tail,
    /// A retransmission was lost. The segment is sent once more, and the window does not change.
    Again,
}

/// A segment whose round trip is being measured.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// One past the last byte of the segment.
    end: u64,
    sent_at: Time,
}

/// Number of messages that begin with the initial window after a message that needed a repair.
const CAUTIOUS_UNITS: u32 = 8;

/// The wait doubles with each of the first three consecutive repairs, and then stays the same.
const MOST_DOUBLINGS: u32 = 3;

/// Upper bound of the wait, without the random addition.
const LONGEST_WAIT: Span = Span::from_secs(1);

struct Sender {
    params: Params,
    counts: Arc<Counts>,
    memory: Arc<Mutex<Memory>>,
    random: Stream,
    message: Message,
    /// The longest round trip; see [`Memory`].
    longest: Span,
    timed: Option<Timed>,
    /// The first unacknowledged byte at the last ACK.
    una: u64,
    /// Repairs since the last ACK.
    tries: u32,
    /// The random addition to the wait, in 1/1024 of the wait.
    extra: u64,
    deadline: Time,
}

impl Sender {
    fn new(
        params: Params,
        counts: Arc<Counts>,
        memory: Arc<Mutex<Memory>>,
        random: Stream,
    ) -> Self {
        let Memory { longest, .. } = *lock(&memory);
        Self {
            params,
            counts,
            memory,
            random,
            message: Message::NONE,
            longest,
            timed: None,
            una: 0,
            tries: 0,
            extra: 0,
            deadline: Time::NEVER,
        }
    }

    fn position(&self, view: &SendView) -> Position {
        if view.in_recovery || view.next < view.max || self.tries > 1 {
            Position::Again
        } else if view.una <= self.message.start {
            Position::Head
        } else if view.max < view.written {
            Position::Inside
        } else {
            Position::Tail
        }
    }

    /// Restarts the wait after an ACK or a repair.
    fn wait(&mut self, view: &SendView) {
        self.deadline = if view.una == view.max
            || self.longest.is_zero()
            || self.tries >= self.params.tries
        {
            Time::NEVER
        } else {
            let wait = (self.longest * u64::from(self.params.patience)).max(self.params.least_wait);
            let wait = wait.saturating_doubled(self.tries.min(MOST_DOUBLINGS)).min(LONGEST_WAIT);
            view.now + wait + wait * self.extra / 1024
        };
    }

    /// Begins a message. Returns whether the message begins with the initial window.
    fn begin_unit(&mut self, view: &SendView) -> bool {
        self.longest = view.srtt.unwrap_or_default().max(self.longest / 4 * 3);
        self.extra = self.random.below(1024);
        let mut memory = lock(&self.memory);
        memory.longest = self.longest;
        let is_cautious = memory.cautious > 0;
        memory.cautious = memory.cautious.saturating_sub(1);
        match self.params.restart {
            Restart::Never => false,
            Restart::AfterRepairs => is_cautious,
            Restart::Always => true,
        }
    }

    /// Starts to measure a round trip, if no measurement is in progress. The round trip of a
    /// retransmitted segment is not measured (Karn's rule, RFC 6298 §3).
    fn time(&mut self, packet: &Packet, view: &SendView) {
        if packet.flags.contains(Flags::RETRANSMISSION) {
            self.timed.take_if(|timed| packet.seq < timed.end);
        } else if self.timed.is_none() {
            self.timed = Some(Timed { end: packet.seq_end(), sent_at: view.now });
        }
    }

    fn on_new_ack(&mut self, view: &SendView) -> Advice {
        if let Some(timed) = self.timed.take_if(|timed| view.una >= timed.end) {
            let round_trip = view.now - timed.sent_at;
            if round_trip > self.longest {
                self.longest = round_trip;
                lock(&self.memory).longest = round_trip;
            }
        }
        let is_new = view.una > self.una;
        let is_probed = self.tries > 0 && !is_new;
        if is_new {
            self.una = view.una;
            self.tries = 0;
        }
        let is_quiet = view.in_recovery || view.next < view.max;
        if is_new || !is_quiet {
            self.wait(view);
        }
        // Before the head of the message is acknowledged, duplicate ACKs may be late ACKs of the
        // previous message.
        let enough = is_probed || (view.una > self.message.start && few_are_enough(view));
        let enter_recovery = view.dupacks > 0 && !is_quiet && enough;
        Advice { enter_recovery, ..Advice::NONE }
    }

    fn count(&self, index: usize) {
        self.counts[index].fetch_add(1, Relaxed);
    }
}

/// Whether all data were sent, and duplicate ACKs show that all outstanding segments except the
/// first have arrived (in the spirit of RFC 5827).
fn few_are_enough(view: &SendView) -> bool {
    let outstanding = (view.max - view.una).div_ceil(u64::from(view.mss));
    view.max >= view.written && u64::from(view.dupacks) + 1 >= outstanding
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        match event {
            SendEvent::Ack { .. } => self.on_new_ack(view),
            SendEvent::Timeout => {
                self.tries = 0;
                self.wait(view);
                Advice::NONE
            }
            SendEvent::Sent(packet) => {
                self.time(packet, view);
                let begins = self.message.is_begun_by(packet, view);
                let restart_window = begins && self.begin_unit(view);
                if packet.seq == view.una {
                    self.wait(view);
                }
                Advice { restart_window, ..Advice::NONE }
            }
        }
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn on_deadline(&mut self, view: &SendView) -> Advice {
        if view.una == view.max {
            self.deadline = Time::NEVER;
            return Advice::NONE;
        }
        let position = self.position(view);
        let is_first = self.tries == 0;
        self.tries += 1;
        self.extra = self.random.below(1024);
        self.wait(view);
        self.count(position as usize);
        lock(&self.memory).cautious = CAUTIOUS_UNITS;
        if position != Position::Again && view.dupacks > 0 {
            return Advice { enter_recovery: true, ..Advice::NONE };
        }
        let copies = match position {
            Position::Again => Copies::HEAD,
            Position::Head if is_first => Copies::HEAD,
            Position::Tail if is_first => Copies::HIGHEST,
            Position::Head | Position::Inside | Position::Tail => {
                self.count(EARLY);
                return Advice { expire_timer: true, keep_rto: true, ..Advice::NONE };
            }
        };
        Advice { copies, ..Advice::NONE }
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}
