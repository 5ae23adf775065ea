//! Tests of the kernel's calls. They run in a separate network namespace, if this process has the
//! right to make a namespace.

use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::*;
use crate::testbed::{alone, ip, link};

const MILLI: u64 = 1_000_000;

/// The number of a namespace in the kernel.
fn number(namespace: &Namespace) -> u64 {
    namespace.0.metadata().expect("it is open").ino()
}

#[test]
fn a_negative_code_is_the_kernels_error() {
    assert_eq!(check(0).expect("success"), 0);
    assert_eq!(check(7).expect("a descriptor"), 7);
    assert!(check(-1).is_err());
}

#[test]
fn a_thread_enters_a_namespace_and_returns() {
    let there = || -> Result<()> {
        let own = Namespace::current()?;
        let Ok(new) = Namespace::new() else { return Ok(()) };
        assert_ne!(number(&new), number(&own));
        new.enter()?;
        assert_eq!(number(&Namespace::current()?), number(&new));
        own.enter()?;
        assert_eq!(number(&Namespace::current()?), number(&own));
        let path = format!("/proc/self/fd/{}", new.descriptor());
        assert_eq!(std::fs::metadata(path)?.ino(), number(&new));
        Ok(())
    };
    std::thread::spawn(there).join().expect("no assertion fails").expect("the kernel does it");
    // A descriptor that is not a namespace cannot be entered.
    let file = File::open("/dev/null").expect("it is there");
    assert!(Namespace(file).enter().is_err());
}

#[test]
fn a_socket_receives_what_the_other_end_sends_and_nothing_else() {
    alone(|| {
        let (near, far) = link(0);
        let open = |interface| PacketSocket::open(interface).expect("it exists");
        let (here, there, beside) = (open(near), open(far), open(near));
        assert!(PacketSocket::open(99).is_err(), "there is no such interface");
        let mut buffer = [0; 200];
        assert_eq!(here.receive(&mut buffer).expect("it is up"), None);
        let frame: Vec<u8> = (0..100).collect();
        assert!(there.send(&frame));
        assert!(there.send(&frame[..60]));
        assert_eq!(here.receive(&mut buffer).expect("it is up"), Some(100));
        assert_eq!(buffer[..100], frame);
        assert_eq!(here.receive(&mut buffer).expect("it is up"), Some(60));
        assert_eq!(here.receive(&mut buffer).expect("it is up"), None);
        assert_eq!(there.receive(&mut buffer).expect("it is up"), None, "its own frames");
        assert_eq!(beside.receive(&mut buffer).expect("it is up"), Some(100), "a second socket");
        assert!(!there.send(&[0; 2000]), "longer than the MTU");
        ip("link set h0 down");
        assert!(!there.send(&frame));
        assert!(there.receive(&mut buffer).is_err(), "the interface is down");
    });
}

#[test]
fn a_socket_waits_for_nothing_and_is_not_inherited() {
    alone(|| {
        ip("link set lo up");
        let socket = PacketSocket::open(1).expect("it is the loopback");
        assert_eq!(socket.as_raw_fd(), socket.0.as_raw_fd());
        let about = format!("/proc/self/fdinfo/{}", socket.as_raw_fd());
        let about = std::fs::read_to_string(about).expect("it is open");
        let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|text| i32::from_str_radix(text.trim(), 8).ok());
        let both = libc::O_NONBLOCK | libc::O_CLOEXEC;
        assert_eq!(flags.map(|flags| flags & both), Some(both));
    });
}

#[test]
fn frames_that_a_full_socket_could_not_hold_are_counted_once() {
    const SENT: u64 = 20_000;
    alone(|| {
        let (near, far) = link(0);
        let open = |interface| PacketSocket::open(interface).expect("it exists");
        let (here, there) = (open(near), open(far));
        assert_eq!(here.missed().expect("it is open"), 0);
        for _ in 0..SENT {
            assert!(there.send(&[0; 1514]));
        }
        let mut buffer = [0; 1514];
        let held = std::iter::from_fn(|| here.receive(&mut buffer).expect("it is up")).count();
        let held = held as u64;
        assert!((1700..SENT).contains(&held), "{held}");
        assert_eq!(here.missed().expect("it is open"), SENT - held);
        assert_eq!(here.missed().expect("it is open"), 0, "since the last call");
    });
}

/// The numbers of the descriptors that can be read after a wait, and the duration of the wait.
fn waits(poll: &mut Poll, nanos: Option<u64>) -> (Vec<u64>, Duration) {
    #[expect(clippy::disallowed_methods, reason = "the kernel waits by its own clock")]
    let start = Instant::now();
    let numbers = poll.wait(nanos).expect("it is a poll").collect();
    (numbers, start.elapsed())
}

#[test]
fn a_wait_lasts_as_long_as_it_is_told() {
    let mut poll = Poll::new().expect("there are descriptors");
    let (mut late, watched) = UnixStream::pair().expect("there are descriptors");
    poll.add(&watched, 3).expect("it can be read");
    // If the wait does not end, the writer ends it after 8 s, and the test fails.
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(8));
        let _ = late.write_all(&[0]);
    });
    let (numbers, waited) = waits(&mut poll, Some(0));
    assert!(numbers.is_empty() && waited < Duration::from_secs(4), "{waited:?}");
    for nanos in [20 * MILLI, NANOS + 20 * MILLI] {
        let (numbers, waited) = waits(&mut poll, Some(nanos));
        assert!(numbers.is_empty(), "{nanos}");
        let least = Duration::from_nanos(nanos);
        assert!((least..least + Duration::from_secs(4)).contains(&waited), "{nanos}: {waited:?}");
    }
    // The test does not wait for the writer, whose write fails because the other end of the stream
    // is closed.
    drop((watched, writer));
}

#[test]
fn a_wait_tells_what_can_be_read() {
    let mut poll = Poll::new().expect("there are descriptors");
    let pair = || UnixStream::pair().expect("there are descriptors");
    let ((mut first, one), (mut second, other)) = (pair(), pair());
    poll.add(&one, 5).expect("it can be read");
    poll.add(&other, u64::MAX).expect("it can be read");
    assert!(poll.add(&one, 6).is_err(), "it is watched already");
    second.write_all(&[0]).expect("it is open");
    assert_eq!(waits(&mut poll, None).0, [u64::MAX]);
    first.write_all(&[0]).expect("it is open");
    let (mut numbers, _) = waits(&mut poll, Some(MILLI));
    numbers.sort_unstable();
    assert_eq!(numbers, [5, u64::MAX]);
}

#[test]
fn a_wait_that_the_kernel_refuses_is_an_error() {
    let file = File::open("/proc/self/status").expect("it is there");
    let mut poll = Poll { epoll: file.into(), ready: vec![] };
    let refused = poll.wait(Some(0)).map(Iterator::count);
    assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::InvalidInput));
}

#[test]
fn the_clocks_are_those_of_the_kernel() {
    #[expect(clippy::disallowed_methods, reason = "the date is compared with it")]
    let date_of_std =
        || SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos();
    let before = date_of_std();
    let now = u128::from(date());
    assert!((before..=date_of_std()).contains(&now), "{now}");

    let mut poll = Poll::new().expect("there are descriptors");
    let (first, busy) = (monotonic(), thread_time());
    let (_, waited) = waits(&mut poll, Some(30 * MILLI));
    let (second, busier) = (monotonic(), thread_time());
    let passed = Duration::from_nanos(second - first);
    assert!(waited <= passed && passed < waited + Duration::from_secs(4), "{passed:?}");
    assert!(busier - busy < 20 * MILLI, "a wait costs no processor time");
    while thread_time() < busier + 5 * MILLI {
        assert!(monotonic() < second + 20 * NANOS, "this loop costs processor time");
    }
}

/// Policy and priority of this thread.
fn schedule() -> (c_int, c_int) {
    // SAFETY: plain calls for this thread; the parameter outlives its call.
    unsafe {
        let mut parameter = libc::sched_param { sched_priority: -1 };
        libc::sched_getparam(0, &raw mut parameter);
        (libc::sched_getscheduler(0), parameter.sched_priority)
    }
}

/// The time slice of this thread, ns; since kernel 6.12 it is the requested slice.
fn slice() -> u64 {
    // SAFETY: all-zero is a valid attribute, which outlives the call, and its length is right.
    unsafe {
        let mut attribute: libc::sched_attr = zeroed();
        let size = size_of::<libc::sched_attr>() as u32;
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attribute, size, 0);
        attribute.sched_runtime
    }
}

#[test]
fn the_switch_hurries_more_than_the_hosts_and_they_more_than_others() {
    let there = || {
        let may = {
            let parameter = libc::sched_param { sched_priority: 1 };
            // SAFETY: a plain call for this thread; the parameter outlives it.
            unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameter) == 0 }
        };
        for (haste, priority) in [(Haste::Switch, 10), (Haste::Hosts, 5), (Haste::None, 0)] {
            let is_fast = may && priority > 0;
            assert_eq!(hurry(haste), is_fast, "{haste:?}");
            let expected =
                if is_fast { (libc::SCHED_FIFO, priority) } else { (libc::SCHED_OTHER, 0) };
            assert_eq!(schedule(), expected, "{haste:?}");
        }
        let usual = slice();
        assert!(usual == 0 || usual > SHORT_SLICE, "{usual}");
    };
    std::thread::spawn(there).join().expect("no assertion fails");
}

#[test]
fn timers_of_an_ordinary_thread_are_exact() {
    let there = || {
        hurry(Haste::None);
        // SAFETY: a plain call for this thread.
        unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
    };
    assert_eq!(std::thread::spawn(there).join().expect("it only asks"), 1);
}
