//! Numbers of the ends of flows and of blueprints.

use incast_net::RouteId;

/// One end of a flow. An end has the number of the route on which it sends: `2f` is the server's
/// end of flow `f`, and `2f + 1` the client's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndId(pub u32);

impl EndId {
    /// The server's end of a flow.
    pub const fn server(flow: u32) -> Self {
        Self(RouteId::new(flow, true).0)
    }

    /// The client's end of a flow.
    pub const fn client(flow: u32) -> Self {
        Self(RouteId::new(flow, false).0)
    }

    /// The flow.
    pub const fn flow(self) -> u32 {
        self.route().flow()
    }

    /// The other end.
    #[must_use]
    pub const fn peer(self) -> Self {
        Self(self.route().reverse().0)
    }

    /// The route on which this end sends.
    pub const fn route(self) -> RouteId {
        RouteId(self.0)
    }

    /// Whether this end is the server's.
    pub const fn is_server(self) -> bool {
        self.route().is_forward()
    }
}

/// Index of a blueprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlueprintId(pub u16);
