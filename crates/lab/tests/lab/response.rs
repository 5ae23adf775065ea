//! The response functions of Reno and CUBIC: the window as a function of the loss rate.
//!
//! The RFCs derive these functions for a constant number of packets between losses (RFC 9438 §4.3,
//! figure 3, and §5, figure 6). Random losses result in larger windows, especially if the window's
//! growth accelerates after a long time without a loss. [`Rules`] computes these windows from the
//! RFCs' rules, without packets.

use incast_engine::Stream;
use incast_host::EndId;
use incast_lab::Control;
use incast_lab::probe::Silent;
use incast_lab::world::World;
use incast_net::Packet;
use incast_net::queue::{DropReason, QueueDiscipline, QueueView, Verdict};
use incast_net::topology::{HostId, Network};
use incast_scenario::Scenario;
use serde_json::json;

/// Drops every n-th data packet.
struct Every {
    packets: u32,
    seen: u32,
}

impl QueueDiscipline for Every {
    fn offer(&mut self, packet: &Packet, _: &QueueView, _: &mut Stream) -> Verdict {
        self.seen += u32::from(packet.payload > 0);
        if self.seen < self.packets {
            return Verdict::Admit;
        }
        self.seen = 0;
        Verdict::Drop(DropReason::Random)
    }
}

/// The distances between losses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Losses {
    Periodic,
    Random,
}

/// A long flow on a path that drops a share `p` of its packets.
#[derive(Clone, Copy, Debug)]
struct Case {
    control: &'static str,
    losses: Losses,
    p: f64,
    rtt_ms: u32,
    seconds: u32,
}

const MSS: f64 = 1000.0;

impl Case {
    /// The number of segments per round trip, and the number of timeouts.
    fn measure(self) -> (f64, u64) {
        let Self { control, losses, p, rtt_ms, seconds } = self;
        let control = match control {
            "cubic" => json!({ "name": "cubic", "fast_convergence": false }),
            name => json!({ "name": name }),
        };
        let queue = match losses {
            Losses::Random => json!({ "name": "bernoulli", "p": p, "data_only": true }),
            Losses::Periodic => json!("drop-tail"),
        };
        let scenario = Scenario::from_document(&json!({
            "network": {
                "rate": "100Gbps", "delay": format!("{}us", rtt_ms * 250), "buffer": "1GiB",
                "queue": queue,
            },
            "workload": { "name": "barrier-read", "servers": 1, "sru": 1_u64 << 46 },
            "transport": {
                "mss": MSS as u32, "receive_window": "1GiB", "initial_ssthresh": 10,
                "recovery": "sack", "congestion_control": control,
            },
            "run": { "time_limit": format!("{seconds}s") },
        }));
        let mut world = World::new(&scenario.expect("it is well formed"), 1, |_| Silent);
        if losses == Losses::Periodic {
            let port = Network::switch_port(HostId(0));
            let every = Every { packets: (1.0 / p) as u32, seen: 0 };
            world.core_mut().wires.network.port_mut(port).set_discipline(Box::new(every));
        }
        let (rows, core) = world.run(&Control::default()).expect("nobody cancels");
        let received =
            core.hosts.connection(EndId::client(0)).expect("TCP").received().next() as f64;
        let rounds = f64::from(seconds) * 1000.0 / f64::from(rtt_ms);
        (received / MSS / rounds, rows[0].timeouts)
    }

    /// The mean window by the RFCs' formulas, in segments.
    fn formula(self) -> f64 {
        let rtt = f64::from(self.rtt_ms) / 1000.0;
        let reno = (1.5 / self.p).sqrt();
        let cubic = (0.4_f64 * 3.7 / (4.0 * 0.3)).powf(0.25) * (rtt / self.p).powf(0.75);
        if self.control == "cubic" { reno.max(cubic) } else { reno }
    }
}

/// The window of the RFCs' equations, round trip by round trip.
struct Rules {
    cubic: bool,
    rtt: f64,
    window: f64,
    w_max: f64,
    prior: f64,
    estimate: f64,
    k: f64,
    t: f64,
}

impl Rules {
    fn new(case: Case) -> Self {
        let rtt = f64::from(case.rtt_ms) / 1000.0;
        let cubic = case.control == "cubic";
        let mut rules = Self {
            cubic,
            rtt,
            window: 20.0,
            w_max: 0.0,
            prior: 0.0,
            estimate: 0.0,
            k: 0.0,
            t: 0.0,
        };
        rules.lose();
        rules
    }

    fn lose(&mut self) {
        let beta = if self.cubic { 0.7 } else { 0.5 };
        (self.w_max, self.prior) = (self.window, self.window);
        self.window = (self.window * beta).max(2.0);
        (self.estimate, self.t) = (self.window, 0.0);
        self.k = ((self.w_max - self.window).max(0.0) / 0.4).cbrt();
    }

    fn grow(&mut self) {
        if !self.cubic {
            self.window += 1.0;
            return;
        }
        self.t += self.rtt;
        let alpha = if self.estimate >= self.prior { 1.0 } else { 0.9 / 1.7 };
        self.estimate += alpha;
        let curve = 0.4 * (self.t - self.k).powi(3) + self.w_max;
        self.window = curve.min(1.5 * self.window).max(self.estimate).max(self.window);
    }

    /// The mean window over this many random losses.
    fn mean(case: Case, losses: u32) -> f64 {
        let mut random = Stream::named(1, "rules", 0);
        let mut rules = Self::new(case);
        let (mut sent, mut rounds) = (0.0, 0.0);
        let mut lost = 0;
        while lost < losses {
            let survives = (1.0 - case.p).powf(rules.window);
            sent += rules.window;
            rounds += 1.0;
            if random.chance(1.0 - survives) {
                lost += 1;
                rules.lose();
                // The loss is repaired before the window grows again.
                sent += rules.window;
                rounds += 1.0;
            } else {
                rules.grow();
            }
        }
        sent / rounds
    }
}

/// Cases for the plateau of CUBIC's curve, and for its growth. The long cases run only if
/// `INCAST_CASES` is set.
fn cases(control: &'static str, losses: Losses) -> Vec<Case> {
    let case = |p, rtt_ms, seconds| Case { control, losses, p, rtt_ms, seconds };
    let short = [case(1e-3, 10, 200), case(1e-3, 200, 4000)];
    let long = [case(1e-4, 10, 1000), case(1e-4, 200, 10_000)];
    let is_long = std::env::var_os("INCAST_CASES").is_some();
    short.into_iter().chain(long.into_iter().filter(|_| is_long)).collect()
}

fn assert_near(case: Case, window: f64, expected: f64) {
    let ratio = window / expected;
    assert!((0.9..=1.1).contains(&ratio), "{case:?}: {window:.1} instead of {expected:.1}");
}

#[test]
fn rfc9438_periodic_losses_leave_the_windows_of_the_formulas() {
    for control in ["reno", "cubic"] {
        for case in cases(control, Losses::Periodic) {
            let (window, timeouts) = case.measure();
            assert_eq!(timeouts, 0, "{case:?}");
            assert_near(case, window, case.formula());
        }
    }
}

#[test]
fn rfc5681_random_losses_leave_reno_about_as_much() {
    for case in cases("reno", Losses::Random) {
        let (window, timeouts) = case.measure();
        assert!(timeouts < 20, "{case:?}: {timeouts} timeouts");
        assert_near(case, window, case.formula());
        assert_near(case, window, Rules::mean(case, 20_000));
    }
}

/// The windows are 10 to 20 % larger than those of the formulas, because CUBIC profits more than
/// Reno from long times between random losses.
#[test]
fn rfc9438_random_losses_leave_cubic_what_its_equations_make_of_them() {
    for case in cases("cubic", Losses::Random) {
        let (window, timeouts) = case.measure();
        assert!(timeouts < 20, "{case:?}: {timeouts} timeouts");
        assert_near(case, window, Rules::mean(case, 20_000));
        let excess = window / case.formula();
        assert!((1.0..1.25).contains(&excess), "{case:?}: {excess}");
    }
}
