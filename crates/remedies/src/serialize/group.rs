//! Connections that belong together, in the order in which they are opened.

use super::formulas::Path;
use super::{Plan, Reached, TriggerFrom};
use crate::schedule::Order;
use incast_engine::Time;

/// A connection of a group.
#[derive(Clone, Copy, Debug)]
struct Member {
    server: u32,
    /// The connection's window; `None` for the transport's window.
    window: Option<u64>,
    triggered: bool,
    done: bool,
}

/// Positions in a group that were opened together. Some positions may have no member.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    first: usize,
    end: usize,
}

/// Connections that belong together.
#[derive(Debug)]
pub(super) struct Group {
    members: Vec<Member>,
    /// The group's size, once known.
    total: Option<usize>,
    /// Number of members to which the request was sent: the first entries of `members`.
    asked: usize,
    /// Number of open positions, counted from the first position.
    allowed: usize,
    done: usize,
    /// Sets with connections that are not complete.
    open: Vec<Places>,
    newest: Places,
    /// When the last member joined.
    pub(super) last_wanted: Time,
}

impl Group {
    pub(super) fn new(total: Option<usize>) -> Self {
        Self {
            members: Vec::new(),
            total,
            asked: 0,
            allowed: 0,
            done: 0,
            open: Vec::new(),
            newest: Places::default(),
            last_wanted: Time::ZERO,
        }
    }

    /// Adds a server. Returns its position.
    pub(super) fn want(&mut self, server: u32) -> usize {
        self.members.push(Member { server, window: None, triggered: false, done: false });
        self.members.len() - 1
    }

    /// Closes the group to further servers.
    pub(super) fn close(&mut self) {
        self.total = Some(self.members.len());
    }

    /// Whether the member at this position waits for its turn.
    pub(super) const fn is_waiting(&self, place: usize) -> bool {
        place >= self.allowed
    }

    /// Whether any member waits for its turn.
    pub(super) const fn has_waiting(&self) -> bool {
        self.members.len() > self.allowed
    }

    pub(super) fn trigger(&mut self, place: usize) {
        self.members[place].triggered = true;
    }

    pub(super) fn complete(&mut self, place: usize) {
        self.members[place].done = true;
        self.done += 1;
        let members = &self.members;
        let is_open = |set: &Places| {
            set.end > members.len() || members[set.first..set.end].iter().any(|it| !it.done)
        };
        self.open.retain(is_open);
    }

    /// Opens the next `connections` positions as a set.
    pub(super) fn open_set(&mut self, connections: usize) {
        self.newest = Places { first: self.allowed, end: self.allowed + connections };
        self.allowed = self.newest.end;
        self.open.push(self.newest);
    }

    /// Opens the sets that are due and enlarges the last windows. `more` sets may be open in
    /// addition to the sets of the plan.
    pub(super) fn advance(
        &mut self,
        plan: Option<&Plan>,
        path: &Path,
        more: usize,
        orders: &mut Vec<Order>,
    ) {
        self.ask(plan, path, orders);
        while self.is_next_due(plan, more) {
            self.open_set(plan.map_or(1, |plan| plan.connections));
            self.ask(plan, path, orders);
        }
        if let Some(plan) = plan {
            self.widen(plan, path, orders);
        }
    }

    fn is_next_due(&self, plan: Option<&Plan>, more: usize) -> bool {
        if self.total.is_some_and(|total| self.allowed >= total) {
            return false;
        }
        if self.open.is_empty() {
            return true;
        }
        // While the path is unknown, connections open one at a time.
        let Some(plan) = plan else { return false };
        self.open.len() < plan.open_sets + more && self.has_newest_reached(plan)
    }

    fn has_newest_reached(&self, plan: &Plan) -> bool {
        let Places { first, end } = self.newest;
        let there = &self.members[first.min(self.members.len())..end.min(self.members.len())];
        let reached = |member: &Member| member.triggered || member.done;
        match plan.reached {
            Reached::Every => first + there.len() == end && there.iter().all(reached),
            Reached::Any => there.iter().any(reached),
        }
    }

    /// Sends the requests to the members at open positions that have not been asked yet.
    fn ask(&mut self, plan: Option<&Plan>, path: &Path, orders: &mut Vec<Order>) {
        let window = plan.map(|plan| self.window(plan, path));
        while self.asked < self.allowed.min(self.members.len()) {
            let member = &mut self.members[self.asked];
            self.asked += 1;
            member.window = window;
            let server = member.server;
            orders.push(Order::Ask { server, window });
            match plan {
                None => {}
                Some(Plan { trigger: 0, from: TriggerFrom::Request, .. }) => {
                    member.triggered = true;
                }
                Some(plan) => orders.push(Order::Mark { server, bytes: plan.trigger }),
            }
        }
    }

    /// The window of a connection, bytes. If fewer connections remain than a set has, they share
    /// the bandwidth-delay product.
    fn window(&self, plan: &Plan, path: &Path) -> u64 {
        match self.total {
            Some(total) if plan.grows && total - self.done < plan.connections => {
                let remaining = (total - self.done).max(1) as u64;
                let share = path.product_packets().div_ceil(remaining) * u64::from(path.mss);
                share.max(plan.window)
            }
            _ => plan.window,
        }
    }

    fn widen(&mut self, plan: &Plan, path: &Path, orders: &mut Vec<Order>) {
        let wanted = self.window(plan, path);
        if wanted == plan.window {
            return;
        }
        for set in &self.open {
            let end = set.end.min(self.asked);
            for member in self.members[set.first.min(end)..end].iter_mut().filter(|it| !it.done) {
                if member.window.is_some_and(|window| window < wanted) {
                    member.window = Some(wanted);
                    orders.push(Order::Window { server: member.server, window: wanted });
                }
            }
        }
    }

    /// Sets the marks of connections that were opened before the plan was known.
    pub(super) fn set_marks(&self, plan: &Plan, orders: &mut Vec<Order>) {
        for member in self.members[..self.asked].iter().filter(|member| !member.done) {
            orders.push(Order::Mark { server: member.server, bytes: plan.trigger.max(1) });
        }
    }
}
