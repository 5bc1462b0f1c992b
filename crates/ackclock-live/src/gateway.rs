//! The simulated network's links in real time, between TUN devices.
//!
//! One thread: it stamps what it reads from the devices, enters it into a [`Gateway`], and writes
//! what leaves that into the device of the node that it reaches. It sleeps until shortly before the
//! next packet is due and polls for the rest of the time, since a wake-up comes some ten
//! microseconds late. What it does late changes nothing but the moment of that one packet: the
//! links count in the times at which packets were due.

mod lateness;
mod machine;
mod transit;

use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use ackclock_net::scenario::Scenario;
use ackclock_net::{LinkId, LinkReport, Visit};
use ackclock_tcp::Time;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::tun::Tun;
pub use lateness::Lateness;
use machine::Machine;
pub use transit::Transit;

/// A node of the scenario and its device.
pub struct Attachment {
    /// The node.
    pub node: String,
    /// The device, without offload, so that the kernel cuts its packets as it does for a wire.
    pub tun: Tun,
    /// What is to be found there: packets go to the node, other than the one they come from, with
    /// the longest prefix of their destination.
    pub prefixes: Vec<(IpAddr, u8)>,
}

/// What a gateway has done so far.
#[derive(Clone, Debug, Default)]
pub struct GatewayReport {
    /// Each direction of each link: where it comes from, where it goes, and its packets. Copies of
    /// a link stand by themselves.
    pub links: Vec<(String, String, LinkReport)>,
    /// Packets read.
    pub entered: u64,
    /// Packets written, duplicates included.
    pub delivered: u64,
    /// Packets read that no other node is the place for, or that are not IP.
    pub unroutable: u64,
    /// Packets that the kernel refused: the device was down, or the bit flipped lay in the
    /// version.
    pub refused: u64,
    /// How often the gateway held as much as it may, and stopped reading for a while.
    pub stalled: u64,
    /// How much later than due packets were handed to the kernel.
    pub lateness: Lateness,
    /// Each attached node, and how long the links took with the packets that reached it.
    pub transits: Vec<(String, Transit)>,
}

/// A packet that a link has dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped<'a> {
    /// When, in nanoseconds since 1970.
    pub at: Time,
    /// Where the link comes from.
    pub from: &'a str,
    /// Where it goes.
    pub to: &'a str,
    /// Why: `queue`, `early`, `outage`, or a loss model.
    pub why: &'static str,
    /// The IP packet.
    pub packet: &'a [u8],
}

/// Is told of each packet that a link drops, by the gateway's thread, which it must not hold up.
pub type DropLog = Box<dyn FnMut(&Dropped<'_>) + Send>;

/// Is told of each packet at the queue of a link, likewise. Its times count from the gateway's
/// start.
pub type QueueLog = Box<dyn FnMut(LinkId, &Visit) + Send>;

/// What is to be told while a gateway runs.
#[derive(Default)]
pub struct Logs {
    /// What links drop.
    pub drops: Option<DropLog>,
    /// What packets find at the queues of links. Those that wait as the gateway ends are told of
    /// then.
    pub queues: Option<QueueLog>,
}

/// A gateway in a thread of its own, which ends when this is dropped; the devices go with it.
pub struct RealTimeGateway {
    machine: Arc<Mutex<Machine>>,
    stop: Arc<OwnedFd>,
    ended: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl RealTimeGateway {
    /// Starts the links of a scenario, in the run `seed`, between the devices attached to some of
    /// its nodes. Time zero is now. A scenario's flows play no part, except that flows are
    /// numbered as it has them, and that losses may name them.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the scenario is wrong, a node is not there or attached
    /// twice, two attached nodes are not joined by links both ways, or a device has offload.
    /// Otherwise what making the thread returns.
    pub fn start(
        scenario: &Scenario,
        seed: u64,
        attachments: Vec<Attachment>,
    ) -> io::Result<RealTimeGateway> {
        RealTimeGateway::start_logged(scenario, seed, attachments, Logs::default())
    }

    /// As [`RealTimeGateway::start`], with logs.
    ///
    /// # Errors
    /// As [`RealTimeGateway::start`].
    pub fn start_logged(
        scenario: &Scenario,
        seed: u64,
        attachments: Vec<Attachment>,
        logs: Logs,
    ) -> io::Result<RealTimeGateway> {
        let machine = Arc::new(Mutex::new(Machine::new(scenario, seed, attachments, logs)?));
        let event = || {
            Ok::<_, io::Error>(Arc::new(eventfd(
                0,
                EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK,
            )?))
        };
        let (stop, ended) = (event()?, event()?);
        let thread = thread::Builder::new().name("gateway".into()).spawn({
            let (machine, stop, ended) = (machine.clone(), stop.clone(), ended.clone());
            move || {
                run(&machine, &stop);
                lock(&machine).log_waiting();
                raise(&ended);
            }
        })?;
        Ok(RealTimeGateway { machine, stop, ended, thread: Some(thread) })
    }

    /// What it has done so far.
    pub fn report(&self) -> GatewayReport {
        lock(&self.machine).report()
    }

    /// Why it has come to an end by itself, if it has: a device is gone.
    pub fn failure(&self) -> Option<String> {
        lock(&self.machine).failure.clone()
    }
}

/// Readable once it has come to an end by itself.
impl AsFd for RealTimeGateway {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

/// Makes an eventfd readable. It is raised once, so that there is room in its counter.
fn raise(event: &OwnedFd) {
    let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
}

impl Drop for RealTimeGateway {
    fn drop(&mut self) {
        raise(&self.stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(machine: &Mutex<Machine>) -> MutexGuard<'_, Machine> {
    machine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread.
fn run(machine: &Mutex<Machine>, stop: &OwnedFd) {
    be_prompt();
    let devices: Vec<Arc<Tun>> = lock(machine).devices().collect();
    loop {
        let (sleep, wanted) = {
            let mut machine = lock(machine);
            if let Err(error) = machine.turn() {
                machine.failure = Some(error.to_string());
                return;
            }
            let sleep = machine.sleep();
            (sleep, machine.wanted().collect::<Vec<_>>())
        };
        let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
        fds.extend(
            devices
                .iter()
                .zip(&wanted)
                .map(|(tun, wanted)| PollFd::from_borrowed_fd(tun.as_fd(), *wanted)),
        );
        // An interruption is as good as a wake-up.
        let _ = poll(&mut fds, sleep.as_ref());
        if !fds[0].revents().is_empty() {
            return;
        }
    }
}

/// Has this thread go before others where that is permitted: on a busy machine it would wake up
/// milliseconds late otherwise, now it is some ten microseconds. On a single processor it stands
/// back, so that those who send and receive get some of it.
pub fn be_prompt() {
    // A sleep may last 50 us longer than asked for by default.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    if thread::available_parallelism().is_ok_and(|n| n.get() > 1) {
        let real_time = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, real_time);
    }
}
