//! Full segments do not arrive, although smaller segments do (RFC 2923 §2.1).

use super::{Answer, Seen};

pub const NAME: &str = "mtu_black_hole";

pub fn judge(seen: &Seen) -> Answer {
    let holes = &seen.point.black_holes;
    let certain = holes.iter().find(|hole| hole.certain);
    let Some(hole) = certain.or(holes.first()) else {
        return Answer::new(
            Some(false),
            "",
            "full segments get through on every flow that sends some",
        );
    };
    let why = format!(
        "the full segments of {} flows never arrive, although smaller segments do; see frames {} \
         to {}",
        holes.len(),
        hole.places.0.frame,
        hole.places.1.frame
    );
    Answer::new(certain.map(|_| true), hole.sender.to_string(), why)
}

#[cfg(test)]
mod tests {
    use super::super::tests::told_of;
    use super::*;
    use crate::point::{BlackHole, Point};
    use crate::stall::Place;
    use crate::vantage::Vantage;
    use incast_capture::read::Endpoint;

    #[test]
    fn a_certain_one_decides() {
        let found = |certain: &[bool]| {
            let mut point = Point::new(3);
            let places = (Place::default(), Place::default());
            let hole = |&certain: &bool| BlackHole { sender: Endpoint::default(), certain, places };
            point.black_holes = certain.iter().map(hole).collect();
            told_of(judge, &point, Vantage::Client)
        };
        assert_eq!(found(&[]), Some(false));
        assert_eq!(found(&[false]), None);
        assert_eq!(found(&[false, true]), Some(true));
    }
}
