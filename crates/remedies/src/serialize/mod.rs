//! Connection serialisation (Osada et al.): the client requests data from few servers at a time.
//!
//! CCS, NCCS and OCS differ only in their `Plan`: the size of a set, the number of open sets, the
//! trigger for the next set, and the window. `Serializer` executes a plan.

mod adaptive;
pub mod formulas;
mod group;
mod knowledge;

use incast_engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schedule::{ClientPlace, ClientView, Note, Order, RequestScheduler};
use crate::seam::{Installation, Situation};
pub(crate) use adaptive::Adaptive;
use formulas::Path;
use group::Group;
pub(crate) use knowledge::{AboutClient, Client, Knowledge, Source, params_of_method};

/// The number of bytes that a connection must have delivered before the next one may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// S - T₁V, as printed. If this is negative, the next connection or set opens at once.
    Printed,
    /// S - T₁V/n, where T₁V/n is one connection's share of the bytes that the link transmits in T₁.
    Scaled,
}

impl Trigger {
    /// The trigger in bytes, for `together` connections that open at the same time.
    pub(crate) fn bytes(self, path: &Path, sru: u64, together: u64) -> u64 {
        let share = match self {
            Self::Printed => 1,
            Self::Scaled => together,
        };
        sru.saturating_sub(path.bytes_in(path.ramp()) / share)
    }
}

/// The event at which a connection reaches a trigger of 0 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TriggerFrom {
    /// The client has sent its SYN or request.
    Request,
    /// The connection is established.
    #[default]
    Established,
}

/// The connections of a set that must have reached the trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// All connections of the set.
    Every,
    /// One connection of the set.
    Any,
}

/// The conversion of `BaseBDP` to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// ⌈B⌉ full segments, as in equation (4).
    Segments,
    /// V/8·BaseRTT bytes, as printed. At 1 Gbps and 100 us, this is 8 segments and 820 bytes.
    Bytes,
}

impl Window {
    pub(crate) fn bytes(self, path: &Path) -> u64 {
        match self {
            Self::Segments => path.product_packets() * u64::from(path.mss),
            Self::Bytes => path.product_bytes().max(u64::from(path.mss)),
        }
    }
}

/// A method's parameters for the path and the SRU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Number of connections of a set.
    pub(crate) connections: usize,
    /// Number of sets that may be open at once.
    pub(crate) open_sets: usize,
    /// Bytes that connections of the newest set must have delivered before the next set opens.
    pub(crate) trigger: u64,
    /// The event that opens the next set if the trigger is 0 bytes.
    pub(crate) from: TriggerFrom,
    pub(crate) reached: Reached,
    /// Window to advertise, bytes.
    pub(crate) window: u64,
    /// Whether the last connections of a group share the whole bandwidth-delay product if they are
    /// fewer than the connections of a set.
    pub(crate) grows: bool,
}

/// One of the three methods.
pub(crate) trait Method: AboutClient + Send {
    fn plan(&self, path: &Path, sru: u64) -> Plan;

    /// Measurements while data arrive, which may allow more open sets.
    fn adaptive(&self) -> Option<Adaptive> {
        None
    }

    /// Whether connections open in advance, with a window of zero.
    fn connects_early(&self) -> bool {
        false
    }
}

/// A method for the connections of one client.
pub(crate) struct Serialization<M> {
    pub(crate) method: M,
    pub(crate) situation: Situation,
}

impl<M: Method + Clone + 'static> Installation for Serialization<M> {
    fn scheduler(&mut self, client: ClientPlace) -> Option<Box<dyn RequestScheduler>> {
        let knowledge = Knowledge::new(self.method.client(), &self.situation, client.packet);
        Some(Box::new(Serializer::new(self.method.clone(), knowledge)))
    }
}

/// The scheduler at the client.
pub(crate) struct Serializer {
    method: Box<dyn Method>,
    knowledge: Knowledge,
    /// See [`Client::group_gap`].
    gap: Option<Span>,
    adaptive: Option<Adaptive>,
    plan: Option<Plan>,
    groups: Vec<Group>,
    /// The group of each server in the current block, and the server's position in that group.
    places: Vec<(usize, usize)>,
}

impl Serializer {
    pub(crate) fn new(method: impl Method + 'static, knowledge: Knowledge) -> Self {
        let mut serializer = Self {
            gap: method.client().group_gap,
            adaptive: method.adaptive(),
            method: Box::new(method),
            knowledge,
            plan: None,
            groups: Vec::new(),
            places: Vec::new(),
        };
        serializer.make_plan();
        serializer
    }

    fn make_plan(&mut self) {
        if let Some((path, sru)) = self.knowledge.known() {
            self.plan = Some(self.method.plan(&path, sru));
        }
    }

    /// The group to which a request at this time belongs.
    fn group_at(&mut self, view: &ClientView<'_>, orders: &mut Vec<Order>) -> usize {
        let is_new = match (self.groups.last(), self.gap) {
            (None, _) => true,
            (Some(last), Some(gap)) => view.now - last.last_wanted > gap,
            _ => false,
        };
        if is_new {
            let total = self.gap.is_none().then_some(view.servers as usize);
            self.groups.push(Group::new(total));
        }
        if let Some(gap) = self.gap {
            // Requests after this time do not belong to the group.
            orders.push(Order::Alarm(view.now + gap + Span::from_picos(1)));
        }
        self.groups.len() - 1
    }

    fn want(&mut self, server: u32, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        let index = self.group_at(view, orders);
        let group = &mut self.groups[index];
        group.last_wanted = view.now;
        let place = group.want(server);
        if self.places.len() <= server as usize {
            self.places.resize(server as usize + 1, (0, 0));
        }
        self.places[server as usize] = (index, place);
        self.advance(index, view, orders);
        if self.method.connects_early() && self.groups[index].is_waiting(place) {
            orders.push(Order::Connect { server });
        }
    }

    /// Opens all connections of a group that are allowed to open.
    fn advance(&mut self, index: usize, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        let (path, _) = self.knowledge.best();
        let more = self.adaptive.as_ref().map_or(0, |adaptive| adaptive.more_sets);
        let group = &mut self.groups[index];
        let first = orders.len();
        group.advance(self.plan.as_ref(), &path, more, orders);
        for order in first..orders.len() {
            if let Order::Ask { server, .. } = orders[order] {
                self.knowledge.on_ask(server, view.now, orders);
            }
        }
        if let (Some(adaptive), Some(_)) = (&mut self.adaptive, &self.plan)
            && group.has_waiting()
        {
            adaptive.begin(&path, view.now, orders);
        }
    }

    /// Completes the plan after a sample, if no other sample is missing.
    fn conclude(&mut self, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        if self.plan.is_some() {
            return;
        }
        self.make_plan();
        if let Some(plan) = &self.plan {
            self.groups.iter().for_each(|group| group.set_marks(plan, orders));
            self.advance_all(view, orders);
        }
    }

    fn advance_all(&mut self, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        for index in 0..self.groups.len() {
            self.advance(index, view, orders);
        }
    }

    fn on_alarm(&mut self, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        if let Some(gap) = self.gap
            && let Some(last) = self.groups.last_mut()
            && view.now - last.last_wanted > gap
        {
            last.close();
        }
        if let (Some(adaptive), Some(plan)) = (&mut self.adaptive, &self.plan) {
            let (path, _) = self.knowledge.best();
            match self.groups.iter_mut().find(|group| group.has_waiting()) {
                None => adaptive.rest(),
                Some(group) => {
                    if adaptive.on_alarm(&path, view, orders) {
                        group.open_set(plan.connections);
                    }
                }
            }
        }
        self.advance_all(view, orders);
    }
}

impl RequestScheduler for Serializer {
    fn on_note(&mut self, note: Note, view: &ClientView<'_>, orders: &mut Vec<Order>) {
        match note {
            Note::Wanted(server) => self.want(server, view, orders),
            Note::Established(server) => self.knowledge.on_request(server, view.now),
            Note::Marked(server) => {
                if self.knowledge.on_mark(server, view.now) {
                    self.conclude(view, orders);
                } else {
                    let (group, place) = self.places[server as usize];
                    self.groups[group].trigger(place);
                    self.advance(group, view, orders);
                }
            }
            Note::Complete(server) => {
                self.knowledge.on_complete((view.delivered)(server));
                let (group, place) = self.places[server as usize];
                self.groups[group].complete(place);
                self.conclude(view, orders);
                self.advance(group, view, orders);
            }
            Note::Alarm => self.on_alarm(view, orders),
        }
    }

    fn end_block(&mut self, server: u32, view: &ClientView<'_>) {
        self.knowledge.on_complete((view.delivered)(server));
        self.groups.clear();
        self.make_plan();
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.rest();
        }
    }
}

#[cfg(test)]
mod tests;
