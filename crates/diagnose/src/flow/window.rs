//! The window that a receiver advertises: its right edge, and the times in which no segment fits
//! into the window.

use crate::stall::Place;
use crate::time::{Span, Time};

/// The shortest pause that is reported. A shorter pause only lasts until the receiver's next read.
const PAUSE: Span = Span::from_millis(5);

/// A time in which the window was below one segment.
#[derive(Clone, Copy, Debug)]
pub struct Shut {
    pub since: Time,
    pub until: Time,
    /// The packets at the beginning and at the end of this time.
    pub places: (Place, Place),
}

/// The window of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// The receiver's window scale, or `None` before the receiver's SYN.
    pub(super) scale: Option<u8>,
    pub(super) size: i64,
    pub(super) most: i64,
    /// The first byte that must not be sent.
    pub(super) edge: i64,
    pub(super) shut: Option<(Time, Place)>,
    /// The time at which the window last closed, and the time at which it opened again.
    opened: Option<(Time, Time)>,
}

impl Window {
    /// Notes the window scale in the receiver's SYN. `None` means that the SYN has no such option.
    pub fn shift(&mut self, scale: Option<u8>) {
        self.scale = scale.or(Some(0));
    }

    /// The largest window that was offered.
    pub fn most(&self) -> i64 {
        self.most
    }

    /// The first byte that must not be sent.
    pub fn edge(&self) -> i64 {
        self.edge
    }

    /// Largest number of segments that the window lets through, if a window was offered.
    pub fn room(&self, una: i64, segment: i64) -> Option<i64> {
        (self.most > 0).then(|| (self.edge - una).max(self.most) / segment)
    }

    /// Notes a packet that offers a window from byte `ack` on. If the packet ends a pause, returns
    /// this pause. `segment` is the usual length of a segment. `used_up` is the time since which
    /// the previous window has been used up, and `now` is the current time. `ends` is true if no
    /// later packet will offer a window.
    pub fn offer(
        &mut self,
        (raw, ack): (u16, i64),
        segment: i64,
        [used_up, (now, place)]: [(Time, Place); 2],
        ends: bool,
    ) -> Option<Shut> {
        self.size = i64::from(raw) << self.scale.unwrap_or(0);
        self.most = self.most.max(self.size);
        self.edge = self.edge.max(ack + self.size);
        // If the window scale is not known, only a window of zero has a known size.
        let small = self.scale.is_some() && self.size < segment && self.most >= segment;
        if (raw == 0 || small) && !ends {
            self.shut.get_or_insert(used_up);
            return None;
        }
        let (since, before) = self.shut.take()?;
        self.opened = Some((since, now));
        (now - since >= PAUSE).then_some(Shut { since, until: now, places: (before, place) })
    }

    /// Notes the window of a SYN, which is never scaled (RFC 7323 §2.2).
    pub fn opens(&mut self, raw: u16) {
        self.size = raw.into();
        self.edge = self.edge.max(self.size);
    }

    /// Whether the window lets no segment through.
    pub fn is_shut(&self) -> bool {
        self.shut.is_some()
    }

    /// The pause that lasts to the end of the capture.
    pub fn at_end(&mut self, now: Time, place: Place) -> Option<Shut> {
        let (since, before) = self.shut.take()?;
        (now - since >= PAUSE).then_some(Shut { since, until: now, places: (before, place) })
    }

    /// Whether the window was closed at a time after `start`.
    pub fn was_shut(&self, start: Time) -> bool {
        self.is_shut() || self.opened.is_some_and(|(_, until)| until > start)
    }

    /// Whether segments up to `top` have used up the window.
    pub fn used_up(&self, top: i64, segment: i64) -> bool {
        self.size > 0 && top + segment > self.edge
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::tests::{MS, at};

    #[test]
    fn a_window_below_a_segment_is_a_pause_as_a_closed_one_is() {
        let mut window = Window { scale: Some(0), ..Window::default() };
        let place = Place::default();
        let mut offer =
            |raw, ms: i64| window.offer((raw, 0), 1460, [(at(0) + ms * MS, place); 2], false);
        assert!(offer(5000, 0).is_none());
        assert!(offer(628, 10).is_none());
        assert!(offer(0, 20).is_none());
        assert_eq!(offer(4724, 1210).map(|shut| shut.until - shut.since), Some(1200 * MS));
        assert!(offer(0, 1300).is_none());
        assert!(offer(5000, 1304).is_none(), "as short as a read");
        assert!(window.was_shut(at(0) + 1303 * MS) && !window.was_shut(at(0) + 1305 * MS));
    }

    #[test]
    fn without_its_shift_a_small_number_says_nothing() {
        let mut window = Window::default();
        let place = Place::default();
        window.offer((5000, 0), 1460, [(at(0), place); 2], false);
        window.offer((501, 0), 1460, [(at(1), place); 2], false);
        assert!(!window.is_shut());
        window.offer((0, 0), 1460, [(at(2), place); 2], false);
        assert_eq!(window.at_end(at(0) + 40 * MS, place).map(|shut| shut.since), Some(at(2)));
    }

    fn here(nanos: i64) -> [(Time, Place); 2] {
        [(at(nanos), Place::default()); 2]
    }

    #[test]
    fn a_window_is_shifted_as_the_syn_said_and_has_an_edge() {
        let mut window = Window::default();
        window.opens(600);
        assert_eq!((window.edge(), window.most()), (600, 0));
        window.shift(Some(3));
        window.offer((500, 1000), 1000, here(0), false);
        assert_eq!((window.edge(), window.most()), (5000, 4000));
        window.offer((400, 1000), 1000, here(0), false);
        assert_eq!((window.edge(), window.most()), (5000, 4000), "it does not shrink");
        let mut plain = Window::default();
        plain.shift(None);
        plain.offer((500, 0), 1000, here(0), false);
        plain.shift(Some(2));
        assert_eq!(plain.most(), 500);
    }

    #[test]
    fn the_room_is_what_lies_before_the_edge_or_the_largest_offer() {
        let mut window = Window { scale: Some(0), ..Window::default() };
        assert_eq!(window.room(0, 1000), None);
        window.offer((5000, 3000), 1000, here(0), false);
        assert_eq!([0, 1000, 3000, 9000].map(|una| window.room(una, 1000)), [8, 7, 5, 5].map(Some));
    }

    #[test]
    fn a_window_of_less_than_a_segment_is_shut_if_one_had_fitted() {
        let shut = |most, raw, ends| {
            let mut window = Window { scale: Some(0), ..Window::default() };
            window.offer((most, 0), 1000, here(0), false);
            window.offer((raw, 0), 1000, here(1), ends);
            window.is_shut()
        };
        assert!(shut(1000, 999, false) && !shut(1000, 1000, false) && !shut(999, 998, false));
        assert!(shut(999, 0, false) && !shut(5000, 0, true), "a last one says nothing");
    }

    #[test]
    fn a_pause_is_five_milliseconds_long() {
        let pause = |length: Span, ended: bool| {
            let mut window = Window { scale: Some(0), ..Window::default() };
            window.offer((0, 0), 1000, here(0), false);
            let now = (at(0) + length, Place::default());
            if ended {
                window.offer((9, 0), 1000, [now; 2], false)
            } else {
                window.at_end(now.0, now.1)
            }
        };
        for ended in [false, true] {
            assert!(pause(PAUSE, ended).is_some());
            assert!(pause(PAUSE - Span::from_nanos(1), ended).is_none());
        }
        let mut window = Window { scale: Some(0), ..Window::default() };
        window.offer((0, 0), 1000, here(5), false);
        window.offer((9, 0), 1000, here(50), false);
        assert!(window.was_shut(at(49)) && !window.was_shut(at(50)));
    }

    #[test]
    fn a_window_is_used_up_if_no_segment_fits_behind_the_last() {
        let mut window = Window { scale: Some(0), ..Window::default() };
        assert!(!window.used_up(0, 1000), "none was offered");
        window.offer((5000, 0), 1000, here(0), false);
        assert!(window.used_up(4001, 1000) && !window.used_up(4000, 1000));
    }
}
