//! A buffer that the output ports of a switch share.

use incast_engine::Limit;

use super::alpha::Alpha;
use crate::packets::Occupancy;

/// Index of a pool in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolId(pub u16);

/// The parameters of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Limit of all ports together.
    pub total: Limit,
    /// Dynamic thresholds (Choudhury & Hahne 1998): a queue admits a packet only while it is
    /// shorter than alpha times the free space. With `None`, only the limits of the ports apply.
    pub alpha: Option<Alpha>,
}

/// The space that the output ports of a switch share.
#[derive(Clone, Debug)]
pub struct Pool {
    config: PoolConfig,
    used: Occupancy,
}

impl Pool {
    /// An empty pool.
    pub fn new(config: PoolConfig) -> Self {
        Self { config, used: Occupancy::default() }
    }

    /// The used space.
    pub fn used(&self) -> Occupancy {
        self.used
    }

    /// Whether the pool has space for `packet` in a port whose queue uses the space `queue`.
    pub fn has_room(&self, queue: Occupancy, packet: Occupancy) -> bool {
        let PoolConfig { total, alpha } = self.config;
        if (self.used + packet).exceeds(total) {
            return false;
        }
        alpha.is_none_or(|alpha| match total {
            Limit::Packets(total) => alpha.admits(queue.packets, total - self.used.packets),
            Limit::Bytes(total) => alpha.admits(queue.bytes, total - self.used.bytes),
        })
    }

    /// Allocates `space` to a port.
    pub fn take(&mut self, space: Occupancy) {
        self.used = self.used + space;
    }

    /// Frees `space` that was allocated to a port.
    pub fn give_back(&mut self, space: Occupancy) {
        self.used = self.used - space;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Occupancy = Occupancy { packets: 1, bytes: 1500 };

    /// Fills a pool: `ports` ports enqueue packets in turn until the pool admits no packet. Returns
    /// the queue of each port.
    fn fill(config: PoolConfig, ports: usize) -> Vec<u64> {
        let mut pool = Pool::new(config);
        let mut queues = vec![Occupancy::default(); ports];
        loop {
            let before = pool.used();
            for queue in &mut queues {
                if pool.has_room(*queue, PACKET) {
                    pool.take(PACKET);
                    *queue = *queue + PACKET;
                }
            }
            if pool.used() == before {
                return queues.iter().map(|queue| queue.bytes).collect();
            }
        }
    }

    /// Choudhury & Hahne 1998 §III: with S busy ports, each uses alpha / (1 + S alpha) of the
    /// buffer.
    #[test]
    fn busy_ports_take_equal_shares_and_leave_one() {
        let total = 4_000_000;
        for (numerator, denominator) in [(1, 8), (1, 2), (1, 1), (2, 1), (8, 1)] {
            for ports in 1..=4_u64 {
                let alpha = Alpha::new(numerator, denominator);
                let config = PoolConfig { total: Limit::Bytes(total), alpha };
                let (up, down) = (u64::from(numerator), u64::from(denominator));
                let share = total * up / (down + ports * up);
                for taken in fill(config, ports as usize) {
                    assert!(taken.abs_diff(share) <= 1500, "{ports} ports: {taken}, not {share}");
                }
            }
        }
    }

    #[test]
    fn a_pool_in_packets_counts_packets() {
        let config = PoolConfig { total: Limit::Packets(100), alpha: Some(Alpha::ONE) };
        assert_eq!(fill(config, 1), [50 * 1500]);
    }

    #[test]
    fn without_alpha_the_pool_fills_up_exactly() {
        let config = PoolConfig { total: Limit::Bytes(15_000), alpha: None };
        assert_eq!(fill(config, 1), [15_000]);
        assert_eq!(fill(config, 2), [7_500, 7_500]);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let mut pool = Pool::new(PoolConfig { total: Limit::Packets(1), alpha: None });
        pool.take(PACKET);
        assert!(!pool.has_room(PACKET, PACKET));
        pool.give_back(PACKET);
        assert_eq!(pool.used(), Occupancy::default());
        assert!(pool.has_room(Occupancy::default(), PACKET));
    }
}
