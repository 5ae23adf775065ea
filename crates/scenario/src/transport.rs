//! The `[transport]` table, and the `[background.transport]` of a long flow. Each struct that owns
//! keys of these tables has a file of its own.

mod ack;
mod ecn;
mod meet;
mod offload;
mod opening;
mod pacing;
mod parts;
mod repair;
mod round_trips;
mod rto;
mod segments;
mod selective;
mod table;
mod windows;

use incast_host::{Family, Tcp, Transport};
use incast_remedies::RemedyConfig;
use incast_tcp::Config;

use super::ScenarioError;
use super::flat::flat;
pub(super) use table::{TransportTable, complete_other};

flat! {
    /// The transport: a preset by name, and any of its parameters.
    #[schemars(rename = "Transport")]
    pub(super) struct TransportDocument {
        parts: parts::Parts,
        segments: segments::Segments,
        windows: windows::Windows,
        opening: opening::Opening,
        rto: rto::Timers,
        round_trips: round_trips::RoundTrips,
        selective: selective::Selective,
        repair: repair::Repair,
        ack: ack::Ack,
        ecn: ecn::Ecn,
        departures: pacing::Departures,
        offload: offload::Offload,
    }
}

/// Whether the congestion control of a transport requires marks.
pub(super) fn counts_marks(transport: &Transport) -> bool {
    transport.tcp().is_some_and(|tcp| ecn::counts_marks(&tcp.config.congestion_control))
}

impl TransportDocument {
    /// Whether the congestion control requires marks.
    fn counts_marks(&self) -> bool {
        ecn::counts_marks(&self.parts.congestion_control)
    }

    /// The remedies of this transport.
    fn remedies(&self) -> &[RemedyConfig] {
        &self.parts.remedies
    }

    /// Refuses values that have the right type but are invalid, in the table called `table`.
    fn check(&self, table: &str) -> Result<(), ScenarioError> {
        let refuse = |fault: incast_engine::Fault| {
            ScenarioError::new(format!("{table}.{}", fault.key), fault.message)
        };
        let Self { parts, segments, round_trips, .. } = self;
        segments.check().map_err(refuse)?;
        self.windows.check(segments.mss()).map_err(refuse)?;
        parts.check(table)?;
        let checked = [
            self.rto.check(),
            round_trips.check(),
            self.selective.check(&parts.recovery),
            self.repair.check(round_trips.timestamps),
            self.ecn.check(&parts.congestion_control),
            self.offload.check(),
        ];
        checked.into_iter().collect::<Result<(), _>>().map_err(refuse)
    }

    /// The transport of the table called `table`.
    fn build(self, table: &str) -> Result<Transport, ScenarioError> {
        self.check(table)?;
        let Self { parts, segments, windows, opening, rto, round_trips, .. } = self;
        let Self { selective, repair, ack, ecn, departures, offload, .. } = self;
        let mss = segments.mss();
        let config = Config {
            mss,
            header: segments.header_size.0 as u8,
            ack_size: segments.ack_size.0 as u8,
            window_unit: windows.window_unit,
            initial_window: windows.initial(mss),
            initial_ssthresh: windows.ssthresh(mss),
            receive_window: windows.receive(mss),
            handshake: opening.handshake,
            request_on_wire: opening.request_on_wire,
            fin: opening.fin,
            rto: rto.policy(),
            timer_ticks: rto.ticks(),
            syn_rto: rto.syn_rto,
            rto_after_syn_loss: rto.rto_after_syn_loss,
            syn_loss_is_timeout: rto.syn_loss_is_timeout,
            rtt_sampling: round_trips.rtt_sampling,
            timestamps: round_trips.tick(),
            sack: selective.sack(&parts.recovery),
            early_retransmit: repair.early_retransmit,
            prr: repair.prr,
            undo: repair.undo,
            limited_transmit: repair.limited_transmit,
            limited_transmit_resends: repair.limited_transmit_resends,
            dupack_threshold: repair.dupack_threshold,
            dupack_requires_same_window: repair.dupack_requires_same_window,
            delayed_ack: ack.delayed(),
            ecn: ecn.packets(&parts.congestion_control),
            idle_restart: departures.idle_restart,
            send_jitter: departures.send_jitter,
            recovery_burst: repair.burst(),
            pacing: departures.pacing(),
            segmentation_offload: offload.burst(),
            tso_deferral: departures.tso_deferral,
            receive_offload: offload.receive(),
            recovery: parts.recovery,
            congestion_control: parts.congestion_control,
        };
        let tcp = Tcp { opener: opening.opener, config, remedies: parts.remedies };
        Ok(Transport { name: parts.name, family: Family::Tcp(Box::new(tcp)) })
    }

    /// The table of a TCP transport called `name`.
    fn of(name: &str, tcp: &Tcp) -> Self {
        let Tcp { opener, config: tcp, remedies } = tcp;
        Self {
            parts: parts::Parts::of(name, tcp, remedies),
            segments: segments::Segments::of(tcp),
            windows: windows::Windows::of(tcp),
            opening: opening::Opening::of(*opener, tcp),
            rto: rto::Timers::of(tcp),
            round_trips: round_trips::RoundTrips::of(tcp),
            selective: selective::Selective::of(tcp),
            repair: repair::Repair::of(tcp),
            ack: ack::Ack::of(tcp),
            ecn: ecn::Ecn::of(tcp),
            departures: pacing::Departures::of(tcp),
            offload: offload::Offload::of(tcp),
        }
    }
}
