//! A transport without congestion control, made of the parts of this crate.
//!
//! There is no handshake. Requests and packets with data have a timer of a fixed length. Each
//! packet with data is answered by an acknowledgement, which echoes the packet's mark and path.

mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use incast_engine::{Fault, Size, Span, Time};
use incast_host::guest::{Call, Guest};
use incast_host::nic::NicConfig;
use incast_host::{Counters, Event, Kind, Needs, Nic, NicSite, Seat, State};
use incast_net::{Flags, Packet, Trigger};
use incast_remedies::schedule::FullPacket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::credit::Credits;
use crate::paths::Paths;
use crate::rate::RateLaws;
use crate::repair::Repairs;
use receiver::Receiver;
use sender::Sender;

/// The parameters of the transport without congestion control.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Largest payload of a packet, in bytes.
    pub mtu: Size,
    /// Header of every packet, in bytes.
    pub header_size: Size,
    /// Largest number of outstanding bytes of a connection.
    pub window: Size,
    /// Time after which unanswered data and requests are sent again, in seconds.
    pub rto: Span,
    /// How lost packets are found and sent again.
    pub repair: Repairs,
    /// How fast an end sends.
    pub rate: RateLaws,
    /// The path of each packet.
    pub paths: Paths,
    /// How much the receiver lets the sender send.
    pub credit: Credits,
    /// The card of the hosts. Default: packets wait in the host's port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicConfig>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            mtu: Size(1024),
            header_size: Size(58),
            window: Size(64 << 10),
            rto: Span::from_millis(1),
            repair: Repairs::default(),
            rate: RateLaws::default(),
            paths: Paths::default(),
            credit: Credits::default(),
            nic: None,
        }
    }
}

/// Largest payload and largest header of a packet, bytes. A packet stores these sizes in 16 and in
/// 8 bits.
const MOST_PAYLOAD: u64 = 65_000;
const MOST_HEADER: u64 = 255;

impl Kind for Params {
    fn family(&self) -> &'static str {
        "blast"
    }

    fn check(&self) -> Result<(), Fault> {
        let within = |key, Size(given): Size, least, most| {
            if (least..=most).contains(&given) {
                return Ok(());
            }
            Err(Fault::new(
                key,
                format!("{given} is out of range; must be {least} to {most} bytes"),
            ))
        };
        within("mtu", self.mtu, 1, MOST_PAYLOAD)?;
        within("header_size", self.header_size, 1, MOST_HEADER)?;
        if self.window < self.mtu {
            let message = format!(
                "{} is less than a packet; must be at least mtu, {} bytes",
                self.window.0, self.mtu.0
            );
            return Err(Fault::new("window", message));
        }
        if self.rto.is_zero() {
            return Err(Fault::new("rto", "must be above 0"));
        }
        let nic = self.nic.as_ref().map_or(Ok(()), NicConfig::check);
        [
            ("repair", self.repair.check()),
            ("rate", self.rate.check()),
            ("paths", self.paths.check()),
            ("credit", self.credit.check()),
            ("nic", nic),
        ]
        .into_iter()
        .try_for_each(|(key, part)| part.map_err(|fault| fault.below(key)))
    }

    fn full_packet(&self) -> FullPacket {
        FullPacket { payload: self.mtu.0 as u32, header: self.header_size.0 as u32 }
    }

    fn ack_size(&self) -> u32 {
        self.header_size.0 as u32
    }

    fn window(&self) -> u64 {
        self.window.0
    }

    fn rto(&self) -> Span {
        self.rto
    }

    fn needs(&self) -> Needs {
        Needs { paths: !matches!(self.paths, Paths::Ecmp(_)) }
    }

    fn nic(&self, site: NicSite) -> Option<Box<dyn Nic>> {
        self.nic.as_ref().map(|nic| nic.build(&site))
    }

    fn end(&self, seat: Seat) -> Box<dyn Guest> {
        Box::new(Blast::new(self, seat))
    }

    fn table(&self) -> Value {
        json!(crate::TransportConfig::Blast(self.clone()))
    }
}

/// One end of a flow.
struct Blast {
    seat: Seat,
    header: u8,
    rto: Span,
    sender: Sender,
    receiver: Receiver,
    /// The number of requests that this end has sent, and the number of requests that it has
    /// received.
    requests: (u64, u64),
    /// The size of a request that must be sent, if any; the size of the last request; and the time
    /// at which this request is repeated.
    request: Option<u16>,
    request_size: u16,
    request_due: Time,
    events: Vec<Event>,
    counters: Counters,
}

impl Blast {
    fn new(params: &Params, seat: Seat) -> Self {
        Self {
            header: params.header_size.0 as u8,
            rto: params.rto,
            sender: Sender::new(params, &seat),
            receiver: Receiver::new(params, &seat),
            requests: (0, 0),
            request: None,
            request_size: 0,
            request_due: Time::NEVER,
            events: Vec::new(),
            counters: Counters::default(),
            seat,
        }
    }

    /// Handles a request. A repeated request has no effect.
    fn hear(&mut self, ordinal: u64) {
        if ordinal > self.requests.1 {
            self.requests.1 = ordinal;
            self.events.push(Event::Request);
        }
    }
}

impl Guest for Blast {
    fn handle_segment(&mut self, now: Time, packet: &Packet) {
        if packet.flags.contains(Flags::REQUEST) {
            self.hear(packet.seq);
        } else if packet.flags.contains(Flags::ACK) {
            let was_in_recovery = self.sender.is_repairing();
            self.sender.on_answer(now, packet, self.rto);
            match (was_in_recovery, self.sender.is_repairing()) {
                (false, true) => {
                    self.counters.fast_retransmits += 1;
                    self.events.push(Event::FastRetransmit);
                }
                (true, false) => self.events.push(Event::RecoveryExit),
                _ => {}
            }
        } else {
            // The data answer the request, so the request's timer stops.
            self.request_due = Time::NEVER;
            if self.receiver.on_data(now, packet) {
                self.events.push(Event::Received);
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.request_due <= now {
            self.request = Some(self.request_size);
            self.request_due = Time::NEVER;
            self.events.push(Event::Timeout(None));
        }
        if self.sender.handle_timeout(now, self.rto) {
            self.events.push(Event::Timeout(None));
        }
    }

    fn poll_timeout(&self) -> Time {
        self.request_due.min(self.sender.poll_timeout())
    }

    fn poll_transmit(&mut self, now: Time, draft: &mut Packet) -> bool {
        draft.route = self.seat.end.route();
        draft.header = self.header;
        if let Some(size) = self.request.take() {
            draft.flags = Flags::REQUEST;
            draft.seq = self.requests.0;
            draft.payload = size.saturating_sub(self.header.into());
            self.request_due = now + self.rto;
            return true;
        }
        if self.receiver.answer(draft) {
            return true;
        }
        let Some(sent) = self.sender.poll(now, self.rto, &mut self.seat.random, draft) else {
            return false;
        };
        self.counters.data_packets += 1;
        self.counters.retransmitted_packets += u64::from(sent.is_again);
        if sent.is_again {
            draft.flags = draft.flags.with(Flags::RETRANSMISSION).with_trigger(Trigger::Timeout);
        }
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        (!self.events.is_empty()).then(|| self.events.remove(0))
    }

    fn handle_call(&mut self, call: Call) {
        match call {
            Call::Write(bytes) => self.sender.write(bytes),
            Call::Request(size) => {
                self.requests.0 += 1;
                self.request_size = size;
                self.request = Some(size);
            }
            Call::NotifyAt(bytes) => {
                if self.receiver.notify_at(bytes) {
                    self.events.push(Event::Received);
                }
            }
            Call::Open | Call::Close | Call::ReceiveBuffer(_) => {}
        }
    }

    fn delivered(&self) -> u64 {
        self.receiver.next()
    }

    fn is_quiet(&self) -> bool {
        self.request.is_none() && !self.receiver.owes() && self.sender.is_quiet()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn state(&self) -> State {
        self.sender.state(self.rto)
    }
}
