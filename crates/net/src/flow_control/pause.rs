//! Pauses of whole links (IEEE 802.3 annex 31B): a neighbour stops if the switch holds too much of
//! what it has sent, and continues once the switch holds little of it.

use incast_engine::{Fault, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EVERY_CLASS, FlowControl, Ingress, Signal};
use crate::buffer::Pool;

/// Thresholds on the bytes of an input that the switch holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Above this, the neighbour must stop, bytes.
    pub xoff: Size,
    /// At this or below, it may continue, bytes; at most `xoff`.
    pub xon: Size,
}

impl super::Parameters for Params {
    fn check(&self) -> Result<(), Fault> {
        if self.xon.0 > self.xoff.0 {
            let message = format!("{} must be at most xoff, {} bytes", self.xon.0, self.xoff.0);
            return Err(Fault::new("xon", message));
        }
        Ok(())
    }
}

/// See [`Params`].
pub struct Pause {
    params: Params,
}

impl Pause {
    pub(super) fn new(params: &Params) -> Self {
        Self { params: params.clone() }
    }
}

impl FlowControl for Pause {
    fn entered(&mut self, input: &Ingress, _: usize, _: Option<&Pool>) -> Option<Signal> {
        let is_full = input.total().bytes > self.params.xoff.0;
        (is_full && input.stopped == 0).then_some(Signal { classes: EVERY_CLASS, stops: true })
    }

    fn left(&mut self, input: &Ingress, _: usize, _: Option<&Pool>) -> Option<Signal> {
        let has_room = input.total().bytes <= self.params.xon.0;
        (has_room && input.stopped != 0).then_some(Signal { classes: EVERY_CLASS, stops: false })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Parameters as _;
    use super::*;
    use crate::packets::Occupancy;

    fn input(bytes: u64, stopped: u8) -> Ingress {
        let mut input = Ingress { stopped, ..Ingress::default() };
        input.held[0] = Occupancy { packets: 1, bytes: bytes / 2 };
        input.held[3] = Occupancy { packets: 1, bytes: bytes - bytes / 2 };
        input
    }

    #[test]
    fn a_neighbour_stops_above_xoff_and_continues_at_xon() {
        let mut pause = Pause::new(&Params { xoff: Size(9000), xon: Size(3000) });
        let stop = Some(Signal { classes: EVERY_CLASS, stops: true });
        let go = Some(Signal { classes: EVERY_CLASS, stops: false });
        assert_eq!(pause.entered(&input(9000, 0), 0, None), None);
        assert_eq!(pause.entered(&input(9001, 0), 0, None), stop);
        assert_eq!(pause.entered(&input(9500, EVERY_CLASS), 0, None), None, "it was told");
        assert_eq!(pause.left(&input(3001, EVERY_CLASS), 0, None), None);
        assert_eq!(pause.left(&input(3000, EVERY_CLASS), 0, None), go);
        assert_eq!(pause.left(&input(0, 0), 0, None), None, "it was not stopped");
    }

    #[test]
    fn xon_is_at_most_xoff() {
        let fault = Params { xoff: Size(10), xon: Size(11) }.check().expect_err("it is above");
        assert_eq!(
            (&*fault.key, fault.message.as_str()),
            ("xon", "11 must be at most xoff, 10 bytes")
        );
        assert!(Params { xoff: Size(10), xon: Size(10) }.check().is_ok());
    }
}
