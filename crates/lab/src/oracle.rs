//! Why a timer expired: exact, because the simulator sees the network and the other end.

use incast_net::{Flags, Packet};
use incast_tcp::{TimeoutKind, TimeoutReport};

use crate::cause::{Cause, Diagnosis};
use crate::core::Core;
use crate::ids::EndId;
use crate::probe::Probe;

/// Segments that have to follow a lost one so that their duplicate ACKs can repair it.
const DUPACKS_NEEDED: u64 = 3;

/// Diagnoses an expiry at `end`, before it sends again.
pub fn diagnose<P: Probe>(
    core: &Core<P>,
    end: EndId,
    report: &TimeoutReport,
    mss: u32,
) -> Diagnosis {
    let epoch = core.connection(end).epoch();
    let outgoing = || flying(core, end, epoch);
    let incoming = || flying(core, end.peer(), epoch);
    if report.kind != TimeoutKind::Data {
        return Diagnosis { cause: handshake_cause(core, end, report, epoch), lost_in_window: 0 };
    }

    let peer = core.connection(end.peer());
    let arrived = peer.received().next() > report.una;
    let covers = |packet: &Packet| packet.seq <= report.una && report.una < packet.seq_end();
    let acknowledges =
        |packet: &Packet| packet.flags.contains(Flags::ACK) && packet.ack > report.una;
    let missing = missing_bytes(core, end, report, epoch);
    let cause = if outgoing().any(covers)
        || (arrived && (peer.is_holding_ack() || incoming().any(acknowledges)))
    {
        Cause::Spurious
    } else if arrived {
        Cause::AckLoss
    } else if report.transmissions > 1 {
        Cause::LostRetransmission
    } else if missing == report.max - report.una {
        Cause::FullWindow
    } else {
        let sru_end = core.connection(end).written() + incast_tcp::connection::FIRST_BYTE;
        let following = sru_end.saturating_sub(report.head_end).div_ceil(u64::from(mss));
        if following < DUPACKS_NEEDED { Cause::Tail } else { Cause::LackOfDupacks }
    };
    Diagnosis { cause, lost_in_window: missing.div_ceil(u64::from(mss)) as u32 }
}

fn handshake_cause<P: Probe>(
    core: &Core<P>,
    end: EndId,
    report: &TimeoutReport,
    epoch: u8,
) -> Cause {
    let peer = core.connection(end.peer());
    let is_request = report.kind == TimeoutKind::Request;
    let sent = if is_request { Flags::REQUEST } else { Flags::SYN };
    let arrived = !is_request || peer.requests_seen() >= core.connection(end).requests_made();
    // Data answer a request, or the SYN of a server that opens; an ACK answers a SYN.
    let answers = |packet: &Packet| {
        if is_request {
            packet.payload > 0 || packet.flags.contains(Flags::SYN)
        } else {
            packet.flags.contains(Flags::ACK)
        }
    };
    let is_held = !is_request && peer.is_established() && peer.is_holding_ack();
    if flying(core, end, epoch).any(|packet| packet.flags.contains(sent))
        || (arrived && (is_held || flying(core, end.peer(), epoch).any(answers)))
    {
        Cause::Spurious
    } else if is_request && arrived && peer.is_established() {
        // What is missing is the response, the peer's to send, or to send again.
        match peer.head_transmissions() {
            0 => Cause::Spurious,
            1 => Cause::FullWindow,
            _ => Cause::LostRetransmission,
        }
    } else {
        Cause::Handshake
    }
}

/// Outstanding bytes that have neither arrived nor are on the way.
fn missing_bytes<P: Probe>(core: &Core<P>, end: EndId, report: &TimeoutReport, epoch: u8) -> u64 {
    let mut present: Vec<(u64, u64)> = core.connection(end.peer()).received().ranges().to_vec();
    present.push((0, core.connection(end.peer()).received().next()));
    present.extend(flying(core, end, epoch).map(|packet| (packet.seq, packet.seq_end())));
    present.sort_unstable();
    let mut missing = 0;
    let mut at = report.una;
    for (start, stop) in present {
        missing += start.clamp(at, report.max) - at;
        at = at.max(stop).min(report.max);
    }
    missing + (report.max - at)
}

/// Packets of the end's current incarnation that are still on their way to the peer.
fn flying<P: Probe>(core: &Core<P>, end: EndId, epoch: u8) -> impl Iterator<Item = &Packet> {
    core.network.in_flight(end.route()).filter(move |packet| packet.epoch == epoch)
}
