//! The interface for remedies that schedule the client's requests.
//!
//! A scheduler is notified of events at the client and orders the client's actions. It has no
//! access to connections. Without a remedy, the scheduler is [`AskAll`].

use incast_engine::{Stream, Time};

/// A full packet of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullPacket {
    /// Payload, bytes.
    pub payload: u32,
    /// Header on the wire, bytes.
    pub header: u32,
}

/// The properties of the client that are known before the first block.
#[derive(Clone, Debug)]
pub struct ClientPlace {
    /// A full packet of the client's connections.
    pub packet: FullPacket,
    /// The transport's receive window, bytes.
    pub receive_window: u64,
    /// The scheduler's random stream.
    pub random: Stream,
}

/// A scheduler's view of the client.
#[derive(Clone, Copy)]
pub struct ClientView<'a> {
    /// Now.
    pub now: Time,
    /// Number of servers of the block.
    pub servers: u32,
    /// Bytes of the block that have arrived in order from a server.
    pub delivered: &'a dyn Fn(u32) -> u64,
}

/// An event at the client. Servers are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The application wants this server's part of the block.
    Wanted(u32),
    /// The handshake with this server is complete; a request that waited for it leaves now.
    Established(u32),
    /// The event of this server's [`Order::Mark`] has happened.
    Marked(u32),
    /// This server's part is complete. For the block's last part, [`RequestScheduler::end_block`]
    /// is called instead.
    Complete(u32),
    /// The time of an [`Order::Alarm`] has come. Alarms cannot be cancelled.
    Alarm,
}

/// An action of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Open the connection and send the request with a window of zero. On a connection from an
    /// earlier block the request waits for [`Order::Ask`].
    Connect {
        /// The server.
        server: u32,
    },
    /// Let the server send: send it the request, or a window update if the request has been sent.
    Ask {
        /// The server.
        server: u32,
        /// Window to advertise, bytes; `None` for the transport's window.
        window: Option<u64>,
    },
    /// Advertise another window. If the window is already open, the next ACK advertises it.
    Window {
        /// The server.
        server: u32,
        /// The window, bytes; an advertised window is never reduced.
        window: u64,
    },
    /// Send [`Note::Marked`] when the server has delivered this many bytes of its part. With 0
    /// bytes, send the note when the connection is established. If the condition is already met,
    /// send the note at once.
    Mark {
        /// The server.
        server: u32,
        /// Bytes of the server's part.
        bytes: u64,
    },
    /// Send [`Note::Alarm`] at this time.
    Alarm(Time),
}

/// Schedules the client's requests.
pub trait RequestScheduler: Send {
    /// Handles an event. Appends actions to `orders`, which are executed in order. Every wanted
    /// server must get a request eventually.
    fn on_note(&mut self, note: Note, view: &ClientView<'_>, orders: &mut Vec<Order>);

    /// Ends the block: its last part, which `server` sent, is complete. The next note belongs to
    /// the next block.
    fn end_block(&mut self, server: u32, view: &ClientView<'_>);
}

/// Sends each request as soon as the application wants the server's part.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskAll;

impl RequestScheduler for AskAll {
    fn on_note(&mut self, note: Note, _: &ClientView<'_>, orders: &mut Vec<Order>) {
        if let Note::Wanted(server) = note {
            orders.push(Order::Ask { server, window: None });
        }
    }

    fn end_block(&mut self, _: u32, _: &ClientView<'_>) {}
}

impl Default for Box<dyn RequestScheduler> {
    fn default() -> Self {
        Box::new(AskAll)
    }
}
