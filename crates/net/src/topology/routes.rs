//! The ports that routes cross, and the choice among equally short paths.

use std::ops::Range;

use crate::packet::{Packet, RouteId};
use crate::port::PortId;

/// Chooses a path for every packet, where several are equally short.
///
/// It is called once per packet, when its host sends it, in the order of sending on each route.
pub trait PathChoice {
    /// Which of `paths` paths, from 0, `packet` takes.
    fn choose(&mut self, packet: &Packet, paths: u32) -> u32;
}

/// Fills up the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);
/// Entries of a path beside trunks: the sender's port, the receiver's, and the end.
const ENDS: u32 = 3;

/// Paths in one table; those of a route are adjacent.
pub(super) struct Routes {
    /// The ports that each path crosses, `1 << stride` entries per path, padded with [`NO_PORT`].
    hops: Vec<PortId>,
    /// As a power of two, so that a sender finds its path by a shift.
    stride: u32,
    /// Chooses among the paths of a route; without it each route has one path, with its number.
    choice: Option<Choice>,
}

struct Choice {
    policy: Box<dyn PathChoice + Send>,
    /// The number of each route's first path.
    first: Vec<u32>,
}

impl Routes {
    /// No routes yet; they will cross at most this many trunks.
    pub(super) fn new(most_trunks: u32) -> Self {
        let stride = (most_trunks + ENDS).next_power_of_two().trailing_zeros();
        Self { hops: Vec::new(), stride, choice: None }
    }

    /// No routes yet; `policy` will choose among their paths.
    pub(super) fn chosen_by(&self, policy: Box<dyn PathChoice + Send>) -> Self {
        let choice = Some(Choice { policy, first: Vec::new() });
        Self { hops: Vec::new(), stride: self.stride, choice }
    }

    /// Whether a path is chosen per packet.
    pub(super) fn are_chosen(&self) -> bool {
        self.choice.is_some()
    }

    /// Number of routes.
    pub(super) fn len(&self) -> u32 {
        match &self.choice {
            None => self.paths_in_all(),
            Some(choice) => choice.first.len() as u32,
        }
    }

    fn paths_in_all(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// Begins the next route, to which the paths belong that are added from now on.
    pub(super) fn begin(&mut self) {
        let first = self.paths_in_all();
        if let Some(choice) = &mut self.choice {
            choice.first.push(first);
        }
    }

    /// Adds a path.
    pub(super) fn add(&mut self, ports: impl IntoIterator<Item = PortId>) {
        self.hops.extend(ports);
        // Its end at least.
        self.hops.push(NO_PORT);
        self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
    }

    /// The numbers of a route's paths.
    fn paths(&self, route: RouteId) -> Range<u32> {
        let Some(choice) = &self.choice else { return route.0..route.0 + 1 };
        let route = route.0 as usize;
        let end = choice.first.get(route + 1).copied();
        choice.first[route]..end.unwrap_or_else(|| self.paths_in_all())
    }

    fn path(&self, path: u32) -> &[PortId] {
        let first = (path as usize) << self.stride;
        let hops = &self.hops[first..first + (1 << self.stride)];
        &hops[..hops.iter().position(|hop| *hop == NO_PORT).unwrap_or(hops.len())]
    }

    /// The ports of a route's first path.
    pub(super) fn first(&self, route: RouteId) -> &[PortId] {
        self.path(self.paths(route).start)
    }

    /// The port of the host that sends on a route: all its paths begin there.
    #[inline]
    pub(super) fn host_port(&self, route: RouteId) -> PortId {
        self.hops[(self.paths(route).start as usize) << self.stride]
    }

    /// The paths of all routes.
    pub(super) fn all(&self) -> impl Iterator<Item = (RouteId, &[PortId])> + Clone {
        (0..self.len())
            .map(RouteId)
            .flat_map(move |route| self.paths(route).map(move |path| (route, self.path(path))))
    }

    /// The ports of all paths of a route, each once.
    pub(super) fn ports(&self, route: RouteId) -> impl Iterator<Item = PortId> {
        let paths = self.paths(route);
        let first = paths.start;
        paths.flat_map(move |path| {
            let is_new = move |port: &&PortId| {
                !(first..path).any(|earlier| self.path(earlier).contains(port))
            };
            self.path(path).iter().filter(is_new).copied()
        })
    }

    /// Whether a packet at `hop` is on one of the route's paths.
    pub(super) fn crosses(&self, route: RouteId, hop: u32) -> bool {
        self.paths(route).contains(&(hop >> self.stride))
    }

    /// Where the table names the first port of the path that `packet` takes.
    #[inline]
    pub(super) fn start(&mut self, packet: &Packet) -> u32 {
        let path = if self.choice.is_none() { packet.route.0 } else { self.choose(packet) };
        path << self.stride
    }

    #[inline(never)]
    fn choose(&mut self, packet: &Packet) -> u32 {
        let paths = self.paths(packet.route);
        let chosen = match &mut self.choice {
            Some(choice) if paths.len() > 1 => choice.policy.choose(packet, paths.len() as u32),
            _ => 0,
        };
        paths.start + chosen.min(paths.len() as u32 - 1)
    }

    /// The port that the table names at `hop`, or none if that is the end of a path.
    #[inline]
    pub(super) fn port(&self, hop: u32) -> Option<PortId> {
        let port = self.hops[hop as usize];
        (port != NO_PORT).then_some(port)
    }
}
