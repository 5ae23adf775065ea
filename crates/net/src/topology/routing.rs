//! The shortest paths between switches.

use std::collections::VecDeque;

use super::{Fabric, SwitchId};

/// One direction of a trunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Index in [`Fabric::trunks`].
    pub trunk: u32,
    /// Whether the direction is from the trunk's first end to its second end.
    pub onward: bool,
}

/// Distances between switches.
#[derive(Debug)]
pub struct Router {
    /// For each switch, its trunks and the switches at their other ends.
    leaving: Vec<Vec<(Crossing, SwitchId)>>,
    /// Distances in trunks: for each destination, the distance from each switch.
    distances: Vec<Vec<u32>>,
}

/// The distance between two switches that no path connects.
const FAR: u32 = u32::MAX;

impl Router {
    /// The router of a fabric.
    pub fn new(fabric: &Fabric) -> Self {
        let mut leaving = vec![Vec::new(); fabric.switches as usize];
        for (&[one, other], trunk) in fabric.trunks.iter().zip(0..) {
            leaving[one.0 as usize].push((Crossing { trunk, onward: true }, other));
            leaving[other.0 as usize].push((Crossing { trunk, onward: false }, one));
        }
        let distances = (0..fabric.switches).map(|to| distances(&leaving, SwitchId(to))).collect();
        Self { leaving, distances }
    }

    /// Distance between two switches, in trunks.
    pub fn distance(&self, from: SwitchId, to: SwitchId) -> u32 {
        self.distances[to.0 as usize][from.0 as usize]
    }

    /// The largest distance, in trunks.
    pub fn diameter(&self) -> u32 {
        self.distances.iter().flatten().copied().max().unwrap_or(0)
    }

    /// A shortest path between two switches. If there are several shortest paths, `choose` selects
    /// one of the possible trunks at every switch on the path.
    ///
    /// # Panics
    /// Panics if `choose` returns a number that is not below its argument.
    pub fn path(
        &self,
        from: SwitchId,
        to: SwitchId,
        mut choose: impl FnMut(u64) -> u64,
    ) -> Vec<Crossing> {
        let mut at = from;
        let mut path = Vec::new();
        while at != to {
            // The trunks are counted instead of stored in a list, because a fabric has many routes.
            let choice = choose(self.nearer(at, to).count() as u64) as usize;
            let (crossing, next) =
                self.nearer(at, to).nth(choice).expect("the choice is one of the trunks");
            path.push(crossing);
            at = next;
        }
        path
    }

    /// All shortest paths between two switches.
    pub fn paths(&self, from: SwitchId, to: SwitchId) -> Vec<Vec<Crossing>> {
        if from == to {
            return vec![Vec::new()];
        }
        let onward = |(crossing, next)| {
            let rest = self.paths(next, to).into_iter();
            rest.map(move |rest| [crossing].into_iter().chain(rest).collect())
        };
        self.nearer(from, to).flat_map(onward).collect()
    }

    /// The trunks of a switch that reduce the distance to another switch, and the other ends of
    /// these trunks.
    fn nearer(&self, at: SwitchId, to: SwitchId) -> impl Iterator<Item = (Crossing, SwitchId)> {
        let distances = &self.distances[to.0 as usize];
        let here = distances[at.0 as usize];
        let leaving = self.leaving[at.0 as usize].iter();
        leaving.filter(move |(_, next)| distances[next.0 as usize] < here).copied()
    }
}

/// The distance from each switch to `to`, in trunks.
fn distances(leaving: &[Vec<(Crossing, SwitchId)>], to: SwitchId) -> Vec<u32> {
    let mut distances = vec![FAR; leaving.len()];
    distances[to.0 as usize] = 0;
    let mut open = VecDeque::from([to]);
    let mut left = leaving.len() - 1;
    while let Some(at) = open.pop_front() {
        if left == 0 {
            break;
        }
        for (_, next) in &leaving[at.0 as usize] {
            if distances[next.0 as usize] == FAR {
                distances[next.0 as usize] = distances[at.0 as usize] + 1;
                open.push_back(*next);
                left -= 1;
            }
        }
    }
    distances
}
