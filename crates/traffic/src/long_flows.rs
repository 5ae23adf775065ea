//! Bulk transfers for a given time.

use incast_engine::{Fault, Span};
use incast_host::Hosts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::bursts::Bursts;
use crate::layout::Layout;
use crate::long_flow::{LongFlows, load, one};
use crate::numbers::Numbers;
use crate::seam::{Load, Pairing, Role, Senders, Setting, Workload};

/// TCP connections that always have data to send, or that send bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Number of servers, at least 1. No default.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub servers: u32,
    /// The switches to which the servers are connected: a number from 0, or a list of numbers that
    /// are assigned to the servers in turn. Default: the switches where the topology places
    /// servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers_at: Option<Numbers>,
    /// Connections of each server, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub flows: u32,
    /// The clients to which the servers send: a number from 0, or a list of numbers that are
    /// assigned to the servers in turn. Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Numbers>,
    /// Simulated time for which the connections send, in seconds. No default; background traffic
    /// sends until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Span>,
    /// Bursts of data: a table. In a burst, the application writes one full segment at a time.
    /// Default: no bursts; there is always data to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
}

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        let fault = match (self.duration, role) {
            (None, Role::Workload) => Some("missing; it has no default"),
            (Some(Span::ZERO), _) => Some("must be longer than 0; write e.g. \"20s\""),
            (Some(_), Role::Background) => {
                Some("must not be given in [[background]], which continues until the run ends")
            }
            _ => None,
        };
        if let Some(message) = fault {
            return Err(Fault::new("duration", message));
        }
        self.bursts.map_or(Ok(()), Bursts::check)?;
        self.servers_at = layout.settled_switches(self.servers_at.as_ref(), "servers_at")?;
        self.to = layout.settled_clients(self.to.as_ref(), "to")?;
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        Senders::Own(self.servers, layout.switches_of(self.servers_at.as_ref()))
    }

    fn to(&self) -> Option<&Numbers> {
        self.to.as_ref()
    }

    fn pairing(&self) -> Pairing {
        Pairing::InTurn(self.flows)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(load(self.servers, self.count(senders)))
    }

    fn ends(&self) -> bool {
        true
    }

    fn duration(&self) -> Option<Span> {
        self.duration
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let count = self.count(setting.senders);
        let flows = LongFlows::new(Span::ZERO, count, self.bursts, &setting);
        Box::new(match self.duration {
            Some(duration) => flows.until(duration),
            None => flows,
        })
    }
}
