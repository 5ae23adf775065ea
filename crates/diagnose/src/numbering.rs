//! The numbering of a host's IPv4 packets (the identification field), which shows packets that were
//! not seen.
//!
//! Linux counts the packets of each connection, including retransmissions, so a jump is the number
//! of packets that were lost before the vantage point. Other hosts and address translators count
//! all their packets together, draw random numbers, or write zeros (RFC 6864 §4.1). A jump then
//! means nothing. Therefore, the class of every sender is found from all its packets.

use std::collections::BTreeMap;

use incast_capture::read::Address;

/// Largest number of packets that are lost in a row: 1.5 MB of full segments.
const MOST: u16 = 1024;
/// Minimum number of packets whose numbers agree with the bytes seen: `AGREED` in all, and
/// `AGREED_TO_NOT` for each packet whose number does not agree.
const AGREED: u64 = 4;
const AGREED_TO_NOT: u64 = 4;
/// Minimum number of agreeing packets for each jump after a wait. A flow that loses more windows
/// than this allows would hardly send any data.
const AGREED_TO_SILENT: u64 = 2;
/// Minimum number of cases in which a connection has consecutive numbers although another
/// connection of the host has sent in between.
const APART: u64 = 2;
/// If at least this many packets of other connections came since the last packet of a connection,
/// one of these packets may have the skipped number by chance. This packet is then no evidence.
const CROWD: u32 = 1 << 13;

/// The packets that a host's identifications count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The packets of each connection.
    PerConnection,
    /// The packets of all connections of the host, or of all hosts behind a translator.
    PerHost,
    /// No packets, because the identifications are drawn at random.
    Random,
    /// No packets, because the identifications are always the same or missing.
    Zero,
    /// Unknown, because too few packets were seen, or because the identifications may also count
    /// packets outside the capture.
    Unknown,
}

/// The evidence of a host's packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    packets: u64,
    same: u64,
    random: u64,
    /// Number of identifications that were skipped on one connection and seen on another.
    shared: u64,
    /// Number of cases in which a connection has consecutive numbers although another connection
    /// has sent in between.
    apart: u64,
    /// Number of connections whose first number is far from the last number of the host.
    begun_apart: u64,
    /// Number of SYN-ACKs without an identification. In Linux, the counting begins after the
    /// SYN-ACK.
    bare_openings: u64,
    votes: Votes,
    /// The flow that has sent last, and its number.
    last: u32,
    last_id: Option<u16>,
}

impl Host {
    /// The packets that the host's identifications count.
    pub fn class(&self) -> Class {
        let Self { packets, same, random, shared, apart, begun_apart, .. } = *self;
        let Self { bare_openings, votes, .. } = *self;
        if 2 * same > packets {
            return Class::Zero;
        }
        if 4 * random > packets {
            return Class::Random;
        }
        if shared >= 2 && 8 * shared > apart {
            return Class::PerHost;
        }
        let apart = apart.max(begun_apart) >= APART;
        let alone = bare_openings > 0 || apart || votes.matched > 0;
        let enough = votes.good >= AGREED && votes.good >= AGREED_TO_SILENT * votes.silent;
        if alone && enough && votes.good > AGREED_TO_NOT * votes.bad {
            return Class::PerConnection;
        }
        Class::Unknown
    }

    /// Adds the votes of one of the host's connections.
    pub fn add(&mut self, votes: Votes) {
        self.votes.good += votes.good;
        self.votes.bad += votes.bad;
        self.votes.matched += votes.matched;
        self.votes.silent += votes.silent;
    }

    /// Adds a vote that a number agrees with the bytes of its packet.
    pub fn agree(&mut self) {
        self.votes.good += 1;
    }

    /// Notes a SYN-ACK without a number.
    pub fn opened_bare(&mut self) {
        self.bare_openings += 1;
    }
}

/// Counts of votes on whether numbers agree with the bytes seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Votes {
    good: u64,
    bad: u64,
    /// Number of jumps that were exactly as long as the hole in the bytes.
    matched: u64,
    /// Number of jumps after a wait without a hole. Such jumps come from lost windows or from
    /// packets of other connections.
    silent: u64,
}

/// The numbers of the packets of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ids {
    /// The next number, and the last number.
    next: Option<u16>,
    last: u16,
    /// Number of packets in the capture up to the last packet of this direction.
    at: u32,
    /// Number of packets that are missing before packets without data.
    before: u32,
    /// Whether the last number was older than an earlier number.
    late: bool,
    /// Votes that have not been collected yet.
    fresh: Votes,
}

impl Ids {
    /// Whether the last number was older than an earlier number, so that its packet is a copy or
    /// late.
    pub fn is_late(&self) -> bool {
        self.late
    }

    /// Keeps the number of packets that are missing before a packet without data. This number is
    /// reported with the next data.
    pub fn keep(&mut self, missing: u32) {
        self.before += missing;
    }

    /// Whether packets are missing before packets without data.
    pub fn keeps(&self) -> bool {
        self.before > 0
    }

    /// Returns the kept number, and sets it to zero.
    pub fn kept(&mut self) -> u32 {
        std::mem::take(&mut self.before)
    }

    /// Adds a vote. `good` is true if a number agrees with the bytes of its packet.
    pub fn vote(&mut self, good: bool) {
        self.fresh.good += u64::from(good);
        self.fresh.bad += u64::from(!good);
    }

    /// Notes a jump that was exactly as long as the hole in the bytes.
    pub fn matches(&mut self) {
        self.fresh.matched += 1;
    }

    /// Notes that numbers are missing after a wait, but no bytes are missing.
    pub fn is_silent(&mut self) {
        self.fresh.silent += 1;
    }

    /// The votes since they were last collected.
    pub fn collect(&mut self) -> Votes {
        std::mem::take(&mut self.fresh)
    }
}

/// All hosts of a point, and the last flow that used each number.
#[derive(Debug, Default)]
pub struct Numbering {
    places: BTreeMap<Address, usize>,
    hosts: Vec<Host>,
    /// For each number, the number of packets in the capture at its last use, and the flow.
    used: Vec<(u32, u32)>,
    count: u32,
}

impl Numbering {
    /// The index of a host.
    pub fn place(&mut self, address: Address) -> usize {
        let next = self.hosts.len();
        let place = *self.places.entry(address).or_insert(next);
        if place == next {
            self.hosts.push(Host::default());
        }
        place
    }

    /// The host at an index.
    pub fn host(&mut self, place: usize) -> &mut Host {
        &mut self.hosts[place]
    }

    /// Takes a packet of `segments` segments on a flow of the host at `place`. Returns the number
    /// of packets that are missing before this packet. Returns `None` for the flow's first packet,
    /// for a number far from the last number, and if at least half of the missing numbers were seen
    /// on other flows.
    pub fn take(
        &mut self,
        (place, flow): (usize, u32),
        ids: &mut Ids,
        id: u16,
        segments: u32,
    ) -> Option<u32> {
        if self.take_next((place, flow), ids, id, segments) {
            return Some(0);
        }
        if self.used.is_empty() {
            self.used = vec![(0, u32::MAX); 1 << 16];
        }
        self.count = self.count.wrapping_add(1);
        let host = &mut self.hosts[place];
        host.packets += 1;
        host.last = flow;
        let last_of_host = host.last_id.replace(id);
        let (since, before) = (ids.at, ids.last);
        let next = ids.next;
        let following = id.wrapping_add(segments.max(1) as u16);
        self.used[usize::from(id)] = (self.count, flow);
        ids.at = self.count;
        ids.last = id;
        ids.late = false;
        let Some(next) = next else {
            ids.next = Some(following);
            host.same += u64::from(id == 0);
            let far = |last: u16| (MOST..u16::MAX - MOST).contains(&id.wrapping_sub(last));
            host.begun_apart +=
                u64::from(id != 0 && last_of_host.is_some_and(|last| last != 0 && far(last)));
            return None;
        };
        if id == before {
            host.same += 1;
            ids.next = Some(following);
            return None;
        }
        let missing = id.wrapping_sub(next);
        ids.late = missing > u16::MAX - MOST && 8 * host.random < host.packets;
        if missing > MOST {
            if missing < u16::MAX - MOST {
                host.random += 1;
                ids.next = Some(following);
            }
            return None;
        }
        ids.next = Some(following);
        if host.class() == Class::Random {
            return None;
        }
        let passed = self.count.wrapping_sub(since);
        let elsewhere = (0..missing).filter(|step| {
            let (at, other) = self.used[usize::from(next.wrapping_add(*step))];
            other != flow && other != u32::MAX && self.count.wrapping_sub(at) < passed
        });
        if passed < CROWD && 2 * elsewhere.count() >= usize::from(missing) {
            self.hosts[place].shared += 1;
            return None;
        }
        Some(missing.into())
    }

    /// Takes a packet if it has the next number of its flow, and returns whether it has.
    pub fn take_next(
        &mut self,
        (place, flow): (usize, u32),
        ids: &mut Ids,
        id: u16,
        segments: u32,
    ) -> bool {
        // A number that does not change counts nothing.
        if ids.next != Some(id) || ids.last == id {
            return false;
        }
        let Some(used) = self.used.get_mut(usize::from(id)) else { return false };
        self.count = self.count.wrapping_add(1);
        let host = &mut self.hosts[place];
        host.packets += 1;
        host.apart += u64::from(host.last != flow);
        host.last = flow;
        host.last_id = Some(id);
        *used = (self.count, flow);
        let next = Some(id.wrapping_add(segments.max(1) as u16));
        *ids = Ids { next, last: id, at: self.count, late: false, ..*ids };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(numbering: &mut Numbering, place: usize) -> Class {
        numbering.host(place).class()
    }

    /// Takes packets of flows of one host, and votes as if no byte were missing.
    fn give(packets: &[(u32, u16)]) -> (Numbering, usize, Vec<Option<u32>>) {
        let mut numbering = Numbering::default();
        let place = numbering.place(Address::v4([10, 0, 0, 1]));
        let mut flows = [Ids::default(); 4];
        let mut told = Vec::new();
        for &(flow, id) in packets {
            let ids = &mut flows[flow as usize];
            let missing = numbering.take((place, flow), ids, id, 1);
            if let Some(missing) = missing {
                ids.vote(missing == 0);
            }
            numbering.host(place).add(ids.collect());
            told.push(missing);
        }
        (numbering, place, told)
    }

    #[test]
    fn a_jump_is_a_loss_where_each_connection_counts() {
        let both = |n: u16| [(0, n.wrapping_sub(3)), (1, 500 + n)];
        let (mut numbering, place, _) = give(&(0..8).flat_map(both).collect::<Vec<_>>());
        assert_eq!(class(&mut numbering, place), Class::PerConnection);
        let mut ids = Ids::default();
        assert_eq!(numbering.take((place, 2), &mut ids, 7, 1), None, "nothing is before it");
        assert_eq!(numbering.take((place, 2), &mut ids, 11, 2), Some(3));
        assert_eq!(numbering.take((place, 2), &mut ids, 13, 1), Some(0));
        assert_eq!(numbering.take((place, 2), &mut ids, 12, 1), None, "it comes late");
        assert_eq!(numbering.take((place, 2), &mut ids, 14, 1), Some(0));
    }

    #[test]
    fn what_is_seen_on_another_connection_is_not_missing() {
        let packets: Vec<_> = (0..12_u16).map(|n| (u32::from(n / 2 % 2), 100 + n)).collect();
        let (mut numbering, place, told) = give(&packets);
        assert!(told.iter().flatten().all(|&missing| missing == 0));
        assert_eq!(class(&mut numbering, place), Class::PerHost);
    }

    #[test]
    fn consecutive_numbers_of_one_connection_do_not_say_who_else_counts() {
        let packets: Vec<_> = (0..50_u16).map(|n| (0, n)).collect();
        let (mut numbering, place, _) = give(&packets);
        assert_eq!(class(&mut numbering, place), Class::Unknown);
        numbering.host(place).opened_bare();
        assert_eq!(class(&mut numbering, place), Class::PerConnection);
    }

    #[test]
    fn a_host_whose_connections_begin_far_apart_counts_each() {
        let begun = |starts: [u16; 3]| {
            let packets = (0..3).flat_map(|flow| {
                (0..6_u16).map(move |n| (flow, starts[flow as usize].wrapping_add(n)))
            });
            let (mut numbering, place, _) = give(&packets.collect::<Vec<_>>());
            class(&mut numbering, place)
        };
        assert_eq!(begun([100, 40_000, 9_000]), Class::PerConnection);
        assert_eq!(begun([100, 40_000, 40_100]), Class::Unknown, "once may be a pause");
        assert_eq!(begun([65_530, 200, 400]), Class::Unknown);
    }

    #[test]
    fn steps_of_two_zeros_and_random_numbers_count_nothing() {
        let steps: Vec<_> = (0..50_u16).map(|n| (0, 2 * n)).collect();
        let (mut numbering, place, _) = give(&steps);
        numbering.host(place).opened_bare();
        assert_eq!(class(&mut numbering, place), Class::Unknown);
        let (mut numbering, place, _) = give(&[(0, 0); 8]);
        assert_eq!(class(&mut numbering, place), Class::Zero);
        let random = [7, 40000, 3, 20000, 9, 60000, 11, 5].map(|id| (0, id));
        let (mut numbering, place, _) = give(&random);
        assert_eq!(class(&mut numbering, place), Class::Random);
    }

    fn host(packets: u64) -> Host {
        Host { packets, ..Host::default() }
    }

    #[test]
    fn a_class_needs_its_share_of_the_packets() {
        let same = |same| Host { same, ..host(10) }.class();
        assert_eq!([same(5), same(6)], [Class::Unknown, Class::Zero]);
        let random = |random| Host { random, ..host(8) }.class();
        assert_eq!([random(2), random(3)], [Class::Unknown, Class::Random]);
        let shared = |shared, apart| Host { shared, apart, ..host(100) }.class();
        assert_eq!([shared(1, 0), shared(2, 15)], [Class::Unknown, Class::PerHost]);
        assert_eq!(shared(2, 16), Class::Unknown);
    }

    #[test]
    fn a_host_counts_connections_if_something_shows_it_and_enough_votes_agree() {
        let of = |good, bad, silent| Votes { good, bad, silent, matched: 0 };
        let class = |votes| Host { votes, apart: 2, ..host(100) }.class();
        let (yes, no) = (Class::PerConnection, Class::Unknown);
        assert_eq!([class(of(4, 0, 0)), class(of(3, 0, 0))], [yes, no]);
        assert_eq!([class(of(8, 1, 0)), class(of(8, 2, 0)), class(of(9, 2, 0))], [yes, no, yes]);
        assert_eq!([class(of(8, 0, 4)), class(of(8, 0, 5))], [yes, no]);
        let shown = |it: Host| Host { votes: of(9, 0, 0), packets: 100, ..it }.class();
        assert_eq!(shown(Host { apart: 1, ..host(0) }), no);
        assert_eq!(shown(Host { begun_apart: 1, ..host(0) }), no);
        assert_eq!(shown(Host { begun_apart: 2, ..host(0) }), yes);
        assert_eq!(shown(Host { bare_openings: 1, ..host(0) }), yes);
        let votes = Votes { matched: 1, ..of(9, 0, 0) };
        assert_eq!(Host { votes, ..host(100) }.class(), yes);
    }

    #[test]
    fn votes_are_collected_once_and_add_up() {
        let mut ids = Ids::default();
        ids.vote(true);
        ids.vote(true);
        ids.vote(false);
        ids.matches();
        ids.is_silent();
        let mut host = host(1);
        host.add(ids.collect());
        host.add(ids.collect());
        ids.vote(true);
        host.add(ids.collect());
        let Votes { good, bad, matched, silent } = host.votes;
        assert_eq!((good, bad, matched, silent), (3, 1, 1, 1));
        ids.keep(3);
        ids.keep(4);
        assert_eq!((ids.kept(), ids.kept()), (7, 0));
    }

    /// Takes the numbers 100, `id` and `id` + 1 on a lone connection. Returns the result for `id`,
    /// whether `id` counts as late, and the result for `id` + 1.
    fn behind(id: u16, segments: u32) -> (Option<u32>, bool, Option<u32>) {
        let mut numbering = Numbering::default();
        let place = numbering.place(Address::v4([10, 0, 0, 1]));
        let mut ids = Ids::default();
        numbering.take((place, 0), &mut ids, 100, segments);
        let missing = numbering.take((place, 0), &mut ids, id, 1);
        let late = ids.is_late();
        (missing, late, numbering.take((place, 0), &mut ids, id.wrapping_add(1), 1))
    }

    #[test]
    fn a_number_says_how_many_are_missing_up_to_a_limit() {
        assert_eq!(behind(101, 1), (Some(0), false, Some(0)));
        assert_eq!(behind(103, 3), (Some(0), false, Some(0)), "it was three segments");
        assert_eq!(behind(102, 0), (Some(1), false, Some(0)), "one at least");
        assert_eq!(behind(101 + 1024, 1), (Some(1024), false, Some(0)));
        assert_eq!(behind(101 + 1025, 1).0, None);
        assert_eq!(behind(100, 1), (None, false, Some(0)), "the same");
        assert_eq!(behind(99, 1), (None, true, None), "a late one");
        let first = 101_u16.wrapping_sub(1024);
        assert_eq!((behind(first, 1).1, behind(first.wrapping_sub(1), 1).1), (true, false));
    }

    #[test]
    fn half_of_the_missing_numbers_must_have_been_seen_elsewhere_meanwhile() {
        let missing = |others: &[u16]| {
            let mut numbering = Numbering::default();
            let place = numbering.place(Address::v4([10, 0, 0, 1]));
            let (mut own, mut other) = (Ids::default(), Ids::default());
            // The number 103 was seen before the connection's last packet, so it is no evidence.
            numbering.take((place, 1), &mut other, 103, 1);
            numbering.take((place, 0), &mut own, 100, 1);
            for id in others {
                numbering.take((place, 1), &mut other, *id, 1);
            }
            let missing = numbering.take((place, 0), &mut own, 105, 1);
            (missing, numbering.host(place).shared)
        };
        assert_eq!(missing(&[]), (Some(4), 0));
        assert_eq!(missing(&[101]), (Some(4), 0));
        assert_eq!(missing(&[101, 102]), (None, 1));
        assert_eq!(missing(&[101, 104]), (None, 1));
        assert_eq!(missing(&[100, 105]), (Some(4), 0), "none of them is missing");
    }
}
