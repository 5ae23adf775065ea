//! Equations (2) to (12) of Osada et al., in integers.
//!
//! B, the bandwidth-delay product in packets, is a fraction. The methods round B up where the paper
//! does. Where the printed text contradicts its own numbers, the code follows the numbers, and a
//! comment says so.

use incast_engine::{Rate, Span};

/// The path between the client and any server. All servers have equal links and equal round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// V, rate of the client's link.
    pub rate: Rate,
    /// `BaseRTT`: round trip of one full packet on the idle network, serialisation included.
    pub base_rtt: Span,
    /// Payload of a full packet, bytes.
    pub mss: u32,
    /// Header of a full packet, bytes (40 in the paper).
    pub header: u32,
}

/// Connections that are open together, and the window of each connection (equations 9 and 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// `n_min`.
    pub connections: u64,
    /// `wnd_pkt`, packets.
    pub window: u64,
}

/// A smaller window cannot cause three duplicate ACKs (equation 9, case b).
const SMALLEST_WINDOW: u64 = 4;
/// Bits per byte times picoseconds per second.
const BIT_PICOS: u128 = 8_000_000_000_000;

impl Path {
    /// Equation (2): B as numerator and denominator.
    fn product(&self) -> (u128, u128) {
        let bits = u128::from(self.rate.0) * u128::from(self.base_rtt.as_picos());
        (bits, u128::from(self.packet()) * BIT_PICOS)
    }

    /// A full packet, bytes.
    fn packet(&self) -> u64 {
        u64::from(self.mss) + u64::from(self.header)
    }

    fn packet_time(&self) -> Span {
        self.rate.transmission_time(self.packet())
    }

    fn packets_of(&self, sru: u64) -> u64 {
        sru.div_ceil(u64::from(self.mss))
    }

    /// `BaseBDP`, bytes.
    pub fn product_bytes(&self) -> u64 {
        self.bytes_in(self.base_rtt)
    }

    /// Bytes that the link transmits in `span`.
    pub fn bytes_in(&self, span: Span) -> u64 {
        (u128::from(self.rate.0) * u128::from(span.as_picos()) / BIT_PICOS) as u64
    }

    /// ⌈B⌉ (equation 2), packets, at least 1.
    pub fn product_packets(&self) -> u64 {
        let (bits, packet) = self.product();
        (bits.div_ceil(packet) as u64).max(1)
    }

    /// ⌈log₂ B⌉, which equals ⌈log₂ ⌈B⌉⌉. A window that starts at two does not grow if B is below
    /// two, so B counts as at least two.
    fn doublings(&self) -> u32 {
        self.product_packets().max(2).next_power_of_two().trailing_zeros()
    }

    /// m (equation 3): round trips until the window exceeds B, including the round trip of the
    /// handshake.
    pub fn rounds(&self) -> u32 {
        self.doublings() + 1
    }

    /// Packets sent in round trips 2 to `last`: ∑ 2^(i-1).
    const fn sent_until(last: u32) -> u64 {
        (1_u64 << last).saturating_sub(2)
    }

    /// `T_1` (equation 4): time from the SYN-ACK's departure until the window reaches B. The first
    /// ACK of round m arrives one packet time after the beginning of the round, and the ACKs of the
    /// round are counted from this arrival.
    pub fn ramp(&self) -> Span {
        let m = self.rounds();
        let grown = self.product_packets().saturating_sub(1 << (m - 2));
        self.base_rtt * u64::from(m - 1) + self.packet_time() * grown
    }

    /// Equation (6): whether an SRU is long enough for its window to reach B.
    pub fn ramps(&self, sru: u64) -> bool {
        let m = self.rounds();
        let before = Self::sent_until(m - 2);
        self.packets_of(sru) + (1 << (m - 2)) >= self.product_packets() + before
    }

    /// `T_2` (equation 5): time from the end of `T_1` until the last packet. `None` if the window
    /// does not reach B.
    pub fn plateau(&self, sru: u64) -> Option<Span> {
        let sent = Self::sent_until(self.rounds() - 1);
        let rest = self.packets_of(sru).saturating_sub(sent);
        self.ramps(sru).then(|| self.packet_time() * rest)
    }

    /// Equations (8) to (10): the smallest set of connections whose `T_2` lasts at least two `T_1`,
    /// and the window with which the set fills the link. Equation (7) is the case of one
    /// connection.
    pub fn set(&self, sru: u64) -> Set {
        let (bits, packet) = self.product();
        let up = u128::from(self.product_packets());
        let needed = 2 * bits * u128::from(self.doublings()) + (2 * up - 2) * packet;
        let per_connection = u128::from(self.packets_of(sru).max(1)) * packet;
        let connections = needed.div_ceil(per_connection).max(1);
        if bits >= u128::from(SMALLEST_WINDOW) * connections * packet {
            let window = bits.div_ceil(connections * packet) as u64;
            return Set { connections: connections as u64, window };
        }
        let connections = self.product_packets().div_ceil(SMALLEST_WINDOW);
        Set { connections, window: SMALLEST_WINDOW }
    }

    /// `Q_max` (equation 11): packets in the client's port while two sets are open.
    pub fn peak_queue(&self, set: Set) -> u64 {
        (2 * set.connections * set.window).saturating_sub(self.product_packets())
    }

    /// Equation (12), with the factor 8 that the printed equation lacks: the completion time of a
    /// block from `servers` servers on a link that is always busy.
    pub fn ideal_completion(&self, servers: u64, sru: u64) -> Span {
        self.packet_time() * (servers * self.packets_of(sru))
    }

    /// Goodput of a link that is always busy, with this rate of other traffic (§5.1).
    pub fn greatest_goodput(&self, background: Rate) -> Rate {
        let rest = u128::from(self.rate.0.saturating_sub(background.0));
        Rate((rest * u128::from(self.mss) / u128::from(self.packet())) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;

    fn path(gigabits: u64) -> Path {
        Path {
            rate: Rate(gigabits * 1_000_000_000),
            base_rtt: Span::from_micros(100),
            mss: 1460,
            header: 40,
        }
    }

    /// A path whose bandwidth-delay product is `tenths` tenths of a packet.
    fn path_of(tenths: u64) -> Path {
        let packet_time = path(1).packet_time();
        Path { base_rtt: packet_time * tenths / 10, ..path(1) }
    }

    #[test]
    fn equations_2_and_3_the_product_is_9_and_84_packets() {
        assert_eq!((path(1).product_bytes(), path(1).product_packets()), (12_500, 9));
        assert_eq!((path(10).product_bytes(), path(10).product_packets()), (125_000, 84));
        assert_eq!((path(1).rounds(), path(10).rounds()), (5, 8));
    }

    #[test]
    fn equations_2_and_3_with_links_of_25_us_the_product_is_11_and_86_packets() {
        for (gigabits, nanos, packets) in [(1, 124_640, 11), (10, 102_464, 86)] {
            let path = Path { base_rtt: Span::from_nanos(nanos), ..path(gigabits) };
            assert_eq!(path.product_packets(), packets);
        }
    }

    #[test]
    fn equation_4_the_ramp_takes_412_and_724_us() {
        assert_eq!(path(1).ramp(), Span::from_micros(412));
        assert_eq!(path(10).ramp(), Span::from_micros(724));
    }

    /// The paper gives about 360 us for 64 KB. This is the value for 64 000 bytes, but 1 KB is 1024
    /// bytes in the paper (§3).
    #[test]
    fn equation_5_the_plateau_of_64_kb_takes_372_us_and_of_64_000_bytes_360() {
        assert_eq!(path(1).plateau(64 * KIB), Some(Span::from_micros(372)));
        assert_eq!(path(1).plateau(64_000), Some(Span::from_micros(360)));
    }

    #[test]
    fn equation_6_the_least_sru_is_9_kb_at_1_gbps_and_116_kb_at_10() {
        let least = |path: Path| (1..200).find(|kilobytes| path.ramps(kilobytes * KIB));
        assert_eq!((least(path(1)), least(path(10))), (Some(9), Some(116)));
        assert_eq!(path(1).plateau(8 * KIB), None);
    }

    #[test]
    fn equation_6_of_figure_3_four_packets_are_too_few_and_five_are_enough() {
        let path = path_of(65);
        assert_eq!((path.rounds(), path.product_packets()), (4, 7));
        assert!(!path.ramps(4 * 1460));
        assert!(path.ramps(5 * 1460));
        // The window is full at the third ACK of the fourth round trip, because 7 - 4 = 3.
        assert_eq!(path.ramp(), path.base_rtt * 3 + path.packet_time() * 3);
    }

    /// Equation (7): `T_2` ≥ 2 `T_1` holds from 83 packets on at 1 Gbps, and from 1333 on at 10
    /// Gbps.
    #[test]
    fn equations_7_and_8_one_connection_is_enough_where_the_plateau_lasts_two_ramps() {
        for (path, least) in [(path(1), 83), (path(10), 1333)] {
            for packets in 12..2000 {
                let sru = packets * 1460;
                let enough = path.plateau(sru).is_some_and(|plateau| plateau >= path.ramp() * 2);
                assert_eq!(enough, packets >= least, "{packets} packets");
                assert_eq!(path.set(sru).connections == 1, enough, "{packets} packets");
            }
        }
    }

    #[test]
    fn equations_8_to_11_three_windows_of_4_at_1_gbps_and_four_of_21_at_10() {
        let small = path(1).set(32 * KIB);
        assert_eq!(small, Set { connections: 3, window: 4 });
        assert_eq!(path(1).peak_queue(small), 15);
        let large = path(10).set(512 * KIB);
        assert_eq!(large, Set { connections: 4, window: 21 });
        assert_eq!(path(10).peak_queue(large), 84);
    }

    /// The paper's simulations report queues of 13 and 90 packets. Equation (11) gives these
    /// numbers for links of 25 us, but not for the round trip of 100 us in the paper's table 1.
    #[test]
    fn equation_11_with_links_of_25_us_is_13_and_90() {
        for (gigabits, nanos, sru, peak) in [(1, 124_640, 32, 13), (10, 102_464, 512, 90)] {
            let path = Path { base_rtt: Span::from_nanos(nanos), ..path(gigabits) };
            assert_eq!(path.peak_queue(path.set(sru * KIB)), peak);
        }
    }

    #[test]
    fn equation_12_eight_servers_of_32_kb_take_2208_us() {
        assert_eq!(path(1).ideal_completion(8, 32 * KIB), Span::from_micros(2208));
    }

    /// With a background of 1 Mbps, 972 Mbps are left. In the paper, 0.1 % of 1 Gbps is 10 Mbps,
    /// which is wrong.
    #[test]
    fn section_5_1_the_greatest_goodput_is_972_mbps() {
        assert_eq!(path(1).greatest_goodput(Rate(1_000_000)), Rate(972_360_000));
    }

    /// Appendix A limits the queue to 3 B. From B = 9 on, the queue reaches at most two thirds of
    /// this bound. Below B = 2 the bound is wrong.
    #[test]
    fn appendix_a_the_bound_of_three_products_is_loose_from_9_packets_on_and_wrong_below_2() {
        let worst = |from: u64, to: u64| {
            (from..=to)
                .flat_map(|packets| (1..200).map(move |segments| (packets, segments)))
                .map(|(packets, segments)| {
                    let path = path_of(10 * packets);
                    let peak = path.peak_queue(path.set(segments * 1460));
                    // The queue in ninths of B.
                    (9 * peak / packets, packets)
                })
                .max()
        };
        assert_eq!(worst(9, 300), Some((15, 9)), "8·3 - 9 = 15");
        assert_eq!(worst(1, 8), Some((63, 1)), "8 - 1 = 7");
    }

    /// If B is slightly above 8, a set has three connections with windows of 4 packets.
    #[test]
    fn appendix_a_a_fraction_above_8_packets_reaches_almost_two_products() {
        let path = path_of(81);
        assert_eq!(path.peak_queue(path.set(1460)), 24 - 9);
    }

    #[test]
    fn a_path_shorter_than_a_packet_still_has_a_window() {
        let path = path_of(3);
        assert_eq!((path.product_packets(), path.rounds()), (1, 2));
        assert_eq!(path.ramp(), path.base_rtt);
        assert_eq!(path.set(1460), Set { connections: 1, window: 4 });
    }
}
