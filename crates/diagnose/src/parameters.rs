//! The parameters of a model, measured in the capture.

use crate::burst::Burst;
use crate::chain::Timer;
use crate::connection::Connection;
use crate::stall::{Ended, Stall};
use crate::time::Span;

const SAMPLE: usize = 4096;

/// Parameters of the network and its connections.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The shortest round trip.
    pub round_trip: Option<Span>,
    /// For each connection with a wait in a queue, the longest such wait.
    queued: Vec<Span>,
    pub mss: u32,
    /// The largest window offered by a receiver. Of each connection, only the flow with more data
    /// counts.
    pub window: i64,
    /// The waits for timers, which show the usual timer.
    pub timer: Timer,
    pub sack: bool,
    pub timestamps: bool,
    /// Number of flows of the largest burst, and number of bursts with that many flows.
    pub fan_in: usize,
    pub blocks: u64,
    /// The median size of the messages of such a burst.
    pub sru: i64,
    pub connections: u64,
    pub messages: u64,
    /// Whether a tail-loss probe was seen.
    pub probes: bool,
}

impl Parameters {
    /// Takes a round trip of a connection.
    pub fn trip(&mut self, trip: Span) {
        self.round_trip = Some(self.round_trip.map_or(trip, |least| least.min(trip)));
    }

    /// Takes a connection that has ended.
    pub fn connection(&mut self, connection: &Connection) {
        let flow = connection.flow(connection.sender());
        self.connections += 1;
        self.mss = self.mss.max(flow.segments.longest());
        self.window = self.window.max(flow.window.most());
        self.sack |= connection.is_selective();
        self.timestamps |= flow.timing.has_stamps();
        if self.queued.len() < SAMPLE {
            self.queued.extend(flow.queued.longest());
        }
    }

    /// The longest wait in a queue after the longest 2 % of the waits have been removed. A full
    /// queue delays many connections, so the result still shows the full queue.
    pub fn queued(&self) -> Span {
        let mut all = self.queued.clone();
        all.sort_unstable();
        all.len().checked_sub(1 + all.len() / 50).map_or(Span::ZERO, |at| all[at])
    }

    /// Takes a wait that a timer or a probe has ended.
    pub fn stall(&mut self, stall: &Stall) {
        self.probes |= stall.ended == Ended::Probe;
        if stall.shows_a_timer() {
            self.timer.take(stall.length());
        }
    }

    /// Takes flows that began together.
    pub fn burst(&mut self, burst: &Burst) {
        self.messages += burst.members.len() as u64;
        let fan_in = burst.members.len();
        if fan_in < self.fan_in {
            return;
        }
        let sizes = burst.members.iter().filter_map(|member| member.message);
        let mut sizes: Vec<i64> = sizes.map(|message| message.bytes).collect();
        sizes.sort_unstable();
        let sru = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
        // Requests may form bursts with the same number of flows as the answers, but their messages
        // are smaller.
        if fan_in == self.fan_in && 4 * sru < self.sru {
            return;
        }
        if fan_in > self.fan_in || sru > 4 * self.sru {
            self.blocks = 0;
        }
        self.fan_in = fan_in;
        self.blocks += 1;
        self.sru = sru;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::burst::Member;
    use crate::event::Message;
    use crate::stall::Cause;
    use crate::stall::tests::stall;
    use crate::time::tests::{MS, ns};

    #[test]
    fn one_long_wait_of_many_is_no_queue() {
        let mut seen = Parameters::default();
        assert_eq!(seen.queued(), Span::ZERO);
        seen.queued = vec![ns(520_000)];
        assert_eq!(seen.queued(), ns(520_000));
        seen.queued = (0..99).map(|wait| 400_000 + wait).chain([9_000_000]).map(ns).collect();
        assert_eq!(seen.queued(), ns(400_097));
    }

    #[test]
    fn the_wait_of_two_in_a_hundred_is_no_queue() {
        let of = |count: i64| {
            let queued = (1..=count).map(ns).collect();
            Parameters { queued, ..Parameters::default() }.queued()
        };
        assert_eq!([1, 2, 49, 50, 99, 100].map(of), [1, 2, 49, 49, 98, 98].map(ns));
        let queued = vec![ns(3), ns(9), ns(5)];
        let unsorted = Parameters { queued, ..Parameters::default() };
        assert_eq!(unsorted.queued(), ns(9));
    }

    #[test]
    fn the_round_trip_is_the_shortest() {
        let mut seen = Parameters::default();
        assert_eq!(seen.round_trip, None);
        for (trip, least) in [(5, 5), (7, 5), (3, 3)] {
            seen.trip(ns(trip));
            assert_eq!(seen.round_trip, Some(ns(least)));
        }
    }

    #[test]
    fn one_probe_is_enough_and_only_timers_teach_a_length() {
        let mut seen = Parameters::default();
        let length = (200 * MS).as_nanos();
        let probe = Stall { ended: Ended::Probe, ..stall(0, length, Cause::FullWindow) };
        seen.stall(&stall(0, length, Cause::Handshake));
        assert_eq!((seen.probes, seen.timer.usual()), (false, None));
        seen.stall(&probe);
        assert_eq!((seen.probes, seen.timer.usual()), (true, None));
        seen.stall(&stall(0, length, Cause::FullWindow));
        assert_eq!((seen.probes, seen.timer.usual()), (true, Some(200 * MS)));
    }

    /// Messages of these sizes that began together. A message with size 0 has not ended.
    fn burst(sizes: &[i64]) -> Burst {
        let message = |&bytes: &i64| {
            let message = (bytes > 0).then(|| Message { bytes, ..Message::default() });
            Member { key: (0, 0), message }
        };
        let mut burst = Burst::default();
        burst.members.extend(sizes.iter().map(message));
        burst
    }

    /// The fan-in, messages, blocks and SRU after these bursts.
    fn blocks(bursts: &[&[i64]]) -> (usize, u64, u64, i64) {
        let mut seen = Parameters::default();
        for sizes in bursts {
            seen.burst(&burst(sizes));
        }
        (seen.fan_in, seen.messages, seen.blocks, seen.sru)
    }

    #[test]
    fn blocks_are_the_bursts_of_most_flows() {
        assert_eq!(blocks(&[&[9, 0, 5, 7]]), (4, 4, 1, 7), "the median of those that ended");
        assert_eq!(blocks(&[&[0]]), (1, 1, 1, 0));
        assert_eq!(blocks(&[&[7, 7], &[7, 7]]), (2, 4, 2, 7));
        assert_eq!(blocks(&[&[7, 7], &[9]]), (2, 3, 1, 7), "fewer flows");
        assert_eq!(blocks(&[&[7], &[7], &[7, 9]]), (2, 4, 1, 9), "more flows");
    }

    #[test]
    fn requests_are_a_quarter_of_their_answers_or_less() {
        assert_eq!(blocks(&[&[100], &[25]]), (1, 2, 2, 25));
        assert_eq!(blocks(&[&[100], &[24]]), (1, 2, 1, 100), "a request");
        assert_eq!(blocks(&[&[25], &[25], &[100]]), (1, 3, 3, 100));
        assert_eq!(blocks(&[&[25], &[25], &[101]]), (1, 3, 1, 101), "those were requests");
        assert_eq!(blocks(&[&[100], &[3, 3]]), (2, 3, 1, 3), "more flows, whatever they send");
    }

    /// A connection that opens with these options of its two ends. It sends data of this length,
    /// with or without timestamps. The data waited in a queue for the time `queued`.
    fn connection(options: [&[u8]; 2], payload: u32, stamped: bool, queued: Span) -> Connection {
        use incast_capture::read::{Endpoint, Options, Packet, Timestamps, flags};
        let ends = [1, 2].map(|port| Endpoint { port, ..Endpoint::default() });
        let mut connection = Connection::new(1, ends, [0, 1], crate::time::tests::at(0));
        let mark = crate::load::Mark::default();
        let around = crate::connection::Around {
            mark,
            own: mark,
            round_trip: MS,
            missing: None,
            counted: false,
            timer: None,
        };
        let stamps = Timestamps { value: 1, echo: 1 };
        let (syn, both) = (flags::SYN, flags::SYN | flags::ACK);
        for (time, side, bits, seq, ack, payload) in [
            (0, 0, syn, 0, 0, 0),
            (1, 1, both, 0, 1, 0),
            (2, 0, flags::ACK, 1, 1, 0),
            (3, 1, flags::ACK, 1, 1, payload),
        ] {
            let mut it = Options::default();
            if time < 2 {
                it = Options::parse(options[side]);
            }
            it.timestamps = stamped.then_some(stamps);
            let packet = Packet {
                time,
                source: ends[side],
                target: ends[1 - side],
                seq,
                ack,
                flags: bits,
                payload,
                window: 300,
                options: it,
                ..Packet::default()
            };
            connection.handle(&packet, around, &mut Vec::new());
        }
        connection.flow_mut(1).queued.take(queued);
        connection
    }

    const WITH: &[u8] = &[2, 4, 3, 232, 4, 2];
    const WITHOUT: &[u8] = &[2, 4, 3, 232];

    #[test]
    fn what_any_connection_has_is_in_use() {
        let seen = |all: &[Connection]| {
            let mut seen = Parameters::default();
            for one in all {
                seen.connection(one);
            }
            (seen.sack, seen.timestamps, seen.mss, seen.window, seen.connections)
        };
        let plain = || connection([WITHOUT; 2], 700, false, ns(0));
        let rich = || connection([WITH; 2], 900, true, ns(0));
        assert_eq!(seen(&[]), (false, false, 0, 0, 0));
        assert_eq!(seen(&[plain()]), (false, false, 700, 300, 1));
        assert_eq!(seen(&[rich()]), (true, true, 900, 300, 1));
        assert_eq!(seen(&[rich(), plain()]), (true, true, 900, 300, 2));
        assert_eq!(seen(&[plain(), rich()]), (true, true, 900, 300, 2));
        assert!(!seen(&[connection([WITH, WITHOUT], 1, false, ns(0))]).0, "one end does not");
    }

    #[test]
    fn waits_in_queues_are_sampled() {
        let mut seen = Parameters { queued: vec![ns(1); SAMPLE - 1], ..Parameters::default() };
        seen.connection(&connection([WITH; 2], 9, false, ns(0)));
        assert_eq!(seen.queued.len(), SAMPLE - 1, "it has shown none");
        for _ in 0..2 {
            seen.connection(&connection([WITH; 2], 9, false, ns(7)));
            assert_eq!((seen.queued.len(), seen.queued[SAMPLE - 1]), (4096, ns(7)));
        }
    }
}
