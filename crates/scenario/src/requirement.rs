//! Requirements of transports and their remedies: values of parameters, and capabilities of the
//! switch.

use incast_net::queue::{QueueConfig, ecn_threshold};
use incast_remedies::RemedyConfig;
use serde_json::{Value, json};

use super::transport::{TransportTable, counts_marks};
use super::{Network, Scenario, ScenarioDocument, ScenarioError, Transport};

/// Sets every parameter that a remedy requires, and the queue discipline that a transport needs,
/// unless `given` has a value for them. Given values are checked later.
pub(super) fn settle(document: &mut ScenarioDocument, given: &Value) {
    let ScenarioDocument { network, workload, transport, background, .. } = document;
    let is_list = workload.is_list();
    let workloads = workload.tables_mut().iter_mut().enumerate().map(|(index, table)| {
        let given = &given["workload"];
        (table, if is_list { &given[index] } else { given })
    });
    let background = background.iter_mut().enumerate();
    let background = background.map(|(index, table)| (table, &given["background"][index]));
    let others = workloads
        .chain(background)
        .filter_map(|(table, given)| Some((table.transport.as_mut()?, &given["transport"])));
    let mut marks = None;
    let mut queue = None;
    for (transport, given) in std::iter::once((transport, &given["transport"])).chain(others) {
        if transport.counts_marks() {
            marks = Some(QueueConfig::EcnThreshold(ecn_threshold::Params::default()));
        }
        for remedy in transport.remedies().to_vec() {
            transport.settle(&remedy, given);
            queue = remedy.remedy().queue().map(|queue| queue.default).or(queue);
        }
    }
    if given["network"]["queue"].is_null()
        && let Some(queue) = queue.or(marks)
    {
        network.queue = queue;
    }
}

/// Refuses a parameter whose value differs from the value that a remedy requires.
pub(super) fn check_transports(scenario: &Scenario) -> Result<(), ScenarioError> {
    let mut transports = scenario.transports().into_iter();
    transports.try_for_each(|(key, transport)| check_transport(transport, &key))
}

fn check_transport(transport: &Transport, table: &str) -> Result<(), ScenarioError> {
    let TransportTable::Tcp(given) = TransportTable::from(transport) else { return Ok(()) };
    for remedy in transport.remedies() {
        for requirement in remedy.remedy().requires() {
            let mut required = given.clone();
            required.meet(&requirement, &Value::Null);
            if *given != *required {
                let key = requirement.key();
                let [given, required] =
                    [&given, &required].map(|document| json!(document)[key].clone());
                let message = format!(
                    "{given} is given, and the remedy {:?} sets {required}; leave it out, or \
                     change the remedy's parameters",
                    remedy.name()
                );
                return Err(ScenarioError::new(format!("{table}.{key}"), message));
            }
        }
    }
    Ok(())
}

/// Refuses a queue or a buffer that a transport or a remedy cannot use.
pub(super) fn check_switch(scenario: &Scenario) -> Result<(), ScenarioError> {
    let network = &scenario.network;
    let transports: Vec<_> = scenario.transports().into_iter().map(|(_, it)| it).collect();
    let blind = transports.iter().find(|transport| counts_marks(transport));
    if let Some(transport) = blind.filter(|_| !network.queue.marks()) {
        let message = format!(
            "{:?} never marks, and the transport {:?} counts marks; write e.g. \
             \"ecn-threshold\", or leave the key out",
            network.queue.name(),
            transport.name
        );
        return Err(ScenarioError::new("network.queue", message));
    }
    let remedies = transports.iter().flat_map(|transport| transport.remedies());
    remedies.into_iter().try_for_each(|remedy| check_remedy(remedy, network))
}

fn check_remedy(remedy: &RemedyConfig, network: &Network) -> Result<(), ScenarioError> {
    let name = remedy.name();
    if let Some(queue) = remedy.remedy().queue()
        && !queue.ability.is_met_by(&network.queue)
    {
        let message = format!(
            "{:?} does not work with the remedy {name:?}: {}",
            network.queue.name(),
            queue.ability
        );
        return Err(ScenarioError::new("network.queue", message));
    }
    let limits = [network.buffer].into_iter().chain(network.pool.map(|pool| pool.total));
    for limit in limits {
        if let Err(needs) = remedy.remedy().accepts_buffer(limit) {
            let message = format!("{limit} does not work with the remedy {name:?}: {needs}");
            return Err(ScenarioError::new("network.buffer", message));
        }
    }
    Ok(())
}
