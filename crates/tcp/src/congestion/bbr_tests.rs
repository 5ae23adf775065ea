use super::super::law_tests::PATH;
use super::*;
use crate::congestion::{Congestion, CongestionControl, RecoveryExit};

const SEGMENT: u64 = 1000;
const RTT: Span = Span::from_millis(10);
/// 10 Mb/s: a bandwidth-delay product of 12 500 bytes.
const RATE: Rate = Rate(10_000_000);

/// A path that delivers 12 segments every 10 ms, regardless of what is sent.
struct Pipe {
    bbr: Bbr,
    path: PathView,
    delivered: u64,
    /// Segments declared lost so far.
    lost: u64,
}

impl Pipe {
    fn new(params: &Params) -> Self {
        let path = PathView { srtt: Some(RTT), min_rtt: Some(RTT), ..PATH };
        Self { bbr: Bbr::new(params, 10 * SEGMENT, 0), path, delivered: 0, lost: 0 }
    }

    /// Handles an ACK of a round's data, with a sample of `rate`, after which `in_flight` bytes are
    /// in flight.
    fn round(&mut self, rate: Rate, in_flight: u64, rtt: Span) {
        self.round_with(Some(rate), in_flight, rtt);
    }

    fn round_with(&mut self, rate: Option<Rate>, in_flight: u64, rtt: Span) {
        let prior = self.delivered;
        self.delivered += 12 * SEGMENT;
        self.path.now += RTT;
        self.path.una += 12 * SEGMENT;
        self.path.max = self.path.una + in_flight;
        self.path.flight = in_flight;
        let delivery = Delivery {
            delivered: self.delivered,
            newly: 12 * SEGMENT,
            in_flight,
            losses: 0,
            lost: self.lost,
            prior_delivered: Some(prior),
            rate,
            app_limited: false,
            unnamed: false,
        };
        let ack = AckSample {
            acked: 12 * SEGMENT,
            rtt: Some(rtt),
            may_grow: true,
            delivery: Some(delivery),
            ..AckSample::default()
        };
        self.bbr.on_ack(&ack, &self.path);
    }

    fn rounds(&mut self, rounds: u32) {
        (0..rounds).for_each(|_| self.round(RATE, 12 * SEGMENT, RTT));
    }
}

#[test]
fn section_4_3_2_startup_ends_after_three_rounds_without_growth() {
    let mut pipe = Pipe::new(&Params::default());
    for rate in [2_000_000, 4_000_000, 8_000_000] {
        pipe.round(Rate(rate), 30 * SEGMENT, RTT);
        assert_eq!((pipe.bbr.state, pipe.bbr.is_full), (State::Startup, false));
    }
    // The bandwidth grows by a fifth, which is less than a quarter.
    for _ in 0..2 {
        pipe.round(Rate(9_600_000), 30 * SEGMENT, RTT);
        assert_eq!(pipe.bbr.state, State::Startup);
    }
    let Rate(starting) = pipe.bbr.pacing_rate().unwrap();
    assert!((27_695_999..=27_696_000).contains(&starting), "{starting}");
    pipe.round(Rate(9_600_000), 30 * SEGMENT, RTT);
    assert_eq!(pipe.bbr.state, State::Drain);
    let Rate(draining) = pipe.bbr.pacing_rate().unwrap();
    assert!((3_327_000..3_328_000).contains(&draining), "{draining}");
}

#[test]
fn section_4_3_3_drain_ends_when_the_product_is_in_flight() {
    let mut pipe = Pipe::new(&Params::default());
    (0..4).for_each(|_| pipe.round(RATE, 30 * SEGMENT, RTT));
    assert_eq!(pipe.bbr.state, State::Drain);
    pipe.round(RATE, 20 * SEGMENT, RTT);
    assert_eq!(pipe.bbr.state, State::Drain);
    pipe.round(RATE, 12 * SEGMENT, RTT);
    assert_eq!(pipe.bbr.state, State::ProbeBandwidth);
    assert_ne!(pipe.bbr.phase, 1, "no cycle begins with the phase that drains");
}

#[test]
fn section_4_2_3_the_window_is_two_products_and_three_bursts() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    assert_eq!(pipe.bbr.state, State::ProbeBandwidth);
    assert_eq!(pipe.bbr.window(), 25_000 + 3 * SEGMENT);
}

#[test]
fn section_4_3_4_a_cycle_probes_drains_and_cruises() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    let mut phases = Vec::new();
    for _ in 0..40 {
        let in_flight = if pipe.bbr.phase == 0 { 20 * SEGMENT } else { 12 * SEGMENT };
        // A little more than a round trip passes between two ACKs.
        pipe.path.now += Span::from_micros(10);
        pipe.round(RATE, in_flight, RTT);
        phases.push((pipe.bbr.phase, pipe.bbr.pacing_rate().unwrap().0));
    }
    for pair in phases.windows(2) {
        assert_eq!(pair[1].0, (pair[0].0 + 1) % PHASES);
    }
    for (phase, rate) in phases {
        let gain = match phase {
            0 => 12_500_000,
            1 => 7_500_000,
            _ => 10_000_000,
        };
        assert_eq!(rate, gain, "phase {phase}");
    }
}

#[test]
fn section_4_1_1_a_bandwidth_is_forgotten_after_ten_rounds() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(6);
    for round in 1..=10 {
        assert_eq!(pipe.bbr.bandwidth, RATE.0, "round {round}");
        pipe.round(Rate(5_000_000), 12 * SEGMENT, RTT);
    }
    assert_eq!(pipe.bbr.bandwidth, 5_000_000);
}

#[test]
fn section_4_3_5_a_stale_round_trip_is_probed_with_four_segments() {
    let params = Params { round_trip_time: Span::from_millis(200), ..Params::default() };
    let mut pipe = Pipe::new(&params);
    pipe.rounds(1);
    let longer = Span::from_millis(11);
    let mut rounds = 0;
    while pipe.bbr.state != State::ProbeRoundTrip {
        pipe.round(RATE, 12 * SEGMENT, longer);
        rounds += 1;
        assert!(rounds <= 21, "200 ms have passed");
    }
    assert_eq!((rounds, pipe.bbr.window()), (21, 4 * SEGMENT));
    // The 200 ms begin when the flight has fallen to four segments.
    pipe.round(RATE, 4 * SEGMENT, RTT);
    for _ in 0..19 {
        pipe.round(Rate(1_000_000), 4 * SEGMENT, RTT);
        assert_eq!(pipe.bbr.state, State::ProbeRoundTrip);
    }
    pipe.round(Rate(1_000_000), 4 * SEGMENT, RTT);
    assert_eq!(pipe.bbr.state, State::ProbeBandwidth);
    assert_eq!(pipe.bbr.bandwidth, RATE.0, "what the small flight measured does not count");
    assert_eq!(pipe.bbr.window(), 25_000 + 3 * SEGMENT);
}

#[test]
fn section_4_2_3_3_a_loss_conserves_packets_for_a_round_and_is_forgotten() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    let before = pipe.bbr.window();
    pipe.bbr.on_congestion(Congestion::FastRetransmit, &pipe.path);
    assert_eq!(pipe.bbr.window(), 24 * SEGMENT, "the flight, and the data just delivered");
    pipe.bbr.on_recovery_exit(RecoveryExit::Ssthresh, &pipe.path);
    assert_eq!(pipe.bbr.window(), before);
    pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
    assert_eq!(pipe.bbr.window(), SEGMENT);
}

/// §4.2.3.3: only a fast recovery conserves packets.
#[test]
fn section_4_2_3_3_the_first_ack_after_a_timeout_opens_four_segments() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
    assert_eq!(pipe.bbr.window(), SEGMENT);
    let mut delivery = Delivery {
        delivered: pipe.delivered + SEGMENT,
        newly: SEGMENT,
        in_flight: 0,
        losses: 0,
        lost: 0,
        prior_delivered: Some(0),
        rate: None,
        app_limited: false,
        unnamed: false,
    };
    let mut windows = Vec::new();
    for _ in 0..2 {
        let ack = AckSample { acked: SEGMENT, delivery: Some(delivery), ..AckSample::default() };
        pipe.bbr.on_ack(&ack, &pipe.path);
        windows.push(pipe.bbr.window());
        delivery.delivered += SEGMENT;
    }
    assert_eq!(windows, [4 * SEGMENT, 5 * SEGMENT]);
}

/// §4.2.2: after an idle time, `ProbeBW` paces at the bandwidth until the next ACK.
#[test]
fn section_4_2_2_an_idle_time_ends_at_the_bandwidth() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    let idle = PathView { block_start: pipe.path.una, flight: SEGMENT, ..pipe.path };
    for phase in [0, 1] {
        pipe.bbr.phase = phase;
        pipe.bbr.phase_at = pipe.path.now + Span::from_secs(1);
        pipe.bbr.follow_model(&pipe.path);
        assert_ne!(pipe.bbr.pacing_rate(), Some(RATE));
        pipe.bbr.on_sent(&idle);
        assert_eq!(pipe.bbr.pacing_rate(), Some(RATE));
        pipe.bbr.follow_model(&pipe.path);
        assert_ne!(pipe.bbr.pacing_rate(), Some(RATE), "the next ACK restores the gain");
    }
}

/// §4.2.2: an idle time that lasts longer than `ProbeRTT` ends `ProbeRTT`.
#[test]
fn section_4_2_2_an_idle_time_ends_probe_rtt() {
    let params = Params { round_trip_time: Span::from_millis(200), ..Params::default() };
    let mut pipe = Pipe::new(&params);
    pipe.rounds(12);
    while pipe.bbr.state != State::ProbeRoundTrip {
        pipe.round(RATE, 12 * SEGMENT, Span::from_millis(11));
    }
    pipe.round(RATE, 4 * SEGMENT, RTT);
    for (later, state) in [(199, State::ProbeRoundTrip), (200, State::ProbeBandwidth)] {
        let now = pipe.path.now + Span::from_millis(later);
        let idle = PathView { now, block_start: pipe.path.una, flight: SEGMENT, ..pipe.path };
        pipe.bbr.on_sent(&idle);
        assert_eq!(pipe.bbr.state, state, "{later} ms");
    }
}

/// §4.2.3.3: for one round, as much data is sent as arrives, so the flight is constant.
#[test]
fn section_4_2_3_3_in_the_round_of_a_loss_the_window_is_what_was_outstanding() {
    let mut pipe = Pipe::new(&Params::default());
    pipe.rounds(12);
    let before = pipe.bbr.window();
    // A timer detects the loss.
    pipe.path.now += RTT;
    pipe.bbr.on_congestion(Congestion::FastRetransmit, &pipe.path);
    assert_eq!(pipe.bbr.window(), before, "the next ACK tells the data in the network");
    let round = pipe.bbr.round;
    for (newly, in_flight, losses, window) in [(3, 8, 0, 11), (2, 13, 0, 15), (1, 9, 2, 13)] {
        pipe.delivered += newly * SEGMENT;
        pipe.path.una += newly * SEGMENT;
        let delivery = Delivery {
            delivered: pipe.delivered,
            newly: newly * SEGMENT,
            in_flight: in_flight * SEGMENT,
            losses,
            lost: 0,
            prior_delivered: Some(0),
            rate: Some(RATE),
            app_limited: false,
            unnamed: false,
        };
        let ack = AckSample {
            acked: newly * SEGMENT,
            rtt: Some(RTT),
            delivery: Some(delivery),
            ..AckSample::default()
        };
        pipe.bbr.on_ack(&ack, &pipe.path);
        assert_eq!((pipe.bbr.round, pipe.bbr.window()), (round, window * SEGMENT));
    }
}

/// Linux's `bbr_quantization_budget()`: an even number of segments, plus two in the phase that
/// probes.
#[test]
fn linux_an_even_window_has_two_segments_more_while_it_probes() {
    let mut pipe = Pipe::new(&Params { even_window: true, ..Params::default() });
    pipe.rounds(12);
    let mut windows = std::collections::BTreeMap::new();
    for _ in 0..40 {
        let in_flight = if pipe.bbr.phase == 0 { 20 * SEGMENT } else { 12 * SEGMENT };
        pipe.path.now += Span::from_micros(10);
        pipe.round(RATE, in_flight, RTT);
        windows.insert(pipe.bbr.phase, pipe.bbr.target / SEGMENT);
    }
    // Two bandwidth-delay products and three bursts are 28 segments.
    assert!(
        windows.into_iter().eq((0..PHASES).map(|phase| (phase, if phase == 0 { 30 } else { 28 })))
    );
}

/// Linux's `bbr_set_cwnd_to_recover_or_restore()`: data sent before the loss do not end a round.
#[test]
fn linux_a_loss_recovery_begins_a_round() {
    for loss_begins_round in [false, true] {
        let mut pipe = Pipe::new(&Params { loss_begins_round, ..Params::default() });
        pipe.rounds(12);
        pipe.bbr.next_round = 0;
        pipe.bbr.on_congestion(Congestion::FastRetransmit, &pipe.path);
        assert_eq!(pipe.bbr.next_round, if loss_begins_round { pipe.delivered } else { 0 });
    }
}

/// Linux's `bbr_set_state()`: after a timeout, three more rounds without growth end Startup.
#[test]
fn linux_a_timeout_lets_startup_look_for_growth_anew() {
    let rounds = |loss_begins_round| {
        let mut pipe = Pipe::new(&Params { loss_begins_round, ..Params::default() });
        pipe.rounds(3);
        assert_eq!(pipe.bbr.state, State::Startup);
        pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
        let mut rounds = 0;
        while pipe.bbr.state == State::Startup {
            pipe.rounds(1);
            rounds += 1;
        }
        rounds
    };
    assert_eq!((rounds(false), rounds(true)), (1, 4));
}

/// Linux's `bbr_set_state()`: a timeout begins the search for a policer, as a loss does.
#[test]
fn linux_a_timeout_is_a_loss_in_the_search_for_a_policer() {
    for loss_begins_round in [false, true] {
        let params = Params { loss_begins_round, long_term: true, ..Params::default() };
        let mut pipe = Pipe::new(&params);
        pipe.rounds(3);
        pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
        pipe.rounds(1);
        assert_eq!(pipe.bbr.policer.searches(), loss_begins_round);
    }
}

/// Linux's `bbr_set_state()`: consecutive timeouts count as rounds with losses. Two intervals of
/// four such rounds with equal rates are taken for a policer.
#[test]
fn linux_timeouts_in_a_row_are_rounds_with_losses() {
    let params = Params { loss_begins_round: true, long_term: true, ..Params::default() };
    for (row, found) in [(1, false), (4, true)] {
        let mut pipe = Pipe::new(&params);
        pipe.rounds(12);
        for _ in 0..4 {
            for _ in 0..row {
                pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
            }
            pipe.lost += 12;
            pipe.rounds(1);
        }
        assert_eq!(pipe.bbr.policer.rate().is_some(), found, "{row} in a row");
    }
}

/// Linux's `bbr_update_bw()`: an interval shorter than the smallest round trip gives no rate
/// sample.
#[test]
fn linux_an_ack_without_a_rate_begins_no_round() {
    for (valid_rounds, rounds) in [(false, 1), (true, 0)] {
        let mut pipe = Pipe::new(&Params { valid_rounds, ..Params::default() });
        pipe.rounds(3);
        let before = pipe.bbr.round;
        pipe.round_with(None, 12 * SEGMENT, RTT);
        assert_eq!(pipe.bbr.round - before, rounds);
        pipe.rounds(1);
        assert_eq!(pipe.bbr.round - before, rounds + 1);
    }
}

/// Linux's `bbr_update_ack_aggregation()`: without a rate, an ACK is not part of a burst.
#[test]
fn linux_an_ack_without_a_rate_is_no_burst() {
    let params = Params { valid_rounds: true, aggregation_gain: 1.0, ..Params::default() };
    let mut pipe = Pipe::new(&params);
    pipe.round_with(None, 12 * SEGMENT, RTT);
    assert_eq!(pipe.bbr.aggregation.most(), 0);
    pipe.rounds(1);
    assert_eq!(pipe.bbr.aggregation.most(), 10 * SEGMENT, "the window allows no more");
}

/// Linux's `bbr_undo_cwnd()`: the model does not change, Startup and the search for a policer begin
/// anew, and the next ACK restores the window.
#[test]
fn linux_an_undone_timeout_restores_the_window_only() {
    let params = Params { loss_begins_round: true, long_term: true, ..Params::default() };
    let mut pipe = Pipe::new(&params);
    pipe.rounds(12);
    let before = pipe.bbr.window();
    pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
    pipe.rounds(1);
    pipe.bbr.window = 4 * SEGMENT;
    pipe.bbr.repaired_at = Some(u64::MAX >> 2);
    let bandwidth = pipe.bbr.bandwidth;
    assert!(pipe.bbr.policer.searches());
    assert!(pipe.bbr.on_undo(), "no earlier state is restored");
    assert!(!pipe.bbr.policer.searches());
    assert_eq!((pipe.bbr.window(), pipe.bbr.full_bandwidth), (4 * SEGMENT, 0));
    pipe.rounds(1);
    assert_eq!((pipe.bbr.window(), pipe.bbr.bandwidth), (before, bandwidth));
    assert!(!Pipe::new(&Params::default()).bbr.on_undo(), "the draft has no undo");
}

/// Linux's `tcp_try_undo_recovery()`: without SACK, the loss is repaired once data that was sent
/// after the loss is acknowledged.
#[test]
fn linux_without_sack_the_window_comes_back_with_data_sent_after_the_loss() {
    for (holds, restored) in [(false, true), (true, false)] {
        let mut pipe = Pipe::new(&Params::default());
        pipe.rounds(12);
        let before = pipe.bbr.window();
        pipe.bbr.on_congestion(Congestion::Timeout { repeated: false }, &pipe.path);
        pipe.bbr.holds = holds;
        pipe.path.una = pipe.path.max;
        pipe.bbr.on_recovery_exit(RecoveryExit::Ssthresh, &pipe.path);
        assert_eq!(pipe.bbr.window() == before, restored);
        pipe.path.una += 1;
        pipe.bbr.on_recovery_exit(RecoveryExit::Ssthresh, &pipe.path);
        assert_eq!(pipe.bbr.window(), before);
    }
}
