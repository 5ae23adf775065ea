//! The execution of a scheduler's orders by a barrier reader. The scheduler names each part by the
//! number of the part's server.

use std::collections::VecDeque;

use incast_host::{End, EndId, Hosts};
use incast_remedies::schedule::{ClientView, Note, Order, RequestScheduler};

use super::{ALARM, BarrierReader, Connections};

/// The scheduler, and the state of its orders.
#[derive(Default)]
pub(super) struct Orders {
    scheduler: Box<dyn RequestScheduler>,
    /// Whether there is no scheduler, so that each server is asked once, when the block begins.
    plain: bool,
    /// The transport's receive window, bytes.
    receive_window: u64,
    /// The parts of the current block, one per server.
    parts: Vec<Part>,
    /// Notes that the scheduler has not received yet.
    notes: VecDeque<Note>,
    /// The last orders of the scheduler.
    list: Vec<Order>,
}

/// A server's part of the current block.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Whether the request has been sent, or waits for the handshake.
    requested: bool,
    /// Number of delivered bytes at which the scheduler is notified. With 0, the scheduler is
    /// notified when the connection is established.
    mark: Option<u64>,
}

impl Orders {
    /// The orders of `scheduler`. Without a scheduler, the orders request the parts of all servers
    /// when the block begins. Receive windows are at most `receive_window` bytes.
    pub(super) fn new(
        scheduler: Option<Box<dyn RequestScheduler>>,
        servers: u32,
        receive_window: u64,
    ) -> Self {
        let plain = scheduler.is_none();
        let scheduler = scheduler.unwrap_or_default();
        let parts = vec![Part::default(); servers as usize];
        Self { scheduler, plain, receive_window, parts, ..Self::default() }
    }

    /// Whether there is no scheduler, so that a server needs no order after its answer.
    pub(super) fn are_plain(&self) -> bool {
        self.plain
    }
}

impl BarrierReader {
    /// Notifies the scheduler, and executes its orders.
    pub(super) fn note(&mut self, hosts: &mut Hosts, note: Note) {
        let mut orders = std::mem::take(&mut self.orders);
        orders.notes.push_back(note);
        while let Some(note) = orders.notes.pop_front() {
            let Orders { scheduler, parts, list, .. } = &mut orders;
            let delivered = |server: u32| self.delivered(hosts, parts, server);
            let view = ClientView { now: hosts.now(), servers: self.active, delivered: &delivered };
            scheduler.on_note(note, &view, list);
            for order in std::mem::take(&mut orders.list) {
                self.carry_out(hosts, &mut orders, order);
            }
        }
        self.orders = orders;
    }

    /// Tells the scheduler that the block's last part, from `server`, is complete.
    pub(super) fn end_orders(&mut self, hosts: &Hosts, server: u32) {
        let mut orders = std::mem::take(&mut self.orders);
        let Orders { scheduler, parts, .. } = &mut orders;
        let delivered = |server: u32| self.delivered(hosts, parts, server);
        let view = ClientView { now: hosts.now(), servers: self.active, delivered: &delivered };
        scheduler.end_block(server, &view);
        parts.fill(Part::default());
        self.orders = orders;
    }

    /// Handles the end of the handshake with a server.
    pub(super) fn establish(&mut self, hosts: &mut Hosts, end: EndId) {
        let server = self.part_of(end);
        self.note(hosts, Note::Established(server));
        if self.orders.parts[server as usize].mark.take_if(|mark| *mark == 0).is_some() {
            self.note(hosts, Note::Marked(server));
        }
    }

    /// Handles the arrival of all data up to the scheduler's mark, or up to the end of the part.
    pub(super) fn receive(&mut self, hosts: &mut Hosts, end: EndId) {
        let server = self.part_of(end);
        let mark = self.orders.parts[server as usize].mark.take();
        let delivered = self.delivered_now(hosts, server);
        if let Some(mark) = mark {
            let end_of_part = self.delivered_before(server) + self.read.sru_of(server);
            hosts.act_on(end).notify_at(end_of_part);
            if delivered >= mark {
                self.note(hosts, Note::Marked(server));
            }
        }
        if delivered >= self.read.sru_of(server) {
            self.complete(hosts, end);
        }
    }

    /// Bytes of the current block that a server has delivered; 0 before its request.
    fn delivered(&self, hosts: &Hosts, parts: &[Part], server: u32) -> u64 {
        if parts[server as usize].requested { self.delivered_now(hosts, server) } else { 0 }
    }

    fn delivered_now(&self, hosts: &Hosts, server: u32) -> u64 {
        hosts.delivered(EndId::client(self.flow_of(server))) - self.delivered_before(server)
    }

    fn carry_out(&mut self, hosts: &mut Hosts, orders: &mut Orders, order: Order) {
        match order {
            Order::Connect { server } => {
                // A connection from an earlier block is open already.
                if self.read.connections == Connections::Fresh || self.block == 0 {
                    orders.parts[server as usize].requested = true;
                    self.request(hosts, server, Some(0));
                }
            }
            Order::Ask { server, window } => {
                let most = orders.receive_window;
                let window = window.map(|window| window.min(most));
                let part = &mut orders.parts[server as usize];
                if part.requested {
                    self.set_window(hosts, server, window.unwrap_or(most));
                } else {
                    part.requested = true;
                    self.request(hosts, server, window);
                }
            }
            Order::Window { server, window } => {
                self.set_window(hosts, server, window.min(orders.receive_window));
            }
            Order::Mark { server, bytes } => {
                debug_assert!(orders.parts[server as usize].requested, "{server} was not asked");
                let end = EndId::client(self.flow_of(server));
                let has_happened = match bytes {
                    0 => hosts.get(end).is_some_and(End::is_established),
                    _ => self.delivered(hosts, &orders.parts, server) >= bytes,
                };
                if has_happened {
                    orders.notes.push_back(Note::Marked(server));
                    return;
                }
                orders.parts[server as usize].mark = Some(bytes);
                if bytes > 0 {
                    let mark = bytes.min(self.read.sru_of(server));
                    hosts.act_on(end).notify_at(self.delivered_before(server) + mark);
                }
            }
            Order::Alarm(at) => hosts.set_timer(at, self.number, ALARM),
        }
    }

    fn set_window(&self, hosts: &mut Hosts, server: u32, window: u64) {
        hosts.act_on(EndId::client(self.flow_of(server))).set_receive_buffer(window);
    }
}
