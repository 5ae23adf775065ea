//! `workload.name = "long-flows"`: bulk transfers for a given time.

use incast_engine::Span;
use incast_net::topology::SwitchId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bursts::Bursts;
use super::network::Layout;
use super::numbers::Numbers;
use super::{Network, ScenarioError};

/// TCP connections that always have data to send, or bursts of them.
#[derive(Clone, Debug, PartialEq)]
pub struct LongFlows {
    /// Number of servers, at least 1.
    pub servers: u32,
    /// The switches that they are put on, in turn.
    pub servers_at: Vec<SwitchId>,
    /// Connections of each server, at least 1.
    pub flows: u32,
    /// The clients that the servers send to, in turn.
    pub to: Vec<u32>,
    /// How long they send.
    pub duration: Span,
    /// What the application writes; none if it always has data.
    pub bursts: Option<Bursts>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct LongFlowsDocument {
    /// Number of servers, at least 1. No default.
    #[schemars(range(min = 1, max = 1_000_000))]
    servers: u32,
    /// The switches that the servers are put on, in turn: a number from 0, or a list. Default:
    /// what the topology has for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers_at: Option<Numbers>,
    /// Connections of each server, at least 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    flows: u32,
    /// The clients that the servers send to, in turn: a number from 0, or a list. Default: the
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// Simulated time for which they send, seconds. No default.
    duration: Span,
    /// Data come in bursts, a full segment at a time: a table. Default: there are always data.
    #[serde(skip_serializing_if = "Option::is_none")]
    bursts: Option<Bursts>,
}

impl LongFlowsDocument {
    pub(super) fn build(self, layout: &Layout) -> Result<LongFlows, ScenarioError> {
        let fail =
            |key: &str, message: &str| Err(ScenarioError::new(format!("workload.{key}"), message));
        if self.servers == 0 {
            return fail("servers", "0 is not a number of servers; write 1 or more");
        }
        if self.flows == 0 {
            return fail("flows", "0 is not a number of connections; write 1 or more");
        }
        if self.duration.is_zero() {
            return fail("duration", "0 is no time to send in; write e.g. \"20s\"");
        }
        let bursts = self.bursts.map(|bursts| bursts.check("workload.bursts")).transpose()?;
        Ok(LongFlows {
            servers: self.servers,
            servers_at: layout.servers_at(self.servers_at)?,
            flows: self.flows,
            to: Numbers::clients(self.to, layout.clients, "workload.to")?,
            duration: self.duration,
            bursts,
        })
    }

    pub(super) fn of(flows: &LongFlows, network: &Network) -> Self {
        Self {
            servers: flows.servers,
            servers_at: Numbers::of_switches(&flows.servers_at, &network.fabric()),
            flows: flows.flows,
            to: Numbers::of_clients(&flows.to, network.clients),
            duration: flows.duration,
            bursts: flows.bursts,
        }
    }
}
