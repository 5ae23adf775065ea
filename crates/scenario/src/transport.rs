//! The `[transport]` table, and the `[background.transport]` of a long flow.

use incast_engine::{Name, OrName, Size, Span, Window};
use incast_host::{Opener, Transport};
use incast_remedies::{RemedyConfig, Requirement};
use incast_tcp::Config;
use incast_tcp::config::{
    EarlyRetransmit, Handshake, IdleRestart, PrrBound, RtoPolicy, RtoStyle, RttSampling, Sack,
    UndoKind, WindowUnit,
};
use incast_tcp::congestion::{CongestionControlConfig, dctcp};
use incast_tcp::recovery::RecoveryConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::acknowledgement::{DelayedAckTable, EcnScope, EcnSwitch, counts_marks, ecn_packets};
use super::pacing::{Off, PacingTable, ReceiveOffloadTable, is_burst};
use super::schema::{name_or_table, names_or_tables, preset_name};
use super::switch::Switch;
use super::{ScenarioError, profile, remedies};

/// An initial window that depends on the segment size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InitialWindow {
    Rfc5681,
    Rfc6928,
}

impl Name for InitialWindow {
    const NAMES: &'static [(&'static str, Self, &'static str)] = &[
        (
            "rfc5681",
            Self::Rfc5681,
            "4, 3 or 2 segments for an MSS up to 1095, up to 2190 or above.",
        ),
        ("rfc6928", Self::Rfc6928, "min(10 MSS, max(2 MSS, 14600)) bytes."),
    ];
}

impl InitialWindow {
    fn bytes(self, mss: u32) -> u64 {
        let mss = u64::from(mss);
        match self {
            // RFC 5681 §3.1.
            Self::Rfc5681 if mss > 2190 => 2 * mss,
            Self::Rfc5681 if mss > 1095 => 3 * mss,
            Self::Rfc5681 => 4 * mss,
            // RFC 6928 §2, equation 1.
            Self::Rfc6928 => (10 * mss).min(14_600.max(2 * mss)),
        }
    }
}

/// The largest window that the receiver may advertise, as a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SsthreshName {
    ReceiveWindow,
}

impl Name for SsthreshName {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("receive_window", Self::ReceiveWindow, "The value of `receive_window`.")];
}

/// No bound at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unlimited;

impl Name for Unlimited {
    const NAMES: &'static [(&'static str, Self, &'static str)] =
        &[("unlimited", Self, "As many as the window allows.")];
}

/// The transport: a preset by name, and any of its parameters.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Transport")]
pub(super) struct TransportDocument {
    /// The preset that fills in what is not given: a name, or a table with it and the parameters of
    /// the remedy, the loss recovery or the congestion control of this name.
    #[schemars(schema_with = "preset_name")]
    name: String,
    /// Payload of a full segment, bytes, 1 to 65535 (SMSS, RFC 5681 §2).
    mss: Size,
    /// TCP/IP header of a data segment, bytes, 0 to 255. Default with `timestamps`: 52.
    header_size: Size,
    /// A packet without payload (ACK, SYN, FIN), bytes, 1 to 255. Default with `timestamps`: 52.
    ack_size: Size,
    /// Congestion window of a new connection, segments or bytes, or a name.
    initial_window: OrName<InitialWindow, Window>,
    /// What the congestion window, its threshold and what is in flight count: where it is packets,
    /// a short segment takes as much room as a full one (Linux).
    window_unit: WindowUnit,
    /// Slow-start threshold of a new connection, segments or bytes, or a name (RFC 5681 §3.1:
    /// arbitrarily high).
    initial_ssthresh: OrName<SsthreshName, Window>,
    /// The receiver's buffer and thereby the largest window it advertises, segments or bytes.
    receive_window: Window,
    /// What is exchanged before the first data.
    handshake: Handshake,
    /// Who opens a connection.
    opener: Opener,
    /// Whether a connection is closed with a FIN (RFC 9293 §3.6).
    fin: bool,
    /// Lower bound of the retransmission timeout, seconds (RFC 6298 (2.4): 1 s).
    rto_min: Span,
    /// Upper bound of the retransmission timeout, seconds (RFC 6298 (2.5): at least 60 s).
    rto_max: Span,
    /// Retransmission timeout before the first round trip was measured, seconds (RFC 6298 (2.1):
    /// 1 s).
    rto_initial: Span,
    /// Granularity G of the retransmission timer, seconds (RFC 6298 §4); with `rto_style = "ns2"`
    /// the tick that samples are rounded to.
    rto_granularity: Span,
    /// How often consecutive timeouts may double the timeout, a number (RFC 6298 (5.5)); 0 switches
    /// backoff off.
    rto_max_doublings: u32,
    /// j: every timeout is multiplied by 1 + U(0, j), a ratio (Vasudevan et al. 2009: 0.5).
    #[schemars(range(min = 0.0))]
    rto_jitter: f64,
    /// The retransmission timer keeps running while nothing is outstanding, and its expiry, which
    /// is no timeout, ends the chance of a fast retransmit for the next segment (ns-2).
    rto_runs_idle: bool,
    /// A fast retransmit doubles the timeout until a round trip is measured, as an expiry does
    /// (ns-2's Vegas).
    rto_backs_off_in_recovery: bool,
    /// Whose arithmetic turns round trips into a timeout.
    rto_style: RtoStyle,
    /// Timeout of a SYN and a SYN-ACK before any round trip was measured, seconds.
    syn_rto: Span,
    /// Retransmission timeout after a handshake that lost its SYN or SYN-ACK, until a round trip is
    /// measured, seconds (RFC 6298 (5.7): 3 s).
    rto_after_syn_loss: Span,
    /// Which segments are timed when `timestamps` is off (RFC 6298 §3).
    rtt_sampling: RttSampling,
    /// Timestamps option (RFC 7323); adds 12 bytes to `header_size` and `ack_size` unless these
    /// are given.
    pub(super) timestamps: bool,
    /// Tick of the timestamp clock, seconds (RFC 7323 §5.4: 1 ms to 1 s). Without meaning while
    /// `timestamps` is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp_granularity: Option<Span>,
    /// Selective acknowledgements (RFC 2018). Default: whether `recovery` needs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    sack: Option<bool>,
    /// Whether selective acknowledgements report duplicates, too (RFC 2883). Without meaning while
    /// `sack` is off.
    dsack: bool,
    /// Whether a packet without payload is longer by its selective acknowledgements: 4 bytes and 8
    /// per block (RFC 2018 §3, padded). Without meaning while `sack` is off.
    sack_option_bytes: bool,
    /// Whether fewer duplicate ACKs mean a loss when little is outstanding (RFC 5827).
    early_retransmit: EarlyRetransmit,
    /// Proportional rate reduction: how sending is spread over a recovery (RFC 6937, RFC 9937).
    prr: PrrBound,
    /// How a timeout is found to have been premature, and undone (RFC 4015).
    undo: UndoKind,
    /// New data on the first two duplicate ACKs (RFC 3042).
    limited_transmit: bool,
    /// Whether limited transmit also releases a segment that a timeout has called back, which is
    /// not new (ns-2). Without meaning while `limited_transmit` is off.
    limited_transmit_resends: bool,
    /// Duplicate ACKs that mean a loss, at least 1 (RFC 5681 §3.2: 3).
    #[schemars(range(min = 1))]
    dupack_threshold: u32,
    /// A duplicate ACK must carry the window of the ACK before it (RFC 5681 §2, condition (e)).
    dupack_requires_same_window: bool,
    /// Delayed ACKs: false (one ACK per packet), true, or a table (RFC 1122 §4.2.3.2).
    delayed_ack: Switch<DelayedAckTable>,
    /// Explicit congestion notification (RFC 3168), without negotiation.
    ecn: EcnSwitch,
    /// Which packets a switch may mark when ECN is on.
    ecn_packets: EcnScope,
    /// What an idle time does to the congestion window: the number of an RFC, in quotes.
    idle_restart: IdleRestart,
    /// x: a host waits U(0, x) before it sends what its window allows, seconds; order is kept
    /// (ns-2's `overhead_`).
    send_jitter: Span,
    /// Most new segments that one ACK may release in fast recovery, a number, or a name.
    recovery_burst: OrName<Unlimited, u32>,
    /// Pacing by the window: false, true, or a table with its gains. A congestion control that
    /// paces by itself (`bbr`, `swift`) does so in any case.
    pacing: Switch<PacingTable>,
    /// Segmentation offload: most bytes that leave back to back as one burst; a smaller burst waits
    /// for ACKs, as long as it is less than a third of the window.
    segmentation_offload: OrName<Off, Size>,
    /// Receive offload and interrupt coalescing: segments in order that arrive within a time are
    /// acknowledged as one. False, true, or a table.
    receive_offload: Switch<ReceiveOffloadTable>,
    /// Loss recovery: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<RecoveryConfig>")]
    recovery: RecoveryConfig,
    /// Congestion control: a name, or a table with its parameters.
    #[schemars(schema_with = "name_or_table::<CongestionControlConfig>")]
    pub(super) congestion_control: CongestionControlConfig,
    /// Remedies: a list of names, or of tables with their parameters.
    #[schemars(schema_with = "names_or_tables::<RemedyConfig>")]
    pub(super) remedies: Vec<RemedyConfig>,
}

/// A packet counts its payload in 16 bits.
const MAX_SEGMENT: u64 = u16::MAX as u64;
/// Windows are advertised in 32 bits.
const MAX_WINDOW: u64 = u32::MAX as u64;

/// Whether a part may be the one called `name`: what is given of it names no other.
fn is_open(given: &Value, name: &str) -> bool {
    given.as_str().or(given["name"].as_str()).is_none_or(|given| given == name)
}

impl TransportDocument {
    /// Gives a parameter the value that a remedy requires, unless the table `given` has one; of a
    /// part that is given, those parameters get it that are not.
    pub(super) fn meet(&mut self, requirement: &Requirement, given: &Value) {
        let part = &given[requirement.key()];
        match requirement {
            Requirement::Efr(params) if is_open(part, "efr") => {
                let has_parameters = part.as_object().is_some_and(|table| table.len() > 1);
                if !has_parameters {
                    self.recovery = RecoveryConfig::Efr(params.clone());
                }
            }
            Requirement::Dctcp { alpha, g, react_at } if is_open(part, "dctcp") => {
                let mut params = match &self.congestion_control {
                    CongestionControlConfig::Dctcp(params) => params.clone(),
                    _ => dctcp::Params::default(),
                };
                let is_given = |parameter: &str| !part[parameter].is_null();
                params.alpha = if is_given("alpha") { params.alpha } else { *alpha };
                params.g = if is_given("g") { params.g } else { *g };
                params.react_at = if is_given("react_at") { params.react_at } else { *react_at };
                self.congestion_control = CongestionControlConfig::Dctcp(params);
            }
            Requirement::Efr(_) | Requirement::Dctcp { .. } => {}
            _ if !part.is_null() => {}
            Requirement::RtoMin(min) => self.rto_min = *min,
            Requirement::RtoGranularity(granularity) => self.rto_granularity = *granularity,
            Requirement::RtoJitter(jitter) => self.rto_jitter = *jitter,
            Requirement::InitialWindow(bytes) => {
                self.initial_window = OrName::Quantity(Window::Bytes(*bytes));
            }
            Requirement::Timestamps => self.timestamps = true,
            Requirement::TimestampGranularity(tick) => self.timestamp_granularity = Some(*tick),
            Requirement::NoDelayedAck => self.delayed_ack = Switch::Plain(false),
            Requirement::LimitedTransmit => self.limited_transmit = true,
        }
    }

    /// Makes headers as long as they are with the timestamps option, or without, unless the table
    /// `given` says how long they are.
    pub(super) fn fit_headers(&mut self, given: &Value) {
        let size = Size(profile::header(self.timestamps));
        for (key, header) in
            [("header_size", &mut self.header_size), ("ack_size", &mut self.ack_size)]
        {
            if given[key].is_null() {
                *header = size;
            }
        }
    }

    /// Segment size and, in bytes, the initial window, the initial threshold and the receive
    /// window.
    fn windows(&self) -> (u32, u64, u64, u64) {
        let mss = self.mss.0.try_into().unwrap_or(u32::MAX);
        let receive_window = self.receive_window.bytes(mss);
        let initial_window = match self.initial_window {
            OrName::Name(name) => name.bytes(mss),
            OrName::Quantity(window) => window.bytes(mss),
        };
        let initial_ssthresh = match self.initial_ssthresh {
            OrName::Name(SsthreshName::ReceiveWindow) => receive_window,
            OrName::Quantity(window) => window.bytes(mss),
        };
        (mss, initial_window, initial_ssthresh, receive_window)
    }

    /// Refuses what has the right type and yet makes no sense in the table called `table`.
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        let require = |key: &str, holds: bool, message: &str| {
            if holds { Ok(()) } else { Err(ScenarioError::new(format!("{table}.{key}"), message)) }
        };
        let (_, initial_window, _, receive_window) = self.windows();
        for (key, value, least, most) in [
            ("mss", self.mss.0, 1, MAX_SEGMENT),
            ("header_size", self.header_size.0, 0, 255),
            ("ack_size", self.ack_size.0, 1, 255),
        ] {
            let message = format!("{value} is out of range; write {least} to {most} bytes");
            require(key, (least..=most).contains(&value), &message)?;
        }
        for (key, value) in [("initial_window", initial_window), ("receive_window", receive_window)]
        {
            let message = format!(
                "{value} bytes are out of range; write segments, e.g. 10, or \"1B\" to \
                 \"{MAX_WINDOW}B\""
            );
            require(key, (1..=MAX_WINDOW).contains(&value), &message)?;
        }
        for (key, timer) in [
            ("rto_max", self.rto_max),
            ("rto_initial", self.rto_initial),
            ("syn_rto", self.syn_rto),
            ("rto_after_syn_loss", self.rto_after_syn_loss),
        ] {
            require(key, !timer.is_zero(), "0 is no timeout; write e.g. \"1s\"")?;
        }
        if let Err(fault) = self.congestion_control.check() {
            let key = format!("congestion_control.{}", fault.key);
            return require(&key, false, &fault.message);
        }
        if let Err(fault) = self.recovery.check() {
            return require(&format!("recovery.{}", fault.key), false, &fault.message);
        }
        remedies::check(&self.remedies, table)?;
        self.pacing.check(table)?;
        self.receive_offload.check(table)?;
        if let OrName::Quantity(Size(size)) = self.segmentation_offload {
            let message =
                format!("{size} is out of range; write 1 to 4294967295 bytes, or \"off\"");
            require("segmentation_offload", is_burst(size), &message)?;
        }
        let tick = self.rto_style != RtoStyle::Ns2 || !self.rto_granularity.is_zero();
        let expires = !(self.rto_min.is_zero() && self.rto_granularity.is_zero());
        let clock = !self.timestamps || self.timestamp_granularity != Some(Span::ZERO);
        let jitter = self.rto_jitter.is_finite() && self.rto_jitter >= 0.0;
        let delayed = self.delayed_ack.table().is_none_or(|table| table.segments > 0);
        for (key, holds, message) in [
            (
                "rto_min",
                self.rto_min <= self.rto_max,
                "exceeds rto_max; write less, or raise rto_max",
            ),
            (
                "rto_min",
                expires,
                "0 is no timeout while rto_granularity is 0, too; write e.g. \"200us\"",
            ),
            (
                "rto_granularity",
                tick,
                "0 is no tick to count samples in; write e.g. \"10us\", or another rto_style",
            ),
            (
                "rto_jitter",
                jitter,
                &format!("{} is not a ratio of at least 0; write e.g. 0.5", self.rto_jitter),
            ),
            ("timestamp_granularity", clock, "0 is no tick; write e.g. \"1ms\""),
            (
                "dupack_threshold",
                self.dupack_threshold > 0,
                "0 duplicate ACKs mean nothing; write 1 or more",
            ),
            (
                "ecn",
                self.ecn != EcnSwitch::Off || !counts_marks(&self.congestion_control),
                "\"off\" leaves this congestion control without marks; write \"auto\" or \"on\"",
            ),
            (
                "undo",
                self.undo != UndoKind::Eifel || self.timestamps,
                "\"eifel\" needs timestamps; write timestamps = true, or \"f-rto\"",
            ),
            (
                "sack",
                self.sack != Some(false) || !self.recovery.needs_sack(),
                "false leaves the recovery without what it works by; write true, or another recovery",
            ),
            ("delayed_ack.segments", delayed, "0 segments cannot be waited for; write 1 or more"),
        ] {
            require(key, holds, message)?;
        }
        Ok(())
    }

    /// The transport of the table called `table`.
    pub(super) fn build(self, table: &str) -> Result<Transport, ScenarioError> {
        self.check(table)?;
        let (mss, initial_window, initial_ssthresh, receive_window) = self.windows();
        let ecn = ecn_packets(self.ecn, self.ecn_packets, &self.congestion_control);
        let pacing = self.pacing.pacing();
        let sack = self.sack.unwrap_or(self.recovery.needs_sack());
        Ok(Transport {
            name: self.name,
            opener: self.opener,
            remedies: self.remedies,
            tcp: Config {
                mss,
                header: self.header_size.0 as u8,
                ack_size: self.ack_size.0 as u8,
                initial_window,
                initial_ssthresh,
                receive_window,
                handshake: self.handshake,
                fin: self.fin,
                rto: RtoPolicy {
                    min: self.rto_min,
                    max: self.rto_max,
                    initial: self.rto_initial,
                    granularity: self.rto_granularity,
                    max_doublings: self.rto_max_doublings,
                    jitter: self.rto_jitter,
                    style: self.rto_style,
                    runs_idle: self.rto_runs_idle,
                    backs_off_in_recovery: self.rto_backs_off_in_recovery,
                },
                syn_rto: self.syn_rto,
                rto_after_syn_loss: self.rto_after_syn_loss,
                rtt_sampling: self.rtt_sampling,
                timestamps: self.timestamp_granularity.filter(|_| self.timestamps),
                sack: sack
                    .then_some(Sack { dsack: self.dsack, takes_room: self.sack_option_bytes }),
                early_retransmit: self.early_retransmit,
                prr: self.prr,
                undo: self.undo,
                limited_transmit: self.limited_transmit,
                window_unit: self.window_unit,
                limited_transmit_resends: self.limited_transmit_resends,
                dupack_threshold: self.dupack_threshold,
                dupack_requires_same_window: self.dupack_requires_same_window,
                delayed_ack: self.delayed_ack.table().map(Into::into),
                ecn,
                idle_restart: self.idle_restart,
                send_jitter: self.send_jitter,
                recovery_burst: match self.recovery_burst {
                    OrName::Name(Unlimited) => None,
                    OrName::Quantity(segments) => Some(segments),
                },
                pacing,
                segmentation_offload: match self.segmentation_offload {
                    OrName::Name(Off) => None,
                    OrName::Quantity(Size(size)) => Some(size as u32),
                },
                receive_offload: self.receive_offload.offload(),
                recovery: self.recovery,
                congestion_control: self.congestion_control,
            },
        })
    }
}

impl From<&Transport> for TransportDocument {
    fn from(transport: &Transport) -> Self {
        let tcp = &transport.tcp;
        Self {
            name: transport.name.clone(),
            mss: Size(tcp.mss.into()),
            header_size: Size(tcp.header.into()),
            ack_size: Size(tcp.ack_size.into()),
            initial_window: OrName::Quantity(Window::Bytes(tcp.initial_window)),
            initial_ssthresh: OrName::Quantity(Window::Bytes(tcp.initial_ssthresh)),
            receive_window: Window::Bytes(tcp.receive_window),
            handshake: tcp.handshake,
            opener: transport.opener,
            fin: tcp.fin,
            rto_min: tcp.rto.min,
            rto_max: tcp.rto.max,
            rto_initial: tcp.rto.initial,
            rto_granularity: tcp.rto.granularity,
            rto_max_doublings: tcp.rto.max_doublings,
            rto_jitter: tcp.rto.jitter,
            rto_style: tcp.rto.style,
            rto_runs_idle: tcp.rto.runs_idle,
            rto_backs_off_in_recovery: tcp.rto.backs_off_in_recovery,
            syn_rto: tcp.syn_rto,
            rto_after_syn_loss: tcp.rto_after_syn_loss,
            rtt_sampling: tcp.rtt_sampling,
            timestamps: tcp.timestamps.is_some(),
            timestamp_granularity: tcp.timestamps,
            sack: Some(tcp.sack.is_some()),
            dsack: tcp.sack.is_none_or(|sack| sack.dsack),
            sack_option_bytes: tcp.sack.is_some_and(|sack| sack.takes_room),
            early_retransmit: tcp.early_retransmit,
            prr: tcp.prr,
            undo: tcp.undo,
            limited_transmit: tcp.limited_transmit,
            window_unit: tcp.window_unit,
            limited_transmit_resends: tcp.limited_transmit_resends,
            dupack_threshold: tcp.dupack_threshold,
            dupack_requires_same_window: tcp.dupack_requires_same_window,
            delayed_ack: tcp.delayed_ack.map(Into::into).into(),
            ecn: if tcp.ecn.is_some() { EcnSwitch::On } else { EcnSwitch::Off },
            ecn_packets: tcp.ecn.into(),
            idle_restart: tcp.idle_restart,
            send_jitter: tcp.send_jitter,
            recovery_burst: tcp.recovery_burst.map_or(OrName::Name(Unlimited), OrName::Quantity),
            pacing: tcp.pacing.map(Into::into).into(),
            segmentation_offload: tcp
                .segmentation_offload
                .map_or(OrName::Name(Off), |size| OrName::Quantity(Size(size.into()))),
            receive_offload: tcp.receive_offload.map(Into::into).into(),
            recovery: tcp.recovery.clone(),
            congestion_control: tcp.congestion_control.clone(),
            remedies: transport.remedies.clone(),
        }
    }
}
