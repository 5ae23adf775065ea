//! Hosts without a network: their ends, their waits, and the requests of applications.

mod applications;
mod blueprints;
mod ends;
mod names;
mod rows;
mod waits;

use incast_engine::{Limit, Rate, Span, Time};
use incast_net::{Flags, Packet};
use incast_remedies::Situation;
use incast_tcp::Config;
use incast_tcp::config::{
    EarlyRetransmit, Handshake, IdleRestart, PrrBound, RttSampling, UndoKind, WindowUnit,
};
use incast_tcp::connection::Polled;
use incast_tcp::send::rtt::RtoPolicy;
use incast_tcp::wheel::TimerTicks;
use serde::de::DeserializeOwned;
use serde_json::{from_value, json};

use crate::{Blueprint, EndId, Family, Hosts, Opener, Tcp, Transport};

const MSS: u64 = 1000;
const RTO: Span = Span::from_millis(10);

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn micros(count: u64) -> Span {
    Span::from_micros(count)
}

/// The registered part with this name.
fn named<T: DeserializeOwned>(name: &str) -> T {
    from_value(json!({ "name": name })).unwrap()
}

/// A connection that is established from the start, with recovery of RFC 6582 and a window of two
/// segments.
fn config() -> Config {
    Config {
        mss: MSS as u32,
        header: 40,
        ack_size: 40,
        window_unit: WindowUnit::Bytes,
        initial_window: 2 * MSS,
        initial_ssthresh: 77 * MSS,
        receive_window: 1_000_000,
        handshake: Handshake::None,
        request_on_wire: true,
        fin: false,
        rto: RtoPolicy { min: RTO, initial: RTO, ..RtoPolicy::RFC_6298 },
        syn_rto: RTO,
        rto_after_syn_loss: RTO,
        syn_loss_is_timeout: false,
        timer_ticks: TimerTicks::default(),
        rtt_sampling: RttSampling::PerAck,
        timestamps: None,
        sack: None,
        early_retransmit: EarlyRetransmit::Off,
        prr: PrrBound::Off,
        undo: UndoKind::None,
        limited_transmit: false,
        limited_transmit_resends: false,
        dupack_threshold: 3,
        dupack_requires_same_window: false,
        delayed_ack: None,
        ecn: None,
        idle_restart: IdleRestart::None,
        send_jitter: Span::ZERO,
        recovery_burst: None,
        pacing: None,
        segmentation_offload: None,
        tso_deferral: false,
        receive_offload: None,
        recovery: named("newreno"),
        congestion_control: named("reno"),
    }
}

fn transport(tcp: Config, opener: Opener) -> Transport {
    let tcp = Tcp { opener, config: tcp, remedies: Vec::new() };
    Transport { name: "test".to_owned(), family: Family::Tcp(Box::new(tcp)) }
}

fn situation(base_rtt: Span) -> Situation {
    Situation {
        servers: 1,
        sru: 10 * MSS,
        sender_rate: Rate(1_000_000_000),
        client_rate: Rate(1_000_000_000),
        buffer: Limit::Packets(40),
        base_rtt,
    }
}

/// A blueprint of a configuration. The clients open the connections, and round trips take 10 µs.
fn blueprint(tcp: Config, first_flow: u32) -> Blueprint {
    Blueprint::new(&transport(tcp, Opener::Client), &situation(micros(10)), first_flow)
}

/// Hosts with this number of flows, which form one block; event rows are recorded.
fn hosts(tcp: Config, flows: u32) -> Hosts {
    let mut hosts = Hosts::new(1, true);
    hosts.add_blueprint(blueprint(tcp, 0), flows);
    hosts.waits.add(0, flows, true, micros(10));
    hosts
}

/// The packets that an end sends now.
fn sent(hosts: &mut Hosts, id: EndId, now: Time) -> Vec<Packet> {
    let next = || {
        let mut draft = Packet::default();
        let polled = hosts.end_mut(id).poll_transmit_into(now, &mut draft);
        (polled != Polled::Nothing).then_some(draft)
    };
    std::iter::from_fn(next).collect()
}

/// An ACK of a flow's client.
fn ack(flow: u32, next: u64) -> Packet {
    let route = EndId::client(flow).route();
    Packet { route, ack: next, window: 1_000_000, flags: Flags::ACK, ..Packet::default() }
}
