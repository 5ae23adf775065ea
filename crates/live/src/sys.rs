//! Safe wrappers of the kernel's calls that the switch uses. No other module of the crate has
//! unsafe code.

#![expect(unsafe_code, reason = "calls of the C library, each with its own buffers")]

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, c_void, socklen_t};

/// Number of bytes that a socket may hold before it is read. The kernel also counts its own memory
/// per frame, so 1700 full frames fit.
const RECEIVE_BUFFER: c_int = 4 << 20;
/// A real-time priority above that of ordinary threads, and below that of the kernel's threads.
const PRIORITY: c_int = 10;
/// The shortest time slice that a kernel grants, ns.
const SHORT_SLICE: u64 = 100_000;
const NANOS: u64 = 1_000_000_000;

fn check(code: c_int) -> Result<c_int> {
    if code < 0 { Err(Error::last_os_error()) } else { Ok(code) }
}

/// A network namespace, which ends with its last descriptor, socket and thread.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Makes a new, empty namespace.
    ///
    /// # Errors
    /// If this process has no right to make a namespace.
    pub fn new() -> Result<Self> {
        let made = std::thread::spawn(|| {
            // SAFETY: the call changes only this thread, which ends here.
            check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
            Self::current()
        });
        made.join().map_err(|_| Error::other("the thread that made a namespace ended early"))?
    }

    /// The namespace of this thread.
    ///
    /// # Errors
    /// If there is no `/proc`.
    pub fn current() -> Result<Self> {
        File::open("/proc/thread-self/ns/net").map(Self)
    }

    /// Moves this thread into the namespace. Sockets that the thread opens from now on belong to
    /// the namespace.
    ///
    /// # Errors
    /// If this process has no right to enter the namespace.
    pub fn enter(&self) -> Result<()> {
        // SAFETY: the descriptor is open.
        check(unsafe { libc::setns(self.0.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
    }

    /// The descriptor of the namespace, through which other processes can find it.
    pub fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A socket that receives all frames of one interface, and sends frames there.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

impl PacketSocket {
    /// Opens a socket in this thread's namespace.
    ///
    /// # Errors
    /// If this process has no right to open such a socket, or if the interface does not exist.
    pub fn open(interface: u32) -> Result<Self> {
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: a plain call; the descriptor is owned from here on.
        let socket = unsafe {
            let raw = check(libc::socket(libc::AF_PACKET, kind, 0))?;
            Self(OwnedFd::from_raw_fd(raw))
        };
        // If this process may not exceed the limit, that is no error, because `missed` tells of
        // dropped frames.
        if socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER).is_err() {
            socket.set(libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE_BUFFER)?;
        }
        socket.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)?;
        // SAFETY: all-zero is a valid address of this kind.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = interface as c_int;
        // SAFETY: the address outlives the call, and its length is right.
        check(unsafe {
            let length = size_of::<libc::sockaddr_ll>() as socklen_t;
            libc::bind(socket.0.as_raw_fd(), (&raw const address).cast(), length)
        })?;
        Ok(socket)
    }

    fn set(&self, level: c_int, name: c_int, value: c_int) -> Result<()> {
        // SAFETY: the value outlives the call, and its length is right.
        check(unsafe {
            let length = size_of::<c_int>() as socklen_t;
            let value = (&raw const value).cast();
            libc::setsockopt(self.0.as_raw_fd(), level, name, value, length)
        })
        .map(drop)
    }

    /// Writes the next frame to `buffer`, and returns its length; `None` if there is no frame.
    ///
    /// # Errors
    /// If the interface no longer exists.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        let (to, room) = (buffer.as_mut_ptr().cast::<c_void>(), buffer.len());
        // SAFETY: the buffer has as much room as the call is told.
        let length = unsafe { libc::recv(self.0.as_raw_fd(), to, room, 0) };
        usize::try_from(length).map(Some).or_else(|_| match Error::last_os_error() {
            error if error.kind() == ErrorKind::WouldBlock => Ok(None),
            error => Err(error),
        })
    }

    /// Sends a frame. Returns whether the kernel took the whole frame.
    pub fn send(&self, frame: &[u8]) -> bool {
        // SAFETY: the frame is as long as the call is told.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        usize::try_from(sent) == Ok(frame.len())
    }

    /// Number of frames that the kernel dropped since the last call because the socket was full.
    ///
    /// # Errors
    /// If the socket no longer exists.
    pub fn missed(&self) -> Result<u64> {
        // SAFETY: all-zero is a valid value; the length is right, and both outlive the call.
        let (code, told) = unsafe {
            let mut told: libc::tpacket_stats = zeroed();
            let mut length = size_of::<libc::tpacket_stats>() as socklen_t;
            let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
            let to = (&raw mut told).cast();
            let code = libc::getsockopt(self.0.as_raw_fd(), level, name, to, &raw mut length);
            (code, told)
        };
        check(code).map(|_| u64::from(told.tp_drops))
    }
}

/// Waits for readable descriptors, or for a time.
#[derive(Debug)]
pub struct Poll {
    epoll: OwnedFd,
    ready: Vec<libc::epoll_event>,
}

/// Largest number of descriptors that one wait returns.
const AT_ONCE: usize = 128;

impl Poll {
    /// Makes a poll that watches no descriptor yet.
    ///
    /// # Errors
    /// If no descriptor is free.
    pub fn new() -> Result<Self> {
        // SAFETY: a plain call; the descriptor is owned from here on.
        let epoll =
            unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        Ok(Self { epoll, ready: vec![libc::epoll_event { events: 0, u64: 0 }; AT_ONCE] })
    }

    /// Watches whether a descriptor can be read; `number` identifies the descriptor.
    ///
    /// # Errors
    /// If the kernel has no memory left.
    pub fn add(&self, what: &impl AsRawFd, number: u64) -> Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number };
        let (epoll, descriptor) = (self.epoll.as_raw_fd(), what.as_raw_fd());
        // SAFETY: the event outlives the call.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, descriptor, &raw mut event) })
            .map(drop)
    }

    /// The numbers of the descriptors that can be read, after at most `nanos` nanoseconds. Without
    /// `nanos`, waits until a descriptor can be read.
    ///
    /// # Errors
    /// If the kernel is older than 5.11.
    pub fn wait(&mut self, nanos: Option<u64>) -> Result<impl Iterator<Item = u64>> {
        let limit = nanos.map(|nanos| libc::timespec {
            tv_sec: (nanos / NANOS) as _,
            tv_nsec: (nanos % NANOS) as _,
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the events have as much room as the call is told; the limit outlives it.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                AT_ONCE as c_int,
                limit,
                std::ptr::null::<c_void>(),
                0_usize,
            )
        };
        let count = check(count as c_int).or_else(|error| {
            if error.kind() == ErrorKind::Interrupted { Ok(0) } else { Err(error) }
        })?;
        Ok(self.ready[..count as usize].iter().map(|event| event.u64))
    }
}

impl AsRawFd for PacketSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The monotonic clock, ns.
pub fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// The date, ns since 1970.
pub fn date() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// The processor time of this thread, ns.
pub fn thread_time() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(which: libc::clockid_t) -> u64 {
    // SAFETY: all-zero is a valid time, and it outlives the call, which cannot fail.
    let now = unsafe {
        let mut now: libc::timespec = zeroed();
        libc::clock_gettime(which, &raw mut now);
        now
    };
    now.tv_sec as u64 * NANOS + now.tv_nsec as u64
}

/// The urgency of a thread: how soon it runs when it has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Haste {
    /// The thread runs before ordinary threads, and before threads with [`Haste::Hosts`].
    Switch,
    /// The thread runs before ordinary threads.
    Hosts,
    /// The thread runs as ordinary threads do.
    None,
}

/// Lets this thread run sooner, and returns whether it has a real-time priority. Without the right
/// to such a priority, the thread gets short time slices. Since kernel 6.12, a thread with short
/// slices need not wait for the end of other threads' slices. The thread's timers are exact in any
/// case.
pub fn hurry(haste: Haste) -> bool {
    let (priority, slice) = match haste {
        Haste::Switch => (PRIORITY, SHORT_SLICE),
        Haste::Hosts => (PRIORITY / 2, SHORT_SLICE),
        Haste::None => (0, 0),
    };
    // SAFETY: plain calls for this thread; all-zero is a valid attribute, and it outlives its call.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
        let parameter = libc::sched_param { sched_priority: priority };
        let is_set = libc::sched_setscheduler(0, policy, &raw const parameter) == 0;
        if is_set && priority > 0 {
            return true;
        }
        let mut attribute: libc::sched_attr = zeroed();
        attribute.size = size_of::<libc::sched_attr>() as u32;
        attribute.sched_runtime = slice;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attribute, 0);
        false
    }
}

#[cfg(test)]
mod tests;
