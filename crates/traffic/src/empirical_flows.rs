//! Flows with sizes from a measured distribution, at a given load.

use incast_engine::{Fault, Rate, Span, Stream};
use incast_host::Hosts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::poisson_flows::{Arrivals, RandomFlows, load};
use crate::seam::{Load, Pairing, Role, Senders, Setting, Workload};
use crate::sizes::Sizes;

/// Flows between random servers and clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Params {
    /// Number of servers, at least 1. No default.
    #[schemars(range(min = 1, max = 1_000_000))]
    servers: u32,
    /// The switches to which the servers are connected: a number from 0, or a list of numbers that
    /// are assigned to the servers in turn. Default: the switches where the topology places
    /// servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers_at: Option<Numbers>,
    /// The clients from which the receiver of each flow is drawn: a number from 0, or a list.
    /// Default: the first client.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Numbers>,
    /// The sizes of flows: `websearch.csv` or `datamining.csv` (of DCTCP's evaluation),
    /// `storage.csv` (a storage system), the path of a file with lines `bytes,cdf`, or a list of
    /// such points. No default.
    sizes: Sizes,
    /// Offered load as a share of the capacity of the clients' links, above 0. With 1 or more, the
    /// number of waiting flows grows without bound.
    #[serde(default = "half")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    load: f64,
    /// Number of flows. Background traffic without this key never ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 1000))]
    flows: Option<u64>,
    /// Earliest time of the first flow, in seconds.
    #[serde(default)]
    start: Span,
}

const fn half() -> f64 {
    0.5
}

/// Default number of flows of a workload: enough for a 99th percentile.
const FLOWS: u64 = 1000;

impl Params {
    /// Mean time between two flows.
    fn interval(&self, client_rate: Rate) -> Span {
        let clients = self.clients().len() as f64;
        let flows_per_second = self.load * client_rate.0 as f64 * clients / 8.0 / self.sizes.mean();
        Span::from_picos((1e12 / flows_per_second).max(1.0) as u64)
    }
}

impl Workload for Params {
    fn settle(&mut self, layout: &Layout, role: Role) -> Result<(), Fault> {
        self.sizes.check()?;
        self.servers_at = layout.settled_switches(self.servers_at.as_ref(), "servers_at")?;
        self.to = layout.settled_clients(self.to.as_ref(), "to")?;
        if role == Role::Workload {
            self.flows.get_or_insert(FLOWS);
        }
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        Senders::Own(self.servers, layout.switches_of(self.servers_at.as_ref()))
    }

    fn to(&self) -> Option<&Numbers> {
        self.to.as_ref()
    }

    fn pairing(&self) -> Pairing {
        Pairing::Every
    }

    fn load(&self, senders: u32) -> Option<Load> {
        Some(load(self.sizes.most(), senders, self.count(senders)))
    }

    fn ends(&self) -> bool {
        self.flows.is_some()
    }

    fn application(&self, setting: Setting, _: &mut Hosts) -> Box<dyn Application> {
        let interval = self.interval(setting.client_rate);
        let arrivals = Arrivals { start: self.start, interval, count: self.flows };
        let sizes = self.sizes.clone();
        let draw = move |random: &mut Stream| sizes.draw(random);
        Box::new(RandomFlows::new(arrivals, draw, self.clients().len() as u32, &setting))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// 5000 flows of 100 kbit per second are half of 1 Gbps.
    #[test]
    fn flows_fill_half_of_a_link_unless_the_scenario_says_otherwise() {
        let interval = |keys: serde_json::Value| {
            let params: Params = serde_json::from_value(keys).expect("a table of flows");
            params.interval(Rate(1_000_000_000))
        };
        let default = interval(json!({ "servers": 1, "sizes": [[12_500, 1]] }));
        assert_eq!(default, Span::from_micros(200));
        let full = interval(json!({ "servers": 1, "sizes": [[12_500, 1]], "load": 1 }));
        assert_eq!(full, Span::from_micros(100));
    }
}
