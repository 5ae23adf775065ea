//! The cause of a timer's expiry. The result is exact, because the simulator knows the state of the
//! network and of both ends.

use incast_host::cause::{Cause, Diagnosis};
use incast_host::{EndId, Hosts};
use incast_net::topology::Network;
use incast_net::{Flags, Packet};
use incast_tcp::connection::FIRST_BYTE;
use incast_tcp::{Connection, TimeoutKind, TimeoutReport};

/// Number of duplicate ACKs that start the repair of a lost segment. Each segment that arrives
/// after the lost one causes one duplicate ACK.
const DUPACKS_NEEDED: u64 = 3;

/// Diagnoses an expiry at `end`, before `end` retransmits. Returns `None` for transports other than
/// TCP.
pub fn diagnose(
    hosts: &Hosts,
    network: &Network,
    end: EndId,
    report: &TimeoutReport,
    mss: u32,
) -> Option<Diagnosis> {
    let (own, peer) = (hosts.connection(end)?, hosts.connection(end.peer())?);
    let case = Case { network, end, own, peer, report };
    if report.kind != TimeoutKind::Data {
        return Some(Diagnosis { cause: case.of_handshake(), lost_in_window: 0 });
    }
    let missing = case.missing_bytes();
    let why = case.of_data(missing, u64::from(mss));
    Some(Diagnosis { cause: why, lost_in_window: missing.div_ceil(u64::from(mss)) as u32 })
}

/// An expiry, and the state that explains it.
struct Case<'a> {
    network: &'a Network,
    end: EndId,
    own: &'a Connection,
    peer: &'a Connection,
    report: &'a TimeoutReport,
}

impl<'a> Case<'a> {
    fn of_data(&self, missing: u64, mss: u64) -> Cause {
        let Self { own, peer, report, .. } = self;
        let arrived = peer.received().next() > report.una;
        let covers = |packet: &Packet| packet.seq <= report.una && report.una < packet.seq_end();
        let acknowledges =
            |packet: &Packet| packet.flags.contains(Flags::ACK) && packet.ack > report.una;
        if self.outgoing().any(covers)
            || (arrived && (peer.is_holding_ack() || self.incoming().any(acknowledges)))
        {
            Cause::Spurious
        } else if arrived {
            Cause::AckLoss
        } else if report.transmissions > 1 {
            Cause::LostRetransmission
        } else if missing == report.max - report.una {
            Cause::FullWindow
        } else {
            let sru_end = own.written() + FIRST_BYTE;
            let following = sru_end.saturating_sub(report.head_end).div_ceil(mss);
            if following < DUPACKS_NEEDED { Cause::Tail } else { Cause::LackOfDupacks }
        }
    }

    fn of_handshake(&self) -> Cause {
        let Self { own, peer, .. } = self;
        let is_request = self.report.kind == TimeoutKind::Request;
        let sent = if is_request { Flags::REQUEST } else { Flags::SYN };
        let arrived = !is_request || peer.requests_seen() >= own.requests_made();
        // A request is answered by data, or by the SYN of a server that opens the connection. An
        // ACK answers a SYN.
        let answers = |packet: &Packet| {
            if is_request {
                packet.payload > 0 || packet.flags.contains(Flags::SYN)
            } else {
                packet.flags.contains(Flags::ACK)
            }
        };
        let is_held = !is_request && peer.is_established() && peer.is_holding_ack();
        if self.outgoing().any(|packet| packet.flags.contains(sent))
            || (arrived && (is_held || self.incoming().any(answers)))
        {
            Cause::Spurious
        } else if is_request && arrived && peer.is_established() {
            // The response is missing. The peer has not sent it yet, or must retransmit it.
            match peer.head_transmissions() {
                0 => Cause::Spurious,
                1 => Cause::FullWindow,
                _ => Cause::LostRetransmission,
            }
        } else {
            Cause::Handshake
        }
    }

    /// Outstanding bytes that have not arrived and are not in the network.
    fn missing_bytes(&self) -> u64 {
        let Self { peer, report, .. } = self;
        let mut present: Vec<(u64, u64)> = peer.received().ranges().collect();
        present.push((0, peer.received().next()));
        present.extend(self.outgoing().map(|packet| (packet.seq, packet.seq_end())));
        present.sort_unstable();
        let mut missing = 0;
        let mut at = report.una;
        for (start, stop) in present {
            missing += start.clamp(at, report.max) - at;
            at = at.max(stop).min(report.max);
        }
        missing + (report.max - at)
    }

    /// Packets of this incarnation that are in the network on the way to the peer.
    fn outgoing(&self) -> impl Iterator<Item = &'a Packet> {
        self.flying(self.end)
    }

    /// Packets of this incarnation that are in the network on the way from the peer.
    fn incoming(&self) -> impl Iterator<Item = &'a Packet> {
        self.flying(self.end.peer())
    }

    fn flying(&self, from: EndId) -> impl Iterator<Item = &'a Packet> {
        let epoch = self.own.epoch();
        self.network.in_flight(from.route()).filter(move |packet| packet.epoch == epoch)
    }
}
