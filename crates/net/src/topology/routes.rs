//! The table of the paths of all routes.

use std::ops::Range;

use crate::packet::{Packet, RouteId};
use crate::port::PortId;

/// Padding in the table of hops.
const NO_PORT: PortId = PortId(u32::MAX);
/// Entries of a path besides trunks: the sending host's port, the port towards the receiving host,
/// and the end mark.
const ENDS: u32 = 3;

/// A table of paths; the paths of a route are adjacent.
pub(super) struct Routes {
    /// The ports of each path, `1 << stride` entries per path, padded with [`NO_PORT`].
    hops: Vec<PortId>,
    /// The binary logarithm of the entries per path, so that the index of a path is computed with a
    /// shift.
    stride: u32,
    /// The number of each route's first path. `None` if each route has exactly one path, whose
    /// number is that of the route.
    first: Option<Vec<u32>>,
}

impl Routes {
    /// An empty table for paths of at most this many trunks.
    pub(super) fn new(most_trunks: u32) -> Self {
        let stride = (most_trunks + ENDS).next_power_of_two().trailing_zeros();
        Self { hops: Vec::new(), stride, first: None }
    }

    /// Number of routes.
    pub(super) fn len(&self) -> u32 {
        self.first.as_ref().map_or_else(|| self.paths_in_all(), |first| first.len() as u32)
    }

    fn paths_in_all(&self) -> u32 {
        (self.hops.len() >> self.stride) as u32
    }

    /// Adds a route with one path.
    pub(super) fn add(&mut self, path: impl IntoIterator<Item = PortId>) {
        let number = self.paths_in_all();
        if let Some(first) = &mut self.first {
            first.push(number);
        }
        self.add_path(path);
    }

    /// Adds a route with several paths, among which senders choose. Packets without a choice take
    /// the first path.
    pub(super) fn add_all<P: IntoIterator<Item = PortId>>(
        &mut self,
        paths: impl IntoIterator<Item = P>,
    ) {
        let number = self.paths_in_all();
        self.first.get_or_insert_with(|| (0..number).collect()).push(number);
        paths.into_iter().for_each(|path| self.add_path(path));
    }

    fn add_path(&mut self, ports: impl IntoIterator<Item = PortId>) {
        self.hops.extend(ports);
        // A path ends with at least one entry without a port.
        self.hops.push(NO_PORT);
        self.hops.resize(self.hops.len().next_multiple_of(1 << self.stride), NO_PORT);
    }

    /// The numbers of a route's paths.
    fn paths(&self, route: RouteId) -> Range<u32> {
        let Some(first) = &self.first else { return route.0..route.0 + 1 };
        let route = route.0 as usize;
        let end = first.get(route + 1).copied();
        first[route]..end.unwrap_or_else(|| self.paths_in_all())
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

    /// The port of the host that sends on this route. All paths of the route begin at this port.
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

    /// Index of the first port of the path of `packet` in the table.
    #[inline]
    pub(super) fn start(&self, packet: &Packet) -> u32 {
        let path = if self.first.is_none() { packet.route.0 } else { self.chosen(packet) };
        path << self.stride
    }

    /// The path that the sender of `packet` has chosen.
    #[inline(never)]
    fn chosen(&self, packet: &Packet) -> u32 {
        let paths = self.paths(packet.route);
        paths.start + packet.path().map_or(0, |path| path % paths.len() as u32)
    }

    /// The port at `hop`, and the port after it. After the last port of a path, there is a number
    /// that no port has.
    #[inline]
    pub(super) fn legs(&self, hop: u32) -> [PortId; 2] {
        let hop = hop as usize;
        let legs = self.hops[hop..].first_chunk();
        *legs.expect("a path ends with an entry without a port")
    }

    /// The port at `hop`; `None` at the end of a path.
    #[inline]
    pub(super) fn port(&self, hop: u32) -> Option<PortId> {
        let port = self.hops[hop as usize];
        (port != NO_PORT).then_some(port)
    }
}
