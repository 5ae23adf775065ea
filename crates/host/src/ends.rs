//! The ends of all flows.
//!
//! Both ends of a flow are built when one of them is first used. Both ends are freed when
//! the application has left the flow and the flow has no packets under way.

use incast_engine::Time;

use crate::end::End;
use crate::ids::EndId;

/// The ends of all flows.
#[derive(Default)]
pub(crate) struct Ends {
    /// The index of each end in `built`; [`NOWHERE`] if its flow is not open.
    places: Vec<u32>,
    /// The ends of open flows, the server's first. Room for all flows is reserved, but the list
    /// grows only to the largest number of flows that were open at the same time.
    built: Vec<End>,
    /// Indices of servers' ends whose flow is not open any more.
    free: Vec<u32>,
    /// Open flows that their applications have left.
    left: Vec<u32>,
    /// Once `left` has this number of flows, the idle flows among them are freed.
    enough: usize,
}

/// The index of an end that is not open.
const NOWHERE: u32 = u32::MAX;
/// At most 1/`SHARE` of the open flows are idle flows that applications have left.
const SHARE: usize = 8;
/// Number of flows in `left` that is always tolerated.
const FEW: usize = 64;

impl Ends {
    /// Adds flows, which are not open.
    pub(crate) fn add(&mut self, flows: u32) {
        let all = self.places.len() + 2 * flows as usize;
        self.places.resize(all, NOWHERE);
        self.built.reserve_exact(all - self.built.len());
    }

    /// Number of flows.
    pub(crate) fn flows(&self) -> u32 {
        self.places.len() as u32 / 2
    }

    /// The largest number of flows that were open at the same time.
    pub(crate) fn most_open(&self) -> usize {
        self.built.len() / 2
    }

    /// Whether an end is open.
    #[inline]
    pub(crate) fn is_open(&self, id: EndId) -> bool {
        self.places[id.0 as usize] != NOWHERE
    }

    /// Opens a flow, or replaces its ends.
    #[inline]
    pub(crate) fn open(&mut self, flow: u32, mut build: impl FnMut(EndId) -> End) {
        let pair = [EndId::server(flow), EndId::client(flow)];
        if !self.is_open(pair[0]) {
            let place = self.free.pop().unwrap_or(self.built.len() as u32);
            self.set_places(flow, [place, place + 1]);
        }
        for id in pair {
            match self.get_mut(id) {
                Some(place) => *place = build(id),
                None => self.built.push(build(id)),
            }
        }
    }

    fn set_places(&mut self, flow: u32, [server, client]: [u32; 2]) {
        self.places[EndId::server(flow).0 as usize] = server;
        self.places[EndId::client(flow).0 as usize] = client;
    }

    /// An end, if its flow is open.
    #[inline]
    pub(crate) fn get(&self, id: EndId) -> Option<&End> {
        self.built.get(self.places[id.0 as usize] as usize)
    }

    /// An end, if its flow is open.
    #[inline]
    pub(crate) fn get_mut(&mut self, id: EndId) -> Option<&mut End> {
        self.built.get_mut(self.places[id.0 as usize] as usize)
    }

    /// An end of an open flow.
    ///
    /// # Panics
    /// If the flow is not open.
    #[inline]
    pub(crate) fn end_mut(&mut self, id: EndId) -> &mut End {
        &mut self.built[self.places[id.0 as usize] as usize]
    }

    /// The ends of all open flows, and of some flows that were open.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut End> {
        self.built.iter_mut()
    }

    /// Notes that an application has left an open flow.
    pub(crate) fn leave(&mut self, flow: u32) {
        if let Some(server) = self.get_mut(EndId::server(flow)) {
            server.is_left = true;
            self.left.push(flow);
        }
    }

    /// Frees flows that applications have left, once there are many of these flows. A flow is freed
    /// only if it is idle and has no packets under way. `retire` is called with the server's end of
    /// each freed flow.
    #[inline]
    pub(crate) fn free(
        &mut self,
        has_packets: impl Fn(u32) -> bool,
        retire: impl FnMut(u32, &End),
    ) {
        if self.left.len() >= self.enough.max(FEW) {
            self.sweep(has_packets, retire);
        }
    }

    #[cold]
    fn sweep(&mut self, has_packets: impl Fn(u32) -> bool, mut retire: impl FnMut(u32, &End)) {
        let mut left = std::mem::take(&mut self.left);
        left.retain(|&flow| {
            let [server, client] =
                [EndId::server(flow), EndId::client(flow)].map(|id| self.get(id));
            let (Some(server), Some(client)) = (server, client) else { return false };
            // A flow that is in use again does not count as left.
            if !server.is_left || has_packets(flow) || !is_idle(server) || !is_idle(client) {
                return server.is_left;
            }
            retire(flow, server);
            self.free.push(self.places[EndId::server(flow).0 as usize]);
            self.set_places(flow, [NOWHERE; 2]);
            false
        });
        let open = self.built.len() / 2 - self.free.len();
        self.enough = (2 * left.len()).max(open / SHARE);
        self.left = left;
    }
}

/// Whether an end does nothing until a packet arrives or its application acts.
fn is_idle(end: &End) -> bool {
    end.is_quiet() && end.poll_timeout() == Time::NEVER
}
