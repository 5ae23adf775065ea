//! How a window grows that looks at its use.

use super::{RULES, sender_by, sent_by};
use crate::flavour::Flavour;
use crate::packet::NEVER;
use crate::sender::{Parts, Rules, parts};

/// The window after an ACK of `acked` of the segments before `end`, which are sent as far as a
/// window of `sent` allows; they do not time round trips.
fn grown(window: f64, threshold: f64, acked: u32, (sent, end): (f64, u32), rules: &Rules) -> Parts {
    let mut it = sender_by(sent, threshold, rules);
    it.end = end;
    sent_by(&mut it, 0, rules);
    it.window = parts(window);
    it.acknowledge(10, 1 + acked, NEVER, rules);
    it.window
}

#[test]
fn rfc9438_5_8_a_window_grows_where_it_is_used_or_would_be() {
    let flavour = Flavour { watches: true, ..Flavour::LAB };
    let rules = Rules { flavour, most_window: parts(20.0), ..RULES };
    // Beyond the threshold by what is acknowledged, a segment per window.
    assert_eq!(grown(8.0, 4.0, 2, (8.0, 1000), &rules), parts(8.25));
    // Nearly used is used.
    assert_eq!(grown(8.5, 4.0, 2, (8.0, 1000), &rules), parts(8.5) + parts(2.0 / 8.5));
    // There is nothing more to send, and then there is.
    assert_eq!(grown(16.0, 4.0, 2, (16.0, 9), &rules), parts(16.0));
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 10), &rules), parts(16.125));
    // The receiver allows no segment more, and then it does.
    let most = |window| Rules { most_window: parts(window), ..rules };
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 1000), &most(8.9)), parts(16.0));
    assert_eq!(grown(16.0, 4.0, 2, (8.0, 1000), &most(9.0)), parts(16.125));
}

#[test]
fn rfc9438_4_10_slow_start_grows_by_what_is_acknowledged_up_to_the_threshold() {
    let flavour = Flavour { watches: true, ..Flavour::LAB };
    let rules = Rules { flavour, most_window: parts(20.0), ..RULES };
    assert_eq!(grown(8.0, 20.0, 3, (8.0, 1000), &rules), parts(11.0));
    assert_eq!(grown(8.0, 10.0, 3, (8.0, 1000), &rules), parts(10.0));
    assert_eq!(grown(8.0, 8.5, 3, (8.0, 1000), &rules), parts(9.0), "a segment at least");
    assert_eq!(grown(8.0, 20.0, 3, (4.0, 5), &rules), parts(8.0), "and not unused");
}
