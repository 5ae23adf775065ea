//! A discipline's state per flow, stored by flow number, so that no hash table is needed.

/// The flows of a port. The vector is small, because their numbers have no large gaps.
#[derive(Clone, Debug, Default)]
pub struct Flows<T> {
    first: u32,
    flows: Vec<T>,
}

impl<T: Clone + Default> Flows<T> {
    /// The state of a flow, which is added if it is new.
    pub fn entry(&mut self, flow: u32) -> &mut T {
        if self.flows.is_empty() {
            self.first = flow;
        }
        if flow < self.first {
            let before = (flow..self.first).map(|_| T::default());
            self.flows.splice(0..0, before);
            self.first = flow;
        }
        let place = (flow - self.first) as usize;
        if place >= self.flows.len() {
            self.flows.resize(place + 1, T::default());
        }
        &mut self.flows[place]
    }

    /// The state of a known flow.
    pub fn get(&self, flow: u32) -> Option<&T> {
        self.flows.get(flow.checked_sub(self.first)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_what_it_has_whichever_comes_next() {
        let mut flows = Flows::default();
        assert_eq!(flows.get(0), None);
        for flow in [7, 3, 9, 0, 20] {
            assert_eq!(flows.get(flow).copied().unwrap_or_default(), 0);
            *flows.entry(flow) += flow + 1;
        }
        for flow in 0..=20 {
            let expected = if [0, 3, 7, 9, 20].contains(&flow) { flow + 1 } else { 0 };
            assert_eq!(flows.get(flow), Some(&expected), "{flow}");
        }
        assert_eq!(flows.get(21), None);
    }
}
