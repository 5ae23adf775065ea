//! The switch: one thread that moves frames between the hosts' interfaces.

use std::io::{ErrorKind, Result, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use incast_engine::{Span, Time};
use incast_lab::relay::{Arrived, Relay, Tally};
use incast_net::topology::HostId;
use incast_net::{Ecn, Flags, Packet};
use incast_scenario::Scenario;

use crate::frame::{mark, parse};
use crate::lateness::Lateness;
use crate::recorder::{Recorder, Wanted};
use crate::sys::{Haste, PacketSocket, Poll, date, hurry, monotonic, thread_time};

/// The longest frame: an MTU of 1500 bytes.
const LONGEST: usize = 1514;
/// Maximum number of frames that are read from a host before the switch sends the frames that are
/// due. Reading this number of frames takes about 40 µs.
const TURN: usize = 8;

/// The measurements of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The counters of the switch's ports.
    pub tally: Tally,
    /// The time for which the switch ran.
    pub length: Span,
    /// Number of frames that came from the hosts.
    pub frames: u64,
    /// Number of frames that belong to no flow, which the switch did not pass on.
    pub foreign: u64,
    /// Number of frames that the kernel dropped on their way to or from the switch.
    pub missed: u64,
    /// The largest lateness of a frame: how much later than computed it was sent to its host.
    pub worst: Span,
    /// The 99th percentile of the frames' lateness.
    pub p99: Span,
    /// Processor time of the switch's thread.
    pub busy: Span,
    /// Whether the switch's thread had a real-time priority.
    pub real_time: bool,
}

/// A running switch.
#[derive(Debug)]
pub struct Switch {
    thread: JoinHandle<Result<Report>>,
    stop: UnixStream,
}

impl Switch {
    /// Starts the switch of a scenario in this thread's namespace. `interfaces` contains the index
    /// of the interface to each host, the clients first.
    ///
    /// # Errors
    /// If the sockets or the file of the capture cannot be opened.
    pub fn start(
        scenario: &Scenario,
        seed: u64,
        interfaces: &[u32],
        capture: Option<Wanted>,
    ) -> Result<Self> {
        let (stop, stopped) = UnixStream::pair()?;
        let poll = Poll::new()?;
        poll.add(&stopped, interfaces.len() as u64)?;
        let mut sockets = Vec::new();
        for (number, interface) in (0..).zip(interfaces) {
            let socket = PacketSocket::open(*interface)?;
            poll.add(&socket, number)?;
            sockets.push(socket);
        }
        let relay = Relay::new(scenario, seed);
        let start = monotonic();
        let recorder = capture.map(|wanted| Recorder::start(wanted, scenario, date()));
        let recorder = recorder.transpose()?;
        let thread = std::thread::Builder::new().name("incast-switch".into()).spawn(move || {
            let real_time = hurry(Haste::Switch);
            let report = Fabric::new(relay, sockets, start, recorder).run(poll);
            drop(stopped);
            Ok(Report { real_time, ..report? })
        })?;
        Ok(Self { thread, stop })
    }

    /// Stops the switch, and returns its measurements.
    ///
    /// # Errors
    /// The error that ended the switch before this call.
    pub fn stop(mut self) -> Result<Report> {
        match self.stop.write_all(&[0]) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
        self.thread.join().unwrap_or_else(|why| std::panic::resume_unwind(why))
    }
}

/// The frames in the switch, and the sockets of their hosts.
struct Fabric {
    relay: Relay,
    table: Table,
    sockets: Vec<PacketSocket>,
    /// Clock reading at time zero, ns.
    start: u64,
    late: Lateness,
    recorder: Option<Recorder>,
    frames: u64,
    foreign: u64,
    missed: u64,
}

impl Fabric {
    fn new(
        relay: Relay,
        sockets: Vec<PacketSocket>,
        start: u64,
        recorder: Option<Recorder>,
    ) -> Self {
        Self {
            table: Table::new(relay.flows()),
            relay,
            sockets,
            start,
            late: Lateness::default(),
            recorder,
            frames: 0,
            foreign: 0,
            missed: 0,
        }
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from_nanos(monotonic() - self.start)
    }

    /// Moves frames until the last watched descriptor, which stops the switch, becomes readable.
    fn run(mut self, mut poll: Poll) -> Result<Report> {
        let stop = self.sockets.len();
        let mut ready = Vec::new();
        loop {
            self.send_due();
            let until = self.relay.next_event().map(|next| next.saturating_since(self.now()));
            ready.extend(poll.wait(until.map(|wait| wait.as_picos() / 1000))?);
            for number in ready.drain(..) {
                if number as usize == stop {
                    return self.report();
                }
                self.take(number as usize)?;
                self.send_due();
            }
        }
    }

    /// Sends the frames that have reached the end of their last link.
    fn send_due(&mut self) {
        while let Some(arrived) = self.relay.advance(self.now()) {
            let (host, frame) = self.table.leave(&arrived);
            let was_sent = self.sockets[host.0 as usize].send(frame);
            self.missed += u64::from(!was_sent);
            if let Some(recorder) = &mut self.recorder {
                recorder.on_received(host, monotonic() - self.start, frame);
            }
            self.late.add(self.now().saturating_since(arrived.at));
        }
    }

    /// Takes the frames that a host has sent.
    fn take(&mut self, host: usize) -> Result<()> {
        for _ in 0..TURN {
            let mut buffer = [0; LONGEST];
            let Some(length) = self.sockets[host].receive(&mut buffer)? else { break };
            self.frames += 1;
            let frame = &buffer[..length];
            let Some(packet) = self.table.read(frame) else {
                self.foreign += 1;
                continue;
            };
            if let Some(recorder) = &mut self.recorder {
                recorder.on_sent(HostId(host as u32), monotonic() - self.start, frame);
            }
            let place = self.relay.put(self.now(), packet).place();
            self.table.keep(place, frame);
        }
        Ok(())
    }

    fn report(self) -> Result<Report> {
        let now = self.now();
        if let Some(recorder) = self.recorder {
            recorder.finish()?;
        }
        let mut missed = self.missed;
        for socket in &self.sockets {
            missed += socket.missed()?;
        }
        Ok(Report {
            tally: self.relay.tally(now),
            length: now - Time::ZERO,
            frames: self.frames,
            foreign: self.foreign,
            missed,
            worst: self.late.worst(),
            p99: self.late.quantile(990),
            busy: Span::from_nanos(thread_time()),
            real_time: false,
        })
    }
}

/// The bytes of the packets in the relay.
struct Table {
    flows: Vec<(HostId, HostId)>,
    /// The highest sequence number that each flow's server has sent.
    sent: Vec<Option<u32>>,
    /// The frames, indexed by the packets' slots.
    frames: Vec<Vec<u8>>,
}

impl Table {
    fn new(flows: &[(HostId, HostId)]) -> Self {
        Self { flows: flows.to_vec(), sent: vec![None; flows.len()], frames: Vec::new() }
    }

    /// The packet in a frame, if it belongs to a flow. A packet is a retransmission if the switch
    /// has seen all its data before.
    fn read(&mut self, frame: &[u8]) -> Option<Packet> {
        let mut packet = parse(frame, self.flows.len() as u32)?;
        if packet.route.is_forward() {
            let (end, highest) =
                (packet.seq_end() as u32, &mut self.sent[packet.route.flow() as usize]);
            let is_new = packet.flags.contains(Flags::SYN)
                || highest.is_none_or(|highest| end.wrapping_sub(highest) as i32 > 0);
            if is_new {
                *highest = Some(end);
            } else if packet.payload > 0 {
                packet.flags = packet.flags.with(Flags::RETRANSMISSION);
            }
        }
        Some(packet)
    }

    /// Stores the frame of the packet in the slot `place`.
    fn keep(&mut self, place: usize, frame: &[u8]) {
        if self.frames.len() <= place {
            self.frames.resize_with(place + 1, || Vec::with_capacity(LONGEST));
        }
        self.frames[place].clear();
        self.frames[place].extend_from_slice(frame);
    }

    /// The host at the end of a packet's route, and the packet's frame, which is marked if a port
    /// has marked the packet.
    fn leave(&mut self, arrived: &Arrived) -> (HostId, &[u8]) {
        let route = arrived.packet.route;
        let (server, client) = self.flows[route.flow() as usize];
        let frame = &mut self.frames[arrived.id.place()];
        if arrived.packet.ecn() == Ecn::CongestionExperienced {
            mark(frame);
        }
        (if route.is_forward() { client } else { server }, frame)
    }
}

#[cfg(test)]
mod tests;
