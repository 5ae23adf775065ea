//! Traffic that is defined elsewhere, in another crate or in a test.

use std::fmt;
use std::sync::Arc;

use incast_engine::{Fault, Span};
use incast_host::Hosts;
use incast_net::topology::HostId;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::application::Application;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Offered, Pairing, Role, Senders, Setting, Workload};

/// Traffic that is defined elsewhere, with valid parameters.
#[derive(Clone)]
pub struct Foreign {
    name: &'static str,
    traffic: Arc<dyn Workload + Send + Sync>,
}

impl Foreign {
    /// Traffic called `name`.
    pub fn new(name: &'static str, traffic: impl Workload + Send + Sync + 'static) -> Self {
        Self { name, traffic: Arc::new(traffic) }
    }

    /// The name of this traffic.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.traffic, &other.traffic)
    }
}

impl Serialize for Foreign {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("Foreign", 1)?;
        table.serialize_field("entry", self.name)?;
        table.end()
    }
}

impl Workload for Foreign {
    fn settle(&mut self, _: &Layout, _: Role) -> Result<(), Fault> {
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        self.traffic.senders(layout)
    }

    fn to(&self) -> Option<&Numbers> {
        self.traffic.to()
    }

    fn pairing(&self) -> Pairing {
        self.traffic.pairing()
    }

    fn clients(&self) -> Vec<u32> {
        self.traffic.clients()
    }

    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        self.traffic.flows(senders)
    }

    fn count(&self, senders: u32) -> u32 {
        self.traffic.count(senders)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        self.traffic.load(senders)
    }

    fn opens_early(&self) -> Option<&'static str> {
        self.traffic.opens_early()
    }

    fn offered(&self) -> Option<Offered> {
        self.traffic.offered()
    }

    fn ends(&self) -> bool {
        self.traffic.ends()
    }

    fn duration(&self) -> Option<Span> {
        self.traffic.duration()
    }

    fn application(&self, setting: Setting, hosts: &mut Hosts) -> Box<dyn Application> {
        self.traffic.application(setting, hosts)
    }
}
