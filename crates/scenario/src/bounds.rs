//! What no scenario may exceed, checked before any work is done.
//!
//! Nobody waits for what lies beyond, no memory holds it, or the clock of 64 bits has no room for
//! it: at most [`MOST_PACKETS`] packets wait somewhere, each takes at most [`SLOWEST`] on a line,
//! and no link is longer than [`LONGEST`], so that everything leaves and arrives before the end of
//! time.

use std::collections::BTreeMap;

use incast_engine::{Rate, Span};
use incast_net::packets::MOST_PACKETS;

use super::{Background, Datagrams, OnOff, Scenario, ScenarioError, Source, Workload};

/// The most clients, and connections of one table: some kilobytes each.
const MOST: u32 = 1_000_000;
/// The most that a full packet may take on a line.
const SLOWEST: Span = Span::from_secs(1);
/// The longest link: farther than Saturn.
const LONGEST: Span = Span::from_secs(10_000);
/// The most that a clock may be off within a packet.
const NOISIEST: Span = Span::from_millis(1);
/// The most bytes of a block.
const LARGEST_BLOCK: u64 = 1_000_000_000_000_000;
/// The most datagrams that may wait for their host's link at the end.
const MOST_WAITING: f64 = MOST_PACKETS as f64 / 8.0;

/// Refuses what is beyond all bounds.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    check_counts(scenario)?;
    check_block(scenario)?;
    check_delays(scenario)?;
    check_rates(scenario)?;
    check_hosts(scenario)?;
    check_groups(scenario)
}

fn fail<T>(key: impl Into<String>, message: String) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(key, message))
}

/// Refuses what no machine's memory holds.
fn check_counts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let servers = scenario.workload.servers();
    let background = scenario.background.iter().enumerate().map(|(index, traffic)| {
        (format!("background.{index}"), traffic.connections(servers), "connections")
    });
    let own = [
        ("network.clients".to_owned(), scenario.network.clients, "clients"),
        ("workload.servers".to_owned(), scenario.workload.flows(), "connections"),
    ];
    let mut connections = 0_u32;
    for (key, count, what) in own.into_iter().chain(background) {
        if count > MOST {
            return fail(key, format!("{count} {what} are more than {MOST}; write fewer"));
        }
        connections = connections.saturating_add(if what == "connections" { count } else { 0 });
        if connections > MOST {
            let message =
                format!("with these {connections} connections are more than {MOST}; write fewer");
            return fail(key, message);
        }
    }
    Ok(())
}

fn check_block(scenario: &Scenario) -> Result<(), ScenarioError> {
    let Workload::BarrierRead(read) = &scenario.workload else { return Ok(()) };
    let most = LARGEST_BLOCK / u64::from(read.active);
    let sru = read.sru_of(0);
    if sru > most {
        let message = format!("{sru} bytes of each server are too many; write at most {most}");
        return fail("workload.sru", message);
    }
    Ok(())
}

fn check_delays(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let core = network.core.as_ref().map(|core| core.delay);
    let detour = network.reorder.map(|reorder| reorder.detour.delay);
    for (key, given, most) in [
        ("delay", Some(network.client_delay), LONGEST),
        ("server_delay", Some(network.server_delay), LONGEST),
        ("core.delay", core, LONGEST),
        ("reorder.delay", detour, LONGEST),
        ("clock_noise", Some(network.clock_noise), NOISIEST),
    ] {
        if let Some(given) = given.filter(|given| *given > most) {
            let message =
                format!("{}s is too long; write at most \"{}s\"", secs(given), secs(most));
            return fail(format!("network.{key}"), message);
        }
    }
    Ok(())
}

/// Refuses links on which a packet takes too long.
fn check_rates(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let transports = scenario.background.iter().filter_map(Background::transport);
    let segments = transports
        .chain([&scenario.transport])
        .map(|transport| transport.tcp.mss + u32::from(transport.tcp.header));
    let datagrams = scenario.background.iter().filter_map(datagrams).map(|it| it.packet_size);
    let packet = segments.chain(datagrams).max().unwrap_or(0) + network.layer2_overhead;
    let least = Rate(u64::from(packet) * 8 / (SLOWEST.as_picos() / Span::from_secs(1).as_picos()));
    let core = network.core.as_ref().map(|core| core.rate);
    for (key, rate) in [
        ("client_rate", Some(network.client_rate)),
        ("server_rate", Some(network.server_rate)),
        ("core.rate", core),
    ] {
        if let Some(rate) = rate.filter(|rate| *rate < least) {
            let key = if network.client_rate == network.server_rate { "rate" } else { key };
            let message = format!(
                "{rate} is too slow for packets of {packet} bytes; write at least \"{least}\""
            );
            return fail(format!("network.{key}"), message);
        }
    }
    Ok(())
}

/// Refuses sources of datagrams that offer their link more than it carries for so long that the
/// rest fills the memory: nothing bounds a host's own queue.
fn check_hosts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let mut on_servers = 0.0;
    for (index, traffic) in scenario.background.iter().enumerate() {
        let Some(datagrams) = datagrams(traffic) else { continue };
        let share = match traffic {
            Background::OnOff(OnOff { burst, idle, .. }) => {
                burst.as_secs_f64() / (burst.as_secs_f64() + idle.as_secs_f64())
            }
            _ => 1.0,
        };
        let per_packet = f64::from(datagrams.packet_size + network.layer2_overhead) * 8.0;
        let offered = share * datagrams.rate.0 as f64 / f64::from(datagrams.packet_size) / 8.0;
        let carried = network.server_rate.0 as f64 / per_packet;
        let others = if datagrams.from == Source::Servers { on_servers } else { 0.0 };
        let excess = offered + others - carried;
        if datagrams.from == Source::Servers {
            on_servers += offered;
        }
        let (end, key) = end(scenario);
        let left = excess * end.saturating_sub(datagrams.start).as_secs_f64();
        if left > MOST_WAITING {
            let most = network.server_rate.0 as f64 * f64::from(datagrams.packet_size) * 8.0
                / per_packet
                / share;
            let long_enough = datagrams.start.as_secs_f64() + MOST_WAITING / excess;
            let message = format!(
                "{} is more than the hosts' links carry, network.server_rate = {}, and leaves \
                 {left:.0} packets waiting; write at most \"{:.0}bps\", or {key} = \
                 \"{long_enough:.6}s\"",
                datagrams.rate,
                network.server_rate,
                most.floor()
            );
            return fail(format!("background.{index}.rate"), message);
        }
    }
    Ok(())
}

/// When a run ends at the latest, and the key that says so.
fn end(scenario: &Scenario) -> (Span, &'static str) {
    match &scenario.workload {
        Workload::LongFlows(flows) if flows.duration < scenario.run.time_limit => {
            (flows.duration, "workload.duration")
        }
        _ => (scenario.run.time_limit, "run.time_limit"),
    }
}

/// What a source of datagrams sends.
pub(super) fn datagrams(traffic: &Background) -> Option<&Datagrams> {
    match traffic {
        Background::Cbr(datagrams)
        | Background::Poisson(datagrams)
        | Background::OnOff(OnOff { datagrams, .. }) => Some(datagrams),
        Background::LongFlow(_) | Background::PoissonFlows(_) => None,
    }
}

/// Refuses names of groups that another row has.
fn check_groups(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut rows = BTreeMap::new();
    for (index, row) in scenario.background.iter().enumerate().map(|(at, it)| (at, it.row(at))) {
        let key = || format!("background.{index}.group");
        if row == "all" {
            let message = "\"all\" is the workload's own row; write another name";
            return fail(key(), message.to_owned());
        }
        if row.is_empty() {
            return fail(key(), "\"\" is no name; write one, or leave it out".to_owned());
        }
        if let Some(other) = rows.get(&row) {
            let message = format!("{row:?} is the row of background.{other}; write another name");
            return fail(key(), message);
        }
        rows.insert(row, index);
    }
    Ok(())
}

fn secs(span: Span) -> f64 {
    span.as_secs_f64()
}
