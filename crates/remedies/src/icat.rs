//! `ICaT` (after Tam, Xi, Xu & Chao 2012): admission control, timestamps and repeated FINs.
//!
//! The remedy has one part for each phase of a connection. At the start, the client limits the
//! number of servers so that their minimum windows fit into the network; the other servers wait.
//! Later, an ACK may echo a newer timestamp than that of a retransmission, but not acknowledge the
//! retransmission. Such an ACK shows that the retransmission was lost, and the segment is sent
//! again at once. At the end, the sender answers every ACK with its FIN, so that the receiver keeps
//! sending ACKs until all data are acknowledged.
//!
//! The implementation follows the abstract and descriptions by others; the paper was not available.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use incast_engine::{Fault, Span, Time, Window};
use incast_net::{Flags, Packet};
use incast_tcp::hooks::{
    Advice, Copies, ReceiveView, ReceiverHook, SendEvent, SendView, SenderHook, timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admission::{Admission, Refill, packets_in};
use crate::label::END;
use crate::requirement::Requirement;
use crate::schedule::{ClientPlace, RequestScheduler};
use crate::seam::{Installation, Measure, Outcome, Place, Remedy, Situation, Slot};

/// Admission control, timestamps and repeated FINs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Whether to limit the number of servers asked at a time so that their minimum windows fit
    /// into the buffer and the bandwidth-delay product. Default: true.
    pub admission: bool,
    /// Minimum window of a server, in segments or bytes. Default: 4.
    pub min_window: Window,
    /// Whether to detect lost retransmissions by timestamps. Default: true.
    pub timestamps: bool,
    /// With `timestamps`: tick of the timestamp clock, in seconds. Default: 1 us.
    pub clock: Span,
    /// When the sender repeats its FIN, or an empty packet if there is no FIN, once all data are
    /// sent. Default: `per-ack`.
    pub fin: Fin,
}

/// When the sender repeats its FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fin {
    /// After the last data, and again for every ACK that leaves data unacknowledged.
    #[default]
    PerAck,
    /// After the last data, and then once per round trip until all data are acknowledged.
    PerRoundTrip,
    /// Never, except by TCP's own retransmissions.
    Off,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            admission: true,
            min_window: Window::Segments(4),
            timestamps: true,
            clock: Span::from_micros(1),
            fin: Fin::default(),
        }
    }
}

impl Remedy for Params {
    fn slots(&self) -> &'static [Slot] {
        if self.admission { &[Slot::Schedule] } else { &[] }
    }

    fn requires(&self) -> Vec<Requirement> {
        if !self.timestamps {
            return Vec::new();
        }
        vec![Requirement::Timestamps, Requirement::TimestampGranularity(self.clock)]
    }

    fn check(&self) -> Result<(), Fault> {
        if self.min_window.bytes(1) == 0 {
            return Err(Fault::new("min_window", "must be above 0; write e.g. 4 or \"6KiB\""));
        }
        if self.clock.is_zero() {
            return Err(Fault::new("clock", "must be longer than 0; write e.g. \"1us\""));
        }
        Ok(())
    }

    fn measures(&self) -> &'static [Measure] {
        const COUNTS: &[Measure] = &[
            Measure {
                name: "icat.lost_again",
                unit: "1",
                description: "Lost retransmissions detected by a timestamp.",
            },
            Measure {
                name: "icat.fins",
                unit: "1",
                description: "FINs, or empty packets instead of them, sent by this remedy.",
            },
        ];
        COUNTS
    }

    fn install(&self, situation: &Situation) -> Box<dyn Installation> {
        let counts = Arc::default();
        Box::new(Icat { params: self.clone(), situation: situation.clone(), counts })
    }
}

#[derive(Default)]
struct Counts {
    lost_again: AtomicU64,
    fins: AtomicU64,
}

struct Icat {
    params: Params,
    situation: Situation,
    counts: Arc<Counts>,
}

impl Icat {
    /// The number of minimum windows that fit into the buffer and the bandwidth-delay product
    /// together, at least 1.
    fn places(&self, client: &ClientPlace) -> u64 {
        let Situation { client_rate, base_rtt, buffer, .. } = self.situation;
        let packet = u64::from(client.packet.payload) + u64::from(client.packet.header);
        let under_way =
            base_rtt.as_picos() / client_rate.transmission_time(packet).as_picos().max(1);
        let window = self.params.min_window.bytes(client.packet.payload);
        let window = window.div_ceil(client.packet.payload.into()).max(1);
        (packets_in(buffer, client.packet).saturating_add(under_way) / window).max(1)
    }
}

impl Installation for Icat {
    fn measure(&self, _: &Outcome) -> Vec<Option<f64>> {
        let Counts { lost_again, fins } = &*self.counts;
        [lost_again, fins].map(|count| Some(count.load(Relaxed) as f64)).to_vec()
    }

    fn sender(&mut self, place: Place<'_>) -> Option<Box<dyn SenderHook>> {
        Some(Box::new(Sender {
            clock: place.config.timestamps.filter(|_| self.params.timestamps),
            fin: self.params.fin,
            una: 0,
            next_fin: Time::NEVER,
            counts: Arc::clone(&self.counts),
        }))
    }

    fn receiver(&mut self, _: Place<'_>) -> Option<Box<dyn ReceiverHook>> {
        Some(Box::new(Receiver { echo: self.params.timestamps }))
    }

    fn scheduler(&mut self, client: ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        if !self.params.admission {
            return None;
        }
        Some(Box::new(Admission::new(self.places(&client), Refill::Each, None)))
    }
}

struct Sender {
    /// Tick of the timestamp clock; `None` if timestamps are not used.
    clock: Option<Span>,
    fin: Fin,
    /// The first unacknowledged sequence number after the previous ACK.
    una: u64,
    /// The time at which the FIN is repeated, if data are still unacknowledged.
    next_fin: Time,
    counts: Arc<Counts>,
}

impl Sender {
    /// Whether the copy of the first unacknowledged segment is lost, because a segment that was
    /// sent after the copy has arrived.
    fn is_lost_again(&self, ack: &Packet, view: &SendView) -> bool {
        let Some(tick) = self.clock.filter(|_| view.head_transmissions > 1) else { return false };
        let later = ack.ts_echo.wrapping_sub(timestamp(view.head_sent_at, tick)) as i32 > 0;
        // After a partial ACK in recovery, the recovery itself retransmits the next segment.
        later && (ack.ack <= self.una || !view.in_recovery)
    }

    /// Repeats the FIN.
    fn repeat(&mut self, view: &SendView) -> u16 {
        if self.fin == Fin::PerRoundTrip {
            self.next_fin = view.now + view.srtt.unwrap_or(view.rto);
        }
        self.counts.fins.fetch_add(1, Relaxed);
        END
    }
}

/// Whether all data are sent and some of them are not acknowledged.
const fn awaits_the_end(view: &SendView) -> bool {
    view.max >= view.written && view.una < view.max
}

impl SenderHook for Sender {
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        let mut advice = Advice::NONE;
        match event {
            SendEvent::Ack { packet: ack, .. } => {
                if self.is_lost_again(ack, view) {
                    self.counts.lost_again.fetch_add(1, Relaxed);
                    advice.copies = Copies::HEAD;
                }
                self.una = view.una;
                if self.fin == Fin::PerAck && awaits_the_end(view) {
                    advice.end_again = self.repeat(view);
                }
            }
            SendEvent::Sent(packet) => {
                let is_last = packet.seq_end() >= view.written
                    && packet.payload > 0
                    && !packet.flags.contains(Flags::RETRANSMISSION);
                if is_last && self.fin != Fin::Off {
                    advice.end_again = self.repeat(view);
                }
            }
            SendEvent::Timeout => {}
        }
        advice
    }

    fn deadline(&self) -> Time {
        self.next_fin
    }

    fn on_deadline(&mut self, view: &SendView) -> Advice {
        self.next_fin = Time::NEVER;
        if !awaits_the_end(view) {
            return Advice::NONE;
        }
        Advice { end_again: self.repeat(view), ..Advice::NONE }
    }
}

struct Receiver {
    /// ACKs echo the timestamp of the segment that they answer.
    echo: bool,
}

impl ReceiverHook for Receiver {
    fn on_segment(&mut self, packet: &Packet, _: &ReceiveView) -> Advice {
        // A packet with neither data nor FIN gets an answer only because of its label.
        let label = if packet.payload == 0 { packet.label & END } else { 0 };
        Advice { echo: self.echo, label, ..Advice::NONE }
    }
}
