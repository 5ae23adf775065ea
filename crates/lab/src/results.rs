//! Result rows, one per run and group. Every column has a unit and a description.

use std::collections::BTreeMap;

use incast_engine::cell::Value as _;
use incast_engine::{Cell, Span};
use incast_host::cause::Cause;
use incast_host::stalls::{StallCause, StallCounts};
use incast_net::port::PortCounters;
use incast_remedies::Measure;

use crate::column::Column;
use crate::probe::KINDS;
use incast_traffic::Report;

macro_rules! row {
    ($($name:ident: $type:ty, $unit:literal, $description:literal;)+) => {
        /// The results of one run for one group.
        #[derive(Clone, Debug, Default)]
        pub struct Row {
            $(#[doc = $description] pub $name: $type,)+
            /// The results of the group's remedies, by the names of their columns
            /// ([`incast_remedies::measures`]).
            pub measures: BTreeMap<&'static str, Option<f64>>,
            /// Completion time of every block, in the order of completion. Percentiles over several
            /// runs need these times.
            pub completions: Vec<Span>,
        }

        impl Row {
            /// The columns and their values, in order, with the columns of the remedies last.
            pub fn cells(&self) -> impl Iterator<Item = (&'static str, Cell<'_>)> {
                let own = [$((stringify!($name), self.$name.cell()),)+];
                let measures = self.measures.iter().map(|(name, value)| (*name, value.cell()));
                own.into_iter().chain(measures)
            }
        }

        /// The columns of [`Row`], in order.
        pub const ROW_COLUMNS: &[Column] = &[
            $(Column { name: stringify!($name), unit: $unit, description: $description },)+
        ];
    };
}

row! {
    seed: u64, "1", "Seed of the run.";
    group: String, "", "`all` for the workload, else the name of the background table.";
    status: &'static str, "", "`ok`, or the reason why the run did not finish.";
    goodput_bps: f64, "bit/s", "Application bytes × 8 / time from the first request to the last byte delivered; headers never count.";
    completion_s: Option<f64>, "s", "Mean completion time of a block.";
    completion_p50_s: Option<f64>, "s", "Median completion time of a block.";
    completion_p95_s: Option<f64>, "s", "95th percentile of the blocks' completion times.";
    completion_p99_s: Option<f64>, "s", "99th percentile of the blocks' completion times.";
    completion_p999_s: Option<f64>, "s", "99.9th percentile of the blocks' completion times.";
    completion_max_s: Option<f64>, "s", "Completion time of the slowest block.";
    blocks: u64, "1", "Blocks completed.";
    bytes: u64, "byte", "Application bytes of the completed blocks.";
    fairness: Option<f64>, "1", "Jain's index, (Σx)² / (n Σx²), of the servers' goodputs in a \
                                 block, averaged over the blocks. A server's goodput is its SRU \
                                 divided by the time from the beginning of the block to the \
                                 server's last byte, waiting included. For long flows, the index is \
                                 computed from the bytes of each flow.";
    elapsed_s: f64, "s", "Simulated time from the first request to the last of the bytes counted in `bytes`.";
    timeouts: u64, "1", "Expiries of retransmission, handshake and request timers. The next columns count TCP's timeouts by cause.";
    timeouts_handshake: u64, "1", "Timeouts after the loss of a SYN, SYN-ACK or request.";
    timeouts_full_window: u64, "1", "Timeouts after all outstanding segments were dropped.";
    timeouts_lack_of_dupacks: u64, "1", "Timeouts because too few segments arrived behind the lost \
                                         segment for a fast retransmit.";
    timeouts_tail: u64, "1", "The part of `timeouts_lack_of_dupacks` for which fewer than three \
                              segments follow the lost segment in its SRU.";
    timeouts_lost_retransmission: u64, "1", "Timeouts because the retransmission was also dropped.";
    timeouts_ack_loss: u64, "1", "Timeouts because all ACKs of an arrived segment were dropped.";
    timeouts_spurious: u64, "1", "Timeouts while the segment or its ACK was still in flight.";
    timeouts_block_head: u64, "1", "Timeouts of the first window of a block (ABTT); the other \
                                    timeouts are inside a block (IBTT).";
    stalls: u64, "1", "Stalls: intervals longer than ten base round trips in which a block \
                       received no data. The next columns count the stalls of each cause. The \
                       flows of a read count together, and any other flow counts by itself.";
    stalls_timeout: u64, "1", "Stalls that a retransmission timer of data ended. The columns \
                               `timeouts_…` have the causes of these timeouts.";
    stalls_tail_probe: u64, "1", "Stalls that were ended by a tail loss probe, or by another timer of \
                                  loss recovery or of a remedy. A probe waits for two smoothed \
                                  round trips, plus the allowance for a delayed ACK (in profile \
                                  `linux`, the minimum RTO) if one segment is in flight.";
    stalls_handshake: u64, "1", "Stalls that the timer of a SYN, SYN-ACK or request ended.";
    stalls_pacer: u64, "1", "Stalls that ended with data that the sender's host had delayed \
                             because of pacing, jitter or a remedy.";
    stalls_persist: u64, "1", "Stalls that a zero-window probe ended.";
    stalls_delayed_ack: u64, "1", "Stalls that ended after a client had delayed an ACK.";
    stalls_application: u64, "1", "Stalls that an application's timer ended, because nothing had \
                                   been requested or written before.";
    stalls_network: u64, "1", "Stalls without any of these causes: the data had been in queues \
                               or on slow links, and no host had delayed the data for five base \
                               round trips.";
    stall_max_s: Option<f64>, "s", "The longest stall; empty without stalls.";
    tail_probes: u64, "1", "Tail-loss probes sent.";
    fast_retransmits: u64, "1", "Loss-recovery episodes entered.";
    retransmitted_packets: u64, "1", "Data packets sent again.";
    packets_sent: u64, "1", "Data packets sent by the group's senders, retransmissions included.";
    drops: u64, "1", "Packets dropped anywhere in the network.";
    drop_ratio: f64, "1", "Dropped share of the packets that were offered to the busiest port. Of \
                           the switch ports on the paths to the clients, the busiest port is the \
                           port with the longest mean queue, in bytes.";
    marks: u64, "1", "Packets marked with congestion experienced.";
    queue_max_packets: u64, "1", "Largest number of packets waiting at the busiest port, without \
                                  the packet in service.";
    queue_max_bytes: u64, "byte", "Largest number of bytes waiting at the busiest port.";
    queue_mean_bytes: f64, "byte", "Bytes waiting at the busiest port, averaged over the run.";
    link_utilization: f64, "1", "Share of the run in which the link of the busiest port was sending.";
    packet_hops: u64, "1", "Sum over packets (data and ACKs) of the number of links crossed.";
    wall_s: f64, "s", "Wall-clock time of the run; the only column that may differ between two runs of a seed.";
}

/// The columns of a table. `table` is a kind of trace, or "rows". The columns of "rows" include
/// those of remedies.
pub fn columns(table: &str) -> Option<Vec<Column>> {
    match table {
        "rows" => {
            let measures = incast_remedies::measures();
            let own = measures.iter().map(|&Measure { name, unit, description }| Column {
                name,
                unit,
                description,
            });
            Some(ROW_COLUMNS.iter().copied().chain(own).collect())
        }
        _ => KINDS.iter().find(|kind| kind.table == table).map(|kind| (kind.columns)()),
    }
}

/// Number of timer expiries for each cause, and number of expiries at the head of a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeoutCounts {
    by_cause: [u64; 7],
    /// Timeouts of other families than TCP, whose causes are not determined.
    unexplained: u64,
    block_head: u64,
}

impl TimeoutCounts {
    /// Adds an expiry.
    pub fn add(&mut self, cause: Cause, block_head: bool) {
        self.by_cause[cause as usize] += 1;
        self.block_head += u64::from(block_head);
    }

    /// Adds an expiry without a cause.
    pub fn add_unexplained(&mut self) {
        self.unexplained += 1;
    }

    fn total(&self) -> u64 {
        self.by_cause.iter().sum::<u64>() + self.unexplained
    }

    fn of(&self, cause: Cause) -> u64 {
        self.by_cause[cause as usize]
    }

    /// The sum of these counts and the counts of `others`.
    fn and(mut self, others: &Self) -> Self {
        for (count, other) in self.by_cause.iter_mut().zip(others.by_cause) {
            *count += other;
        }
        self.unexplained += others.unexplained;
        self.block_head += others.block_head;
        self
    }
}

/// The data that a row needs in addition to the application's report.
#[derive(Clone, Debug)]
pub struct NetworkReport {
    /// Packets dropped in the network.
    pub drops: u64,
    /// Packets marked in the network.
    pub marks: u64,
    /// Packet-hops.
    pub hops: u64,
    /// The busiest port on a path to a client.
    pub port: PortCounters,
    /// Time for which the link of this port was busy.
    pub sending: Span,
    /// Simulated time of the run.
    pub length: Span,
}

/// The timeouts and stalls of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitReport {
    /// The timeouts of the group.
    pub timeouts: TimeoutCounts,
    /// The stalls of the group.
    pub stalls: StallCounts,
}

impl WaitReport {
    /// The sum over several groups.
    pub fn total(reports: &[Self]) -> Self {
        reports.iter().fold(Self::default(), |sum, report| Self {
            timeouts: sum.timeouts.and(&report.timeouts),
            stalls: sum.stalls.and(&report.stalls),
        })
    }
}

/// The row of one group.
pub fn row(
    seed: u64,
    group: String,
    status: &'static str,
    report: &Report,
    WaitReport { timeouts, stalls }: &WaitReport,
    network: &NetworkReport,
    wall_s: f64,
) -> Row {
    let mut sorted = report.completions.clone();
    sorted.sort_unstable();
    let length = network.length.as_picos().max(1);
    let elapsed_s = report.elapsed.as_secs_f64();
    let total = report.completions.iter().fold(Span::ZERO, |sum, span| sum + *span);
    let blocks = sorted.len() as u64;
    Row {
        seed,
        group,
        status,
        goodput_bps: if elapsed_s > 0.0 { report.bytes as f64 * 8.0 / elapsed_s } else { 0.0 },
        completion_s: (blocks > 0).then(|| total.as_secs_f64() / blocks as f64),
        completion_p50_s: quantile(&sorted, 0.50),
        completion_p95_s: quantile(&sorted, 0.95),
        completion_p99_s: quantile(&sorted, 0.99),
        completion_p999_s: quantile(&sorted, 0.999),
        completion_max_s: sorted.last().map(|span| span.as_secs_f64()),
        blocks,
        bytes: report.bytes,
        fairness: report.fairness,
        elapsed_s,
        timeouts: timeouts.total(),
        timeouts_handshake: timeouts.of(Cause::Handshake),
        timeouts_full_window: timeouts.of(Cause::FullWindow),
        timeouts_lack_of_dupacks: timeouts.of(Cause::LackOfDupacks) + timeouts.of(Cause::Tail),
        timeouts_tail: timeouts.of(Cause::Tail),
        timeouts_lost_retransmission: timeouts.of(Cause::LostRetransmission),
        timeouts_ack_loss: timeouts.of(Cause::AckLoss),
        timeouts_spurious: timeouts.of(Cause::Spurious),
        timeouts_block_head: timeouts.block_head,
        stalls: stalls.total(),
        stalls_timeout: stalls.of(StallCause::Timeout),
        stalls_tail_probe: stalls.of(StallCause::TailProbe),
        stalls_handshake: stalls.of(StallCause::Handshake),
        stalls_pacer: stalls.of(StallCause::Pacer),
        stalls_persist: stalls.of(StallCause::Persist),
        stalls_delayed_ack: stalls.of(StallCause::DelayedAck),
        stalls_application: stalls.of(StallCause::Application),
        stalls_network: stalls.of(StallCause::Network),
        stall_max_s: stalls.longest.map(Span::as_secs_f64),
        tail_probes: report.counters.tail_probes,
        fast_retransmits: report.counters.fast_retransmits,
        retransmitted_packets: report.counters.retransmitted_packets,
        packets_sent: report.counters.data_packets,
        drops: network.drops,
        drop_ratio: network.port.dropped as f64 / network.port.offered.max(1) as f64,
        marks: network.marks,
        queue_max_packets: u64::from(network.port.max_packets),
        queue_max_bytes: network.port.max_bytes,
        queue_mean_bytes: network.port.byte_time as f64 / length as f64,
        link_utilization: network.sending.as_picos() as f64 / length as f64,
        packet_hops: network.hops,
        wall_s,
        measures: BTreeMap::new(),
        completions: report.completions.clone(),
    }
}

/// The quantile `q` of `n` sorted spans, without interpolation: the span with index ⌊n·q⌋.
fn quantile(sorted: &[Span], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let index = ((sorted.len() as f64 * q) as usize).min(last);
    Some(sorted[index].as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: NetworkReport = NetworkReport {
        drops: 0,
        marks: 0,
        hops: 0,
        port: PortCounters {
            offered: 0,
            dropped: 0,
            marked: 0,
            trimmed: 0,
            trimmed_bytes: 0,
            delivered: 0,
            sending: Span::ZERO,
            max_packets: 0,
            max_bytes: 0,
            byte_time: 0,
        },
        sending: Span::ZERO,
        length: Span::ZERO,
    };

    fn row_of(report: &Report, network: &NetworkReport) -> Row {
        row(1, "all".into(), "ok", report, &WaitReport::default(), network, 0.0)
    }

    /// The port was offered twelve packets. Of the twelve packets, the port dropped three, marked
    /// four and delivered nine.
    #[test]
    fn shares_are_of_what_was_offered_and_of_the_time_of_the_run() {
        let port = PortCounters {
            offered: 12,
            dropped: 3,
            marked: 4,
            delivered: 9,
            max_packets: 5,
            max_bytes: 7000,
            byte_time: 6000 * 4_000_000_000_000,
            ..NOTHING.port
        };
        let (sending, length) = (Span::from_secs(6), Span::from_secs(8));
        let network = NetworkReport { drops: 13, marks: 14, hops: 15, port, sending, length };
        let row = row_of(&Report::default(), &network);
        assert_eq!((row.drops, row.marks, row.packet_hops), (13, 14, 15));
        assert_eq!((row.queue_max_packets, row.queue_max_bytes), (5, 7000));
        let close = |is: f64, due: f64| assert!((is - due).abs() < 1e-12, "{is}, not {due}");
        close(row.drop_ratio, 0.25);
        close(row.queue_mean_bytes, 3000.0);
        close(row.link_utilization, 0.75);
        // Without offered packets there is no share of drops, and a run of zero duration has no
        // mean queue.
        let nothing = row_of(&Report::default(), &NOTHING);
        close(nothing.drop_ratio + nothing.queue_mean_bytes + nothing.link_utilization, 0.0);
    }

    /// A thousand bytes are read in 4 s, in two blocks of 1 and 3 s.
    #[test]
    fn goodput_and_completion_times_are_those_of_the_report() {
        let report = Report {
            bytes: 1000,
            elapsed: Span::from_secs(4),
            completions: vec![Span::from_secs(3), Span::from_secs(1)],
            ..Report::default()
        };
        let row = row_of(&report, &NOTHING);
        assert!((row.goodput_bps - 2000.0).abs() < 1e-9 && (row.elapsed_s - 4.0).abs() < 1e-12);
        assert_eq!((row.blocks, row.bytes, row.completion_s), (2, 1000, Some(2.0)));
        assert_eq!((row.completion_p50_s, row.completion_max_s), (Some(3.0), Some(3.0)));
        assert_eq!(row.completions, report.completions);
        let nothing = row_of(&Report::default(), &NOTHING);
        assert!(nothing.goodput_bps.abs() < 1e-12);
        assert_eq!(
            (nothing.blocks, nothing.completion_s, nothing.completion_max_s),
            (0, None, None)
        );
    }

    #[test]
    fn quantiles_are_observed_values() {
        let spans: Vec<Span> = (1..=100).map(Span::from_secs).collect();
        assert_eq!(quantile(&spans, 0.5), Some(51.0));
        assert_eq!(quantile(&spans, 0.99), Some(100.0));
        assert_eq!(quantile(&spans[..1], 0.95), Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn the_causes_sum_to_the_timeouts_and_the_tail_is_part_of_the_lack() {
        let mut counts = TimeoutCounts::default();
        let causes = [
            Cause::Handshake,
            Cause::Spurious,
            Cause::AckLoss,
            Cause::LostRetransmission,
            Cause::FullWindow,
            Cause::Tail,
            Cause::LackOfDupacks,
        ];
        for cause in causes {
            counts.add(cause, cause == Cause::Tail);
        }
        let waits = WaitReport { timeouts: counts, stalls: StallCounts::default() };
        let row = row(1, "all".into(), "ok", &Report::default(), &waits, &NOTHING, 0.0);
        assert_eq!((row.timeouts, row.timeouts_block_head), (7, 1));
        assert_eq!((row.timeouts_lack_of_dupacks, row.timeouts_tail), (2, 1));
    }
}
