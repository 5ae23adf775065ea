//! The random streams of a table of traffic.

use incast_engine::Stream;

/// A table of traffic in a scenario. Workloads are ordered before background traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The workload with this number.
    Workload(u32),
    /// The background traffic with this number.
    Background(u32),
}

/// The random streams of a table. Each stream has a name of its own, so that the streams are
/// independent.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The run's seed.
    pub seed: u64,
    /// The table.
    pub scope: Scope,
}

impl Draws {
    /// The flow that identifies a group of flows in the events of its blocks: `first`, the group's
    /// first flow, or `None` for the first workload.
    pub fn mark(&self, first: u32) -> Option<u32> {
        (self.scope != Scope::Workload(0)).then_some(first)
    }

    /// The stream for traffic that needs only one stream; `name` is the stream's name for a
    /// workload.
    pub fn only(&self, name: &str) -> Stream {
        match self.scope {
            Scope::Workload(index) => Stream::named(self.seed, name, index.into()),
            Scope::Background(index) => Stream::named(self.seed, "background", index.into()),
        }
    }

    /// One of the streams for traffic that needs several streams.
    pub fn stream(&self, name: &str) -> Stream {
        match self.scope {
            Scope::Workload(index) => Stream::named(self.seed, name, index.into()),
            Scope::Background(index) => {
                Stream::named(self.seed, &format!("background {name}"), index.into())
            }
        }
    }
}
