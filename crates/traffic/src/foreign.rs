//! Traffic that is defined elsewhere, in another crate or in a test.

use incast_engine::{Elsewhere, Fault, Span};
use incast_host::Hosts;
use incast_net::topology::HostId;

use crate::application::Application;
use crate::layout::Layout;
use crate::numbers::Numbers;
use crate::seam::{Load, Offered, Pairing, Role, Senders, Setting, Workload};

/// Traffic that is defined elsewhere, with valid parameters.
pub type Foreign = Elsewhere<dyn Workload + Send + Sync>;

impl Workload for Foreign {
    fn settle(&mut self, _: &Layout, _: Role) -> Result<(), Fault> {
        Ok(())
    }

    fn senders(&self, layout: &Layout) -> Senders {
        self.entry().senders(layout)
    }

    fn to(&self) -> Option<&Numbers> {
        self.entry().to()
    }

    fn pairing(&self) -> Pairing {
        self.entry().pairing()
    }

    fn clients(&self) -> Vec<u32> {
        self.entry().clients()
    }

    fn flows(&self, senders: &[HostId]) -> Vec<(HostId, HostId)> {
        self.entry().flows(senders)
    }

    fn count(&self, senders: u32) -> u32 {
        self.entry().count(senders)
    }

    fn load(&self, senders: u32) -> Option<Load> {
        self.entry().load(senders)
    }

    fn opens_early(&self) -> Option<&'static str> {
        self.entry().opens_early()
    }

    fn offered(&self) -> Option<Offered> {
        self.entry().offered()
    }

    fn ends(&self) -> bool {
        self.entry().ends()
    }

    fn duration(&self) -> Option<Span> {
        self.entry().duration()
    }

    fn application(&self, setting: Setting, hosts: &mut Hosts) -> Box<dyn Application> {
        self.entry().application(setting, hosts)
    }
}
