//! The random streams of a table of traffic.

use incast_engine::Stream;

/// Which table of a scenario it is; workloads come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The workload of this number.
    Workload(u32),
    /// The background traffic of this number.
    Background(u32),
}

/// Gives a table its streams: each has a name, so that they are independent.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The run's seed.
    pub seed: u64,
    /// The table.
    pub scope: Scope,
}

impl Draws {
    /// The flow that names a group in events of its blocks, if its first flow is `first`; the first
    /// workload needs none.
    pub fn mark(&self, first: u32) -> Option<u32> {
        (self.scope != Scope::Workload(0)).then_some(first)
    }

    /// The stream of traffic that needs only one; `name` is what a workload's is called.
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
