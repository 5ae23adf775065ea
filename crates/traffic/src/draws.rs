//! The random streams of a table of traffic.

use incast_engine::Stream;

/// A table of a scenario. Workloads are first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The workload of this number.
    Workload(u32),
    /// The background traffic of this number.
    Background(u32),
}

/// The random streams of a table. Each has a name, so that they are independent.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The run's seed.
    pub seed: u64,
    /// The table.
    pub scope: Scope,
}

impl Draws {
    /// The flow that identifies a group in events of its blocks, if its first flow is `first`;
    /// `None` for the first workload.
    pub fn mark(&self, first: u32) -> Option<u32> {
        (self.scope != Scope::Workload(0)).then_some(first)
    }

    /// The stream of traffic that needs only one; `name` is its name for a workload.
    pub fn only(&self, name: &str) -> Stream {
        match self.scope {
            Scope::Workload(index) => Stream::named(self.seed, name, index.into()),
            Scope::Background(index) => Stream::named(self.seed, "background", index.into()),
        }
    }

    /// One of several streams of traffic.
    pub fn stream(&self, name: &str) -> Stream {
        match self.scope {
            Scope::Workload(index) => Stream::named(self.seed, name, index.into()),
            Scope::Background(index) => {
                Stream::named(self.seed, &format!("background {name}"), index.into())
            }
        }
    }
}
