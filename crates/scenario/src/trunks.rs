//! `network.core`: the links between switches.

use incast_engine::{Limit, Rate, Span};
use incast_net::queue::{QueueConfig, Site};
use incast_net::topology::TopologyConfig;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::buffer::BufferDocument;
use super::schema::name_or_table;
use super::{Group, ScenarioError};

/// Links between switches, both directions of each, and the ports at either end.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreLinks {
    /// Line rate.
    pub rate: Rate,
    /// Propagation delay, one way.
    pub delay: Span,
    /// Capacity of a port.
    pub buffer: Limit,
    /// Queue discipline of the ports.
    pub queue: QueueConfig,
}

/// The links between switches, if there are several switches.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Core")]
pub(super) struct CoreDocument {
    /// Rate of each link, in bits per second. Default: `network.rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<Rate>,
    /// One-way propagation delay of each link, in seconds. Default: `network.delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Span>,
    /// Buffer of the port at either end, in bytes or packets, or `auto`. Default: `network.buffer`.
    /// Cannot be combined with a buffer that the ports of a switch share.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer: Option<BufferDocument>,
    /// Queue discipline of these ports: a name, or a table with its parameters. Default:
    /// `network.queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "optional_queue")]
    queue: Option<QueueConfig>,
}

/// Converts the name of a queue to a table.
pub(super) fn write_out(document: &mut Value) {
    let queue = document.pointer_mut("/network/core/queue");
    if let Some(queue) = queue.filter(|queue| queue.is_string()) {
        *queue = json!({ "name": queue });
    }
}

fn optional_queue(generator: &mut SchemaGenerator) -> Schema {
    name_or_table::<QueueConfig>(generator)
}

impl CoreDocument {
    /// Computes sizes that depend on the flows.
    pub(super) fn resolve(&mut self, groups: &[Group<'_>]) -> Result<(), ScenarioError> {
        let buffer = self.buffer.as_mut();
        buffer.map_or(Ok(()), |buffer| buffer.resolve("network.core.buffer", groups))
    }

    /// The links between the switches of a topology. Keys that are not given have the values of
    /// `usual`. `shares` says whether the ports of a switch share a buffer. `site` has the
    /// properties of a port of the switch.
    pub(super) fn build(
        document: Option<Self>,
        topology: &TopologyConfig,
        usual: CoreLinks,
        shares: bool,
        site: &Site,
    ) -> Result<Option<CoreLinks>, ScenarioError> {
        let has_trunks = !topology.shape().fabric().trunks.is_empty();
        match document {
            None if !has_trunks => Ok(None),
            Some(_) if !has_trunks => {
                let message = format!(
                    "{:?} has no links between switches; leave it out, or write e.g. \
                     topology = \"chain\"",
                    topology.name()
                );
                Err(ScenarioError::new("network.core", message))
            }
            document => document.unwrap_or_default().lay_over(usual, shares, site).map(Some),
        }
    }

    fn lay_over(
        self,
        usual: CoreLinks,
        shares: bool,
        site: &Site,
    ) -> Result<CoreLinks, ScenarioError> {
        let fail = |key: &str, message: String| {
            Err(ScenarioError::new(format!("network.core.{key}"), message))
        };
        let Some(own) = self.buffer.as_ref().map_or(Some(usual.buffer), BufferDocument::own) else {
            let message = "links between switches have no memory of their own to share; write a \
                           size or \"auto\", or share network.buffer";
            return fail("buffer", message.to_owned());
        };
        if shares && own != usual.buffer {
            let message = "excludes a buffer that the ports of a switch share; leave it out, or \
                           write network.buffer as a size";
            return fail("buffer", message.to_owned());
        }
        let core = CoreLinks {
            rate: self.rate.unwrap_or(usual.rate),
            delay: self.delay.unwrap_or(usual.delay),
            buffer: own,
            queue: self.queue.unwrap_or(usual.queue),
        };
        if core.rate.0 == 0 {
            return fail("rate", "a link needs a rate above 0, e.g. \"10Gbps\"".to_owned());
        }
        let buffer = site.buffer.map(|_| core.buffer);
        let site = Site { rate: core.rate, buffer, ..*site };
        match core.queue.check(&site) {
            Ok(()) => Ok(core),
            Err(fault) => fail(&format!("queue.{}", fault.key), fault.message),
        }
    }
}

impl From<&CoreLinks> for CoreDocument {
    fn from(core: &CoreLinks) -> Self {
        Self {
            rate: Some(core.rate),
            delay: Some(core.delay),
            buffer: Some(BufferDocument::Size(core.buffer)),
            queue: Some(core.queue.clone()),
        }
    }
}
