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

/// The load that an operation states is that of its messages.
#[test]
fn the_peak_is_that_of_the_steps() {
    let message = serde_json::json!({ "message": 700 });
    let operations: [Box<dyn Collective>; 1] =
        [Box::new(serde_json::from_value::<all_to_all::Params>(message).expect("it is one").0)];
    for operation in operations {
        for ranks in 2..7 {
            let algorithm = operation.algorithm(ranks);
            assert!(algorithm.steps() > 0);
            let steps = (0..algorithm.steps()).map(|step| algorithm.sends(step));
            let steps: Vec<Vec<Message>> = steps.collect();
            let sizes = || steps.iter().flatten().map(|message| message.bytes);
            let fan_in = |step: &Vec<Message>| {
                let to = |rank| step.iter().filter(|message| message.to == rank).count() as u32;
                (0..ranks).map(to).max()
            };
            let found = Peak {
                most: sizes().max().expect("there are messages"),
                least: sizes().min().expect("there are messages"),
                fan_in: steps.iter().filter_map(fan_in).max().expect("there are steps"),
            };
            assert_eq!(operation.peak(ranks), found);
            for message in steps.iter().flatten() {
                assert!(message.from != message.to && message.from.max(message.to) < ranks);
            }
        }
    }
}
