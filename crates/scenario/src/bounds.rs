//! Upper bounds of scenarios, checked before any work is done.
//!
//! A scenario beyond these bounds would take too long, exceed the memory, or overflow the 64-bit
//! clock. At most [`MOST_PACKETS`] packets wait, each takes at most [`SLOWEST`] on a link, and no
//! link is longer than [`LONGEST`], so that all departures and arrivals fit into the clock.

use std::collections::BTreeMap;

use incast_engine::{Rate, Span};
use incast_net::packets::MOST_PACKETS;
use incast_traffic::Offered;

use super::{Group, Scenario, ScenarioError};

/// The largest number of connections. Each connection takes some kilobytes of memory.
const MOST: u32 = 1_000_000;
/// The longest transmission time of a full packet.
const SLOWEST: Span = Span::from_secs(1);
/// The longest propagation delay.
const LONGEST: Span = Span::from_secs(10_000);
/// The largest `network.clock_noise`.
const NOISIEST: Span = Span::from_millis(1);
/// The largest number of datagrams that may wait for their host's link at the end.
const MOST_WAITING: f64 = MOST_PACKETS as f64 / 8.0;

/// Refuses scenarios beyond the bounds.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    check_counts(scenario)?;
    check_delays(scenario)?;
    check_rates(scenario)?;
    check_hosts(scenario)?;
    check_groups(scenario)
}

fn fail<T>(key: impl Into<String>, message: String) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(key, message))
}

/// Refuses scenarios that do not fit into memory.
fn check_counts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut connections = 0_u32;
    for group in scenario.groups().iter().filter(|group| group.transport.is_some()) {
        let count = group.flows();
        if count > MOST {
            let message = format!("{count} connections are more than {MOST}; write fewer");
            return fail(&group.key, message);
        }
        connections = connections.saturating_add(count);
        if connections > MOST {
            let message = format!(
                "the tables up to this one have {connections} connections, more than {MOST}; write \
                 fewer"
            );
            return fail(&group.key, message);
        }
    }
    Ok(())
}

fn check_delays(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let core = network.core.as_ref().map(|core| core.delay);
    let reordering = network.reorder.map(|reorder| reorder.reordering.delay);
    for (key, given, most) in [
        ("delay", Some(network.client_delay), LONGEST),
        ("server_delay", Some(network.server_delay), LONGEST),
        ("core.delay", core, LONGEST),
        ("reorder.delay", reordering, LONGEST),
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
    let transports = scenario.transports().into_iter();
    let segments = transports.map(|(_, transport)| transport.packet());
    let groups = scenario.groups();
    let offered = groups.iter().filter_map(|group| group.config.workload().offered());
    let datagrams = offered.map(|offered| offered.packet);
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

/// Refuses datagram sources that overload their link for too long: a host's own queue is unbounded,
/// so the excess would fill the memory.
fn check_hosts(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let mut on_servers = 0.0;
    for group in scenario.groups() {
        let Some(Offered { rate, share, packet, start, on_servers: beside }) =
            group.config.workload().offered()
        else {
            continue;
        };
        let per_packet = f64::from(packet + network.layer2_overhead) * 8.0;
        let offered = share * rate.0 as f64 / f64::from(packet) / 8.0;
        let carried = network.server_rate.0 as f64 / per_packet;
        let excess = offered + if beside { on_servers } else { 0.0 } - carried;
        if beside {
            on_servers += offered;
        }
        let (end, key) = end(scenario);
        let sources = if beside { 1.0 } else { f64::from(group.count) };
        let left = sources * excess * end.saturating_sub(start).as_secs_f64();
        if left > MOST_WAITING {
            let most = network.server_rate.0 as f64 * f64::from(packet) * 8.0 / per_packet / share;
            let long_enough = start.as_secs_f64() + MOST_WAITING / (sources * excess);
            let message = format!(
                "{rate} is more than the hosts' links carry (network.server_rate = {}) and leaves \
                 {left:.0} packets waiting; write at most \"{:.0}bps\", or {key} = \
                 \"{long_enough:.6}s\"",
                network.server_rate,
                most.floor()
            );
            return fail(format!("{}.rate", group.key), message);
        }
    }
    Ok(())
}

/// The latest end of a run, and the key that sets it.
fn end(scenario: &Scenario) -> (Span, &'static str) {
    let limit = scenario.run.time_limit;
    match &scenario.traffic.workloads[..] {
        [only] => match only.config.workload().duration() {
            Some(duration) if duration < limit => (duration, "workload.duration"),
            _ => (limit, "run.time_limit"),
        },
        _ => (limit, "run.time_limit"),
    }
}

/// Refuses duplicate names of groups.
fn check_groups(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut rows = BTreeMap::new();
    for Group { key, row, .. } in scenario.groups() {
        if key == "workload" {
            continue;
        }
        let at = format!("{key}.group");
        if row == "all" {
            let message = "\"all\" is the row of the workloads; write another name";
            return fail(at, message.to_owned());
        }
        if row.is_empty() {
            return fail(at, "must not be empty; write a name, or leave it out".to_owned());
        }
        if let Some(other) = rows.get(&row) {
            let message = format!("{row:?} is the row of {other}; write another name");
            return fail(at, message);
        }
        rows.insert(row, key);
    }
    Ok(())
}

fn secs(span: Span) -> f64 {
    span.as_secs_f64()
}
