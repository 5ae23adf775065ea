//! Whole reads, block by block.

use incast_engine::Stream;

use super::{EFFORT, read};
use crate::flavour::{Examine, Flavour, Repair};
use crate::network::{Block, Network};
use crate::{Effort, Read, follow};

/// Simulates a run. Returns each block's timeouts and duration.
fn run(read: &Read, most: u64) -> Vec<Block> {
    let mut network = Network::new(read, Stream::named(3, "hosts", 0));
    let mut gaps = Stream::named(3, "test", 0);
    (0..read.blocks)
        .map_while(|_| network.is_idle().then(|| network.block(&mut gaps, most)))
        .collect()
}

#[test]
fn every_block_ends_and_no_sooner_than_the_link_lets_it() {
    for (servers, buffer) in [(1, 0.0), (4, 10.0), (12, 40.5), (40, 60.0), (90, 8.3)] {
        let blocks = run(&read(servers, buffer), u64::MAX / 2);
        assert_eq!(blocks.len(), 10);
        let work = servers as f64 * 44.4;
        assert!(blocks.iter().all(|it| it.duration > work));
    }
}

#[test]
fn without_losses_a_block_takes_its_time_and_a_round_trip() {
    let ample = Read { buffer: 1e9, ..read(12, 0.0) };
    let blocks = run(&ample, u64::MAX / 2);
    assert!(blocks.iter().all(|it| it.timeouts < 0.5));
    for block in &blocks[1..] {
        let least = 12.0 * (44.0 + 0.416) + 21.0;
        assert!((least..least + 1.0).contains(&block.duration), "{}", block.duration);
    }
}

#[test]
fn a_lost_syn_ack_costs_its_timer_once() {
    // The buffer has no space, so only the packet on the link fits.
    let bare = Read { gap: 20.0, propagation: 2.0, least_rto: 50.0, ..read(2, 0.0) };
    let blocks = run(&bare, u64::MAX / 2);
    assert!(blocks[0].duration > bare.syn_rto);
    assert!(blocks[0].handshakes >= 1.0);
    assert!(blocks[0].timeouts >= blocks[0].handshakes);
    assert!(blocks[1..].iter().all(|it| it.duration < bare.syn_rto && it.handshakes < 0.5));
    let mut network = Network::new(&bare, Stream::named(3, "hosts", 0));
    network.block(&mut Stream::named(3, "test", 0), u64::MAX / 2);
    assert!(network.has_lost_handshakes());
}

#[test]
fn without_a_handshake_data_come_a_round_trip_earlier() {
    let with = Read { buffer: 1e9, ..read(4, 0.0) };
    let without = Read { handshakes: false, ..with.clone() };
    let [with, without] = [with, without].map(|read| run(&read, u64::MAX / 2)[0].duration);
    assert!((19.0..22.0).contains(&(with - without)), "{with} {without}");
}

#[test]
fn an_aborted_block_goes_on_at_the_same_pace() {
    let long = Read { segments: 20_000, ..read(3, 400.0) };
    let (all, some) = (run(&long, u64::MAX / 2)[0], run(&long, 60_000));
    assert_eq!(some.len(), 1);
    assert!((some[0].duration / all.duration - 1.0).abs() < 0.05);
}

#[test]
fn buffers_that_count_packets_hold_as_many() {
    let bytes = run(&Read { last: 1.0, ..read(9, 30.0) }, u64::MAX / 2);
    let packets = Read { last: 1.0, buffer: 30.0, counts_packets: true, ..read(9, 0.0) };
    let packets = run(&packets, u64::MAX / 2);
    // The runs are equal except for the SYN-ACKs of the first block.
    let sum = |blocks: &[Block]| blocks.iter().map(|it| it.duration).sum::<f64>();
    assert!((sum(&bytes) / sum(&packets)).ln().abs() < 0.5);
}

#[test]
fn the_number_of_threads_does_not_matter_nor_does_the_company() {
    let reads: Vec<_> = [2, 30, 5, 100, 17].map(|servers| read(servers, 33.3)).to_vec();
    let one = follow(&reads, &EFFORT, 1);
    assert_eq!(one, follow(&reads, &EFFORT, 2));
    assert_eq!(one, follow(&reads, &EFFORT, 9));
    assert_eq!(one[1], follow(&reads[1..2], &EFFORT, 1)[0]);
    assert!(one.iter().any(|it| it.timeouts > 0.0));
    assert!(one.iter().all(|it| it.error > 0.0 && it.scatter > 0.0));
}

#[test]
fn more_effort_finds_the_same_mean() {
    let reads: Vec<_> = [9, 24, 60].map(|servers| read(servers, 60.0)).to_vec();
    let more = Effort { fine: 0.0, coarse: 0.0, most: 5_000_000, blocks: 400, ..EFFORT };
    let more = Effort { limit: u64::MAX / 2, ..more };
    for (some, known) in follow(&reads, &EFFORT, 2).iter().zip(follow(&reads, &more, 2)) {
        assert!((some.duration / known.duration).ln().abs() < 0.4, "{some:?} {known:?}");
    }
}

#[test]
fn fresh_connections_open_with_every_block() {
    let kept = Read { buffer: 1e9, ..read(4, 0.0) };
    let fresh = Read { fresh: true, ..kept.clone() };
    let last = |read: &Read| run(read, u64::MAX / 2)[9].duration;
    let [kept, first] = [last(&kept), run(&kept, u64::MAX / 2)[0].duration];
    let fresh = last(&fresh);
    assert!(fresh > kept + 20.0, "a handshake and slow start: {fresh} {kept}");
    assert!((fresh - first).abs() < 5.0, "{fresh} {first}");
}

#[test]
fn a_slow_server_takes_its_time_and_a_slow_client_has_no_queue_to_wait_for() {
    let alone = Read { buffer: 1e9, gap: 0.0, ..read(1, 0.0) };
    let slow = Read { slower: 4.0, ..alone.clone() };
    let last = |read: &Read| run(read, u64::MAX / 2)[9].duration;
    let (fast, slow) = (last(&alone), last(&slow));
    assert!((3.8..4.2).contains(&((slow - 20.0) / (fast - 20.0))), "{slow} {fast}");
}

#[test]
fn jitter_and_spread_delay_a_block_and_mix_its_packets() {
    let plain = Read { buffer: 1e9, gap: 0.0, ..read(4, 0.0) };
    let late = Read { spread: 500.0, ..plain.clone() };
    let waits = Read { jitter: 500.0, ..plain.clone() };
    let mean =
        |read: &Read| run(read, u64::MAX / 2)[1..].iter().map(|it| it.duration).sum::<f64>() / 9.0;
    let plain = mean(&plain);
    // The largest of four uniform draws is 400 on average.
    assert!((150.0..500.0).contains(&(mean(&late) - plain)));
    assert!((100.0..900.0).contains(&(mean(&waits) - plain)));
}

/// Every recovery completes every block, whatever is lost.
#[test]
fn every_recovery_repairs_what_is_lost() {
    use Repair::{NewReno, Rack, Reno, Sack, Sack1, Tahoe};
    let scarce = read(12, 4.0);
    for repair in [Tahoe, Reno, NewReno, Sack, Sack1, Rack] {
        for is_linux in [false, true] {
            let flavour = Flavour {
                repair,
                counts_packets: is_linux,
                proportional: is_linux,
                examine: if is_linux { Examine::Linux } else { Examine::Never },
                timestamps: is_linux,
                tick: if is_linux { 30.0 } else { 0.0 },
                ..Flavour::LAB
            };
            let blocks = run(&Read { flavour, ..scarce.clone() }, u64::MAX / 2);
            assert_eq!(blocks.len(), 10);
            let timeouts: f64 = blocks.iter().map(|it| it.timeouts).sum();
            assert!((10.0..1000.0).contains(&timeouts), "{repair:?} {is_linux}: {timeouts}");
        }
    }
}

#[test]
fn a_lost_syn_waits_twice_as_long_each_time() {
    let never = Read { fresh: true, gap: 20.0, propagation: 2.0, least_rto: 50.0, ..read(6, 0.0) };
    let found = run(&never, u64::MAX / 2);
    assert!(found.iter().all(|it| it.duration > never.syn_rto), "each block opens anew");
    assert!(found.iter().any(|it| it.duration > 3.0 * never.syn_rto));
}

#[test]
fn tiny_blocks_and_servers_without_a_limit_are_followed() {
    let tiny = Read { segments: 1, blocks: 1, fresh: true, ..read(1, 10.0) };
    let fast = Read { slower: 1e-9, ..read(5, 10.0) };
    let more = Effort { least: u64::MAX / 4, most: u64::MAX / 4, rare: true, ..EFFORT };
    assert!(follow(&[tiny, fast], &more, 2).iter().all(|it| it.duration > 0.0));
}
