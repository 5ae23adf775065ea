//! What a transport requires of the switch.

use incast_tcp::congestion::CongestionControlConfig;
use serde_json::{Value, json};

use super::acknowledgement::counts_marks;
use super::document::lay;
use super::{Background, Network, ScenarioError, Transport};

/// Gives a switch that marks to transports that count marks, unless the document names a queue.
pub(super) fn choose_queue(document: &mut Value, given: &Value) {
    let background = document["background"].as_array().into_iter().flatten();
    let counts = counts_marks_as_written(&document["transport"])
        || background.map(|traffic| &traffic["transport"]).any(counts_marks_as_written);
    if counts && given["network"]["queue"].is_null() {
        lay(document, &json!({ "network": { "queue": { "name": "ecn-threshold" } } }));
    }
}

fn counts_marks_as_written(transport: &Value) -> bool {
    // What cannot be read is refused later, with its key.
    serde_json::from_value(transport["congestion_control"].clone())
        .is_ok_and(|config: CongestionControlConfig| counts_marks(&config))
}

/// Refuses a queue that never marks where a transport counts marks.
pub(super) fn check_queue(
    network: &Network,
    transport: &Transport,
    background: &[Background],
) -> Result<(), ScenarioError> {
    let others = background.iter().filter_map(Background::transport);
    let blind = [transport]
        .into_iter()
        .chain(others)
        .find(|transport| counts_marks(&transport.tcp.congestion_control));
    match blind {
        Some(transport) if !network.queue.marks() => {
            let queue = json!(network.queue)["name"].clone();
            let message = format!(
                "{queue} never marks, and the transport {:?} counts marks; \
                 write e.g. \"ecn-threshold\", or nothing",
                transport.name
            );
            Err(ScenarioError::new("network.queue", message))
        }
        _ => Ok(()),
    }
}
