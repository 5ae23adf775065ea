//! The interface for remedies: hooks get read-only views and return [`Advice`].
//!
//! A hook cannot change the connection. Advice is merged so that the order of hooks does not matter
//! (`docs/adr/0005-advice.md`).

mod advice;

use incast_engine::{Span, Time};
use incast_net::Packet;

pub use crate::send::rtt::timestamp;
pub use advice::{Advice, Copies};

/// Label bit of an ACK that answers a probe. Such an ACK repeats an acknowledgement without
/// indicating a loss, so it does not count as a duplicate. Remedies define the other bits.
pub const ANSWER: u16 = 1 << 7;

/// RFC 5681 §4.2: an ACK must be generated within 500 ms.
pub const HOLD_LIMIT: Span = Span::from_millis(500);

/// A sender hook's view.
#[derive(Clone, Copy, Debug)]
pub struct SendView {
    /// Now.
    pub now: Time,
    /// First unacknowledged sequence number.
    pub una: u64,
    /// Sequence number to be sent next.
    pub next: u64,
    /// One past the highest sequence number sent.
    pub max: u64,
    /// One past the last byte that the application wrote.
    pub written: u64,
    /// cwnd, bytes.
    pub cwnd: u64,
    /// ssthresh, bytes.
    pub ssthresh: u64,
    /// Window that the receiver advertised, bytes.
    pub receive_window: u64,
    /// Segment size without advice, bytes.
    pub mss: u32,
    /// Whether loss recovery is in progress.
    pub in_recovery: bool,
    /// Consecutive duplicate ACKs.
    pub dupacks: u32,
    /// How often the first unacknowledged segment was sent; 0 if nothing is outstanding.
    pub head_transmissions: u16,
    /// When the first unacknowledged segment was sent last.
    pub head_sent_at: Time,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Retransmission timeout without advice.
    pub rto: Span,
    /// Number of doublings of the timeout since the last round-trip sample.
    pub doublings: u32,
}

/// Events of the sender.
#[derive(Clone, Copy, Debug)]
pub enum SendEvent<'a> {
    /// An ACK was processed.
    Ack {
        /// The ACK.
        packet: &'a Packet,
        /// Whether all windows allow the next data now. The next data are new data or data that a
        /// timeout returned to the send queue. This value takes no account of repairs by loss
        /// recovery, or of rules that only delay data, such as pacing.
        may_send: bool,
    },
    /// The retransmission timer expired.
    Timeout,
    /// A data segment is leaving.
    Sent(&'a Packet),
}

/// A data segment about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxPlan {
    /// Sequence number of the segment's first byte.
    pub seq: u64,
    /// Whether the segment was sent before.
    pub retransmission: bool,
    /// Whether a hook asked for the segment.
    pub requested: bool,
}

/// A remedy's hook in the sender.
pub trait SenderHook: Send {
    /// Handles an event. Returns advice on what to do now (retransmit, enter recovery, restart the
    /// window, expire the timer, probe).
    fn on_event(&mut self, event: SendEvent<'_>, view: &SendView) -> Advice {
        let _ = (event, view);
        Advice::NONE
    }

    /// Advice on a departing data segment (segment size, header, label, hold, window ceiling).
    fn shape(&self, view: &SendView, plan: &TxPlan) -> Advice {
        let _ = (view, plan);
        Advice::NONE
    }

    /// Advice on a SYN or SYN-ACK (label).
    fn handshake(&self) -> Advice {
        Advice::NONE
    }

    /// Advice on the retransmission timer of data (RTO floor). The connection asks for this advice
    /// when it sets the timer.
    fn timer(&self, view: &SendView) -> Advice {
        let _ = view;
        Advice::NONE
    }

    /// The hook's next deadline.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Handles an expired deadline. Returns advice as in `on_event`.
    fn on_deadline(&mut self, view: &SendView) -> Advice {
        let _ = view;
        Advice::NONE
    }
}

/// A receiver hook's view.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveView {
    /// Now.
    pub now: Time,
    /// Next byte expected, after the current segment.
    pub next: u64,
    /// Whether the current segment had no new data.
    pub duplicate: bool,
}

/// Events of ACKs and requests, which hooks may delay. The connection keeps the order of ACKs and
/// requests. Each packet first causes `Ready`. Each time the delay of a packet ends and may be
/// extended, the packet causes `Expired`. In the end, each packet causes `Left`.
#[derive(Clone, Copy, Debug)]
pub enum AckEvent<'a> {
    /// An ACK without data, or a request, is ready to be sent after the delayed packets.
    Ready(&'a Packet),
    /// The delay of the first packet has expired.
    Expired,
    /// The first waiting packet was sent, or a data packet has replaced it.
    Left,
}

/// A remedy's hook in the receiver.
pub trait ReceiverHook: Send {
    /// Whether an arrived data segment can be read. A segment that any hook refuses is lost.
    fn admits(&mut self, packet: &Packet) -> bool {
        let _ = packet;
        true
    }

    /// Handles an arrived data segment or labelled probe. Returns advice on the answer (extra ACKs,
    /// label).
    fn on_segment(&mut self, packet: &Packet, view: &ReceiveView) -> Advice {
        let _ = (packet, view);
        Advice::NONE
    }

    /// Advice on the delay of an ACK or a request (hold ACK). The total delay is at most
    /// [`HOLD_LIMIT`].
    fn on_ack(&mut self, event: AckEvent<'_>, now: Time) -> Advice {
        let _ = (event, now);
        Advice::NONE
    }

    /// Advice on a SYN or SYN-ACK (label).
    fn handshake(&self) -> Advice {
        Advice::NONE
    }

    /// Advice on every packet that carries an acknowledgement (window cap, header).
    fn shape(&self, now: Time) -> Advice {
        let _ = now;
        Advice::NONE
    }
}
