//! The distribution of losses. At a full queue, losses come together; on a bad link, they are
//! random.

/// Number of packets in a group of the packets to one host.
const GROUP: u32 = 64;
/// Number of packets in a group of the packets from one host to another.
const OF_HOST: u32 = 16;

/// Smallest number of losses and smallest number of groups that show a distribution.
const LOSSES: u64 = 5;
const GROUPS: u64 = 8;

/// The losses on the way to one host. They are counted per group of successive packets.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// Number of packets in a group.
    size: u32,
    packets: u64,
    lost: u64,
    /// The counts of the current group.
    group: u32,
    here: u32,
    /// The number of full groups, the sum of their losses, and the sum of the squares of their
    /// losses.
    groups: u64,
    sum: f64,
    squares: f64,
}

impl Default for Losses {
    fn default() -> Self {
        Self::in_groups(GROUP)
    }
}

impl Losses {
    fn in_groups(size: u32) -> Self {
        Self { size, packets: 0, lost: 0, group: 0, here: 0, groups: 0, sum: 0.0, squares: 0.0 }
    }

    /// The losses on the way from one host to another.
    pub fn of_host() -> Self {
        Self::in_groups(OF_HOST)
    }

    /// The losses of several hosts together. Groups that are not full count as they are.
    pub fn together<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::of_host(), |mut sum, one| {
            let one = one.whole();
            sum.packets += one.packets;
            sum.lost += one.lost;
            sum.groups += one.groups;
            sum.sum += one.sum;
            sum.squares += one.squares;
            sum
        })
    }

    /// Notes a packet of data.
    pub fn packet(&mut self) {
        self.packets += 1;
        self.group += 1;
        if self.group == self.size {
            self.close();
        }
    }

    /// Notes lost packets.
    pub fn lost(&mut self, packets: u32) {
        self.lost += u64::from(packets);
        self.here = self.here.saturating_add(packets);
    }

    /// Notes that a packet that was taken for lost was only late.
    pub fn found(&mut self) {
        self.lost = self.lost.saturating_sub(1);
        self.here = self.here.saturating_sub(1);
    }

    fn close(&mut self) {
        let here = f64::from(self.here);
        self.groups += 1;
        self.sum += here;
        self.squares += here * here;
        self.group = 0;
        self.here = 0;
    }

    /// These losses, with the group that fills now.
    fn whole(&self) -> Self {
        let mut whole = *self;
        if whole.group > 0 || whole.here > 0 {
            whole.close();
        }
        whole
    }

    /// Number of packets that were seen.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Number of lost packets.
    pub fn count(&self) -> u64 {
        self.lost
    }

    /// The share of lost packets.
    pub fn ratio(&self) -> f64 {
        self.lost as f64 / (self.packets + self.lost).max(1) as f64
    }

    /// Variance over mean of the losses per group. It is 1 if losses are independent, larger if
    /// they come together, and `None` if there are too few losses or groups.
    pub fn dispersion(&self) -> Option<f64> {
        let whole = self.whole();
        let groups = whole.groups as f64;
        let mean = whole.sum / groups.max(1.0);
        if whole.lost < LOSSES || whole.groups < GROUPS {
            return None;
        }
        Some((whole.squares / groups - mean * mean) / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The losses of `groups` groups of packets. Of each `every` groups, the first group loses
    /// `lost` packets.
    fn losses(groups: u32, every: u32, lost: u32) -> Losses {
        let mut losses = Losses::default();
        for number in 0..groups {
            if number % every == 0 {
                losses.lost(lost);
            }
            (0..GROUP).for_each(|_| losses.packet());
        }
        losses
    }

    #[test]
    fn losses_that_come_together_disperse() {
        let spread = losses(16, 1, 2).dispersion().expect("enough");
        assert!(spread < 0.01, "{spread}");
        let together = losses(16, 8, 16).dispersion().expect("enough");
        assert!((together - 14.0).abs() < 0.01, "{together}");
    }

    #[test]
    fn losses_of_several_hosts_are_told_by_their_own_groups() {
        let of = |lost: &[u32]| {
            let mut losses = Losses::of_host();
            for &lost in lost {
                losses.lost(lost);
                (0..OF_HOST).for_each(|_| losses.packet());
            }
            losses
        };
        let hosts = [of(&[1, 1, 1, 1]), of(&[0, 8, 0, 0])];
        let all = Losses::together(hosts.iter());
        assert_eq!((all.packets(), all.count()), (128, 12));
        assert_eq!(all.dispersion(), Some((68.0 / 8.0 - 2.25) / 1.5));
        let mut begun = of(&[0, 8, 0]);
        begun.lost(3);
        let all = Losses::together([begun, of(&[1, 1, 1, 1])].iter());
        assert_eq!(all.dispersion(), Some((77.0 / 8.0 - 1.875 * 1.875) / 1.875), "one is not full");
    }

    #[test]
    fn few_losses_or_packets_show_no_distribution() {
        assert!(losses(8, 1, 1).dispersion().is_some());
        assert!(losses(7, 1, 1).dispersion().is_none(), "seven groups");
        assert!(losses(8, 8, 4).dispersion().is_none(), "four losses");
        assert!(losses(8, 8, 5).dispersion().is_some());
    }

    #[test]
    fn the_group_that_fills_now_counts() {
        let mut losses = losses(7, 1, 1);
        losses.packet();
        assert!(losses.dispersion().is_some());
    }

    #[test]
    fn the_share_is_of_all_that_were_sent() {
        let mut losses = losses(1, 1, 36);
        assert_eq!((losses.count(), losses.ratio()), (36, 0.36));
        losses.found();
        assert_eq!(losses.count(), 35, "one was late");
        assert!(Losses::default().ratio() < 0.01);
    }
}
