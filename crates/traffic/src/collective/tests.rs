use std::collections::BTreeSet;

use super::*;

#[test]
fn every_pair_of_ranks_has_a_flow_of_its_own() {
    for ranks in 2..7 {
        let pairs = || (0..ranks).flat_map(|to| (0..ranks).map(move |from| (from, to)));
        let flows: Vec<u32> = pairs()
            .filter(|(from, to)| from != to)
            .map(|(from, to)| flow_of(from, to, ranks))
            .collect();
        // The flows of each receiver are adjacent, in the order of their senders.
        assert_eq!(flows, (0..ranks * (ranks - 1)).collect::<Vec<_>>());
        assert_eq!(flows.iter().collect::<BTreeSet<_>>().len(), flows.len());
    }
}
