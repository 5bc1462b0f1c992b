//! The network as services see it: the sockets of our stack, and when the kernel's are ready.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, MutexGuard, PoisonError};

use ackclock_live::Host;
use ackclock_stack::{Error as TcpError, Limits, ListenerId, SocketId, Status, TcpConfig};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Composition, Span, Stats, Time};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::super::Ecn;
use super::super::histogram::Histogram;
use super::super::keep_alive::KeepAlives;
use super::super::split::Split;
use super::Shared;
use super::access::{About, AccessLog, Ended};
use super::sources::{Account, SourceLimits, Sources, TooMany};
use crate::error::Error;

/// An address to listen at, and what is otherwise for its clients than the configuration says.
pub(crate) type Listening = (SocketAddr, Own);

/// What a listener may have of its own.
#[derive(Clone, Default)]
pub(crate) struct Own {
    pub ecn: Option<Ecn>,
    pub keep_alive: Option<KeepAlives>,
    pub strategy: Option<Composition>,
    pub limits: SourceLimits,
}

/// For so long a client may take nothing before its place goes to another one: after less no
/// connection is to be given up (R2 of RFC 9293 section 3.8.3).
const R2: Span = Span::from_secs(100);

/// Numbers of the service come after these.
pub(super) const SERVICE: u64 = 2;

/// What a service works with.
pub(crate) struct Net {
    pub(super) host: Host,
    pub(super) shared: Arc<Shared>,
    pub(super) epoll: OwnedFd,
    /// Sockets that could do more at once, but let others go first.
    pub(super) again: BTreeSet<SocketId>,
    /// A signal has come.
    pub draining: bool,
    /// The clients that are taken.
    clients: HashMap<SocketId, Client>,
    /// By [`Status::strategy`]; none is ever removed.
    pub(super) arms: Vec<Arm>,
    pub(super) access: Option<AccessLog>,
    /// By [`TooMany::index`]: when a client that is refused has a line again, and how many have had
    /// none.
    refused: [(Time, u64); 2],
    /// Clients that were reset for others that waited.
    pub(super) displaced: u64,
}

/// A client that is taken: what it had waited for until then, and what the access log is to say
/// beside.
struct Client {
    before: Limits,
    about: Option<Box<About>>,
    account: Account,
}

/// A strategy, and what became of its connections.
#[derive(Clone)]
pub(super) struct Arm {
    pub strategy: Composition,
    pub accepted: u64,
    /// Of those, the ones with ECN.
    pub with_ecn: u64,
    /// Bytes read from clients that are gone, and acknowledged by them, and what our senders
    /// counted.
    pub bytes: [u64; 2],
    pub gone: Stats,
    /// Segments that came marked with CE, likewise.
    pub marks: u64,
    /// How long connections lasted, and their smoothed round trips at the end.
    pub durations: Histogram,
    pub round_trips: Histogram,
}

impl Arm {
    pub fn new(strategy: Composition) -> Arm {
        Arm {
            strategy,
            accepted: 0,
            with_ecn: 0,
            bytes: [0; 2],
            gone: Stats::default(),
            marks: 0,
            durations: Histogram::default(),
            round_trips: Histogram::default(),
        }
    }

    /// Adds what became of its connections at another queue.
    pub fn join(&mut self, other: &Arm) {
        self.accepted += other.accepted;
        self.with_ecn += other.with_ecn;
        self.bytes.iter_mut().zip(other.bytes).for_each(|(own, theirs)| *own += theirs);
        add(&mut self.gone, &other.gone);
        self.marks += other.marks;
        self.durations.join(&other.durations);
        self.round_trips.join(&other.round_trips);
    }

    /// Counts a connection as it is now.
    pub fn add(&mut self, status: &Status, stats: &Stats) {
        self.bytes[0] += status.read;
        self.bytes[1] += status.acked();
        self.marks += status.marks;
        add(&mut self.gone, stats);
    }
}

/// Adds what one connection counted. The least and the smoothed round trip are of one path.
pub(super) fn add(sum: &mut Stats, other: &Stats) {
    let Stats {
        acks,
        segments_sent,
        bytes_sent,
        rtt_samples,
        rtt_sum,
        rtt_least: _,
        rtt_smoothed: _,
        retransmissions,
        fast_retransmissions,
        timeouts,
        timeouts_by_class,
        recoveries,
        ecn_reductions,
        ecn_echoes,
    } = *other;
    sum.acks += acks;
    sum.segments_sent += segments_sent;
    sum.bytes_sent += bytes_sent;
    sum.rtt_samples += rtt_samples;
    sum.rtt_sum = sum.rtt_sum + rtt_sum;
    sum.retransmissions += retransmissions;
    sum.fast_retransmissions += fast_retransmissions;
    sum.timeouts += timeouts;
    sum.timeouts_by_class.iter_mut().zip(timeouts_by_class).for_each(|(sum, n)| *sum += n);
    sum.recoveries += recoveries;
    sum.ecn_reductions += ecn_reductions;
    sum.ecn_echoes += ecn_echoes;
}

impl Net {
    pub(super) fn new(host: Host, shared: Arc<Shared>, config: &TcpConfig) -> Result<Net, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        Ok(Net {
            host,
            epoll: epoll.map_err(|error| Error::system("epoll")(error.into()))?,
            again: BTreeSet::new(),
            draining: false,
            clients: HashMap::new(),
            arms: vec![Arm::new(config.strategy.clone())],
            access: AccessLog::new(&shared),
            refused: Default::default(),
            displaced: 0,
            shared,
        })
    }

    /// Our time: one for all queues.
    pub fn now(&self) -> Time {
        self.host.now()
    }

    /// Listens at these addresses and no others; of the listeners that there are new clients have
    /// what is their own by now.
    pub(super) fn listen(
        &mut self,
        listeners: &mut Vec<(Listening, ListenerId)>,
        config: &TcpConfig,
        addresses: &[Listening],
    ) -> Result<(), Error> {
        let is_gone = |address| !addresses.iter().any(|(wanted, _)| *wanted == address);
        for (_, gone) in listeners.extract_if(.., |((address, _), _)| is_gone(*address)) {
            self.unlisten(gone);
        }
        let backlog = self.host.stack().config().half_open;
        let stack = self.host.stack();
        for (address, own) in addresses {
            let ecn = own.ecn.map_or(config.ecn, Ecn::into);
            let keep_alive = own.keep_alive.map_or(config.keep_alive, |own| own.0);
            let listening = (*address, own.clone());
            if let Some((had, listener)) =
                listeners.iter_mut().find(|((other, _), _)| other == address)
            {
                *had = listening;
                let _ = stack.set_ecn(*listener, ecn);
                let _ = stack.set_keep_alive(*listener, keep_alive);
                continue;
            }
            let listener = stack
                .listen(*address, TcpConfig { ecn, keep_alive, ..config.clone() }, backlog)
                .map_err(|error| Error::Usage(format!("{address}: {error}")))?;
            listeners.push((listening, listener));
        }
        Ok(())
    }

    /// Ends a listener. Clients for which there was no room until then are reset, each with its
    /// line in the access log.
    pub(super) fn unlisten(&mut self, listener: ListenerId) {
        let (now, mut refused) = (self.host.now(), 0);
        while let Ok(socket) = self.host.stack().accept(listener) {
            self.log(socket, None, "refused_end");
            // Some have gone by themselves.
            refused += u64::from(self.status(socket).is_some_and(|s| s.reason.is_none()));
            self.host.stack().abort(now, socket);
        }
        self.host.stack().unlisten(now, listener);
        if refused > 0 {
            self.shared.notices.not_taken(refused);
        }
    }

    /// From now on gives new clients of these listeners the strategies of `split`, and all others
    /// that of their listener.
    pub(super) fn split(&mut self, listeners: &[(Listening, ListenerId)], split: &Split) {
        let parts: Vec<usize> = split.strategies().map(|strategy| self.arm(strategy)).collect();
        let own = |((_, own), _): &(Listening, ListenerId)| own.strategy.clone();
        let own: Vec<usize> =
            listeners.iter().map(|l| own(l).map_or(0, |strategy| self.arm(&strategy))).collect();
        let others: Vec<Composition> =
            self.arms[1..].iter().map(|arm| arm.strategy.clone()).collect();
        if others.is_empty() {
            return;
        }
        for ((_, listener), own) in listeners.iter().zip(own) {
            let (split, parts) = (split.clone(), parts.clone());
            // The stack counts from 1 what lies beside the strategy of the configuration.
            let choose =
                move |client| split.of(client).map_or(own, |part| parts[part]).checked_sub(1);
            let _ = self.host.stack().choose_strategies(*listener, others.clone(), choose);
        }
    }

    /// The number of a strategy, which has one from now on.
    fn arm(&mut self, strategy: &Composition) -> usize {
        let there = self.arms.iter().position(|arm| arm.strategy.name() == strategy.name());
        there.unwrap_or_else(|| {
            self.arms.push(Arm::new(strategy.clone()));
            self.arms.len() - 1
        })
    }

    /// Takes a client of this listener, with its own limits, or resets it if its address has
    /// reached one.
    pub(super) fn admit(
        &mut self,
        socket: SocketId,
        listener: SocketAddr,
        own: SourceLimits,
    ) -> Result<(), (Account, TooMany)> {
        let (now, (listener, limits)) = (self.host.now(), self.shared.limits.at(listener, own));
        let account = Account::new(listener, self.source(socket));
        let admitted = self.sources().admit(now, account, limits);
        if let Err(why) = admitted {
            self.log_refused(socket, account, why);
            self.host.stack().abort(now, socket);
            return Err((account, why));
        }
        let (arm, ecn) = self.status(socket).map_or((0, false), |s| (s.strategy, s.ecn));
        self.arms[arm].accepted += 1;
        self.arms[arm].with_ecn += u64::from(ecn);
        let limits = self.host.stack().limits(now, socket).unwrap_or_default();
        self.clients.insert(socket, Client { before: limits, about: None, account });
        self.share_memory();
        Ok(())
    }

    /// Whether there is memory for so many more clients: the more their buffers hold, the fewer
    /// there may be.
    pub(super) fn has_memory(&mut self, more: usize) -> bool {
        let held = self.host.stack().memory();
        self.shared.budget.has_room(self.clients.len(), held, more)
    }

    /// Whether so many more clients may be taken. One that goes may leave room for several.
    pub fn has_room(&mut self, more: usize) -> bool {
        self.has_memory(more) && self.shared.room.has(more)
    }

    /// Buffers may have what is not kept for clients.
    fn share_memory(&mut self) {
        let buffers = self.shared.budget.buffers(self.clients.len());
        self.host.stack().set_memory(buffers);
    }

    /// Those of these clients that take nothing of what there is for them, so that others may have
    /// their places: who has taken nothing for longest comes first. Each has the time when
    /// something last moved.
    ///
    /// RFC 9293 section 3.8.6.1 keeps a connection whose window is closed, "subject to the
    /// implementation's resource management concerns".
    pub fn stalled(&mut self, clients: impl Iterator<Item = (Time, SocketId)>) -> Vec<SocketId> {
        let now = self.now();
        let waits = |net: &mut Net, socket| net.status(socket).is_some_and(|s| s.unacked > 0);
        let waiting = clients.filter(|&(_, socket)| waits(self, socket));
        in_vain(now, waiting)
    }

    /// Writes a line for clients that are refused, once a second: a flood should fill no disk.
    fn log_refused(&mut self, socket: SocketId, account: Account, why: TooMany) {
        let now = self.host.now();
        let (due, clients) = &mut self.refused[why.index()];
        *clients += 1;
        if *due <= now {
            *due = now + Span::from_secs(1);
            let about = About { refused: Some(std::mem::take(clients)), ..About::default() };
            let before = self.host.stack().limits(now, socket).unwrap_or_default();
            let client = Client { before, about: Some(Box::new(about)), account };
            self.log(socket, Some(&client), TooMany::NAMES[why.index()].1);
        }
    }

    fn sources(&self) -> MutexGuard<'_, Sources> {
        self.shared.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets addresses of which nothing needs to be known.
    pub(super) fn sweep_sources(&self, now: Time) {
        self.sources().sweep(now);
    }

    fn source(&mut self, socket: SocketId) -> IpAddr {
        self.status(socket).map_or(Ipv4Addr::UNSPECIFIED.into(), |s| s.remote.ip())
    }

    /// Reads from a client.
    pub fn read(&mut self, socket: SocketId, bytes: &mut [u8]) -> Result<usize, TcpError> {
        let now = self.host.now();
        self.host.stack().read(now, socket, bytes)
    }

    /// Gives what a client sent to `take`, which says how much it took; 0 at the end too, for which
    /// `take` is not called.
    pub fn read_with(
        &mut self,
        socket: SocketId,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, TcpError> {
        let now = self.host.now();
        self.host.stack().read_with(now, socket, take)
    }

    /// Writes to a client.
    pub fn write(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, TcpError> {
        let now = self.host.now();
        self.host.stack().write(now, socket, bytes)
    }

    /// How much can be written to a client, above 0; where nothing can, the service hears when that
    /// changes.
    pub fn room(&mut self, socket: SocketId) -> Result<usize, TcpError> {
        let now = self.host.now();
        self.host.stack().room(now, socket)
    }

    /// Calls the service for a client once it has acknowledged so much of what was written for it.
    pub fn await_acked(&mut self, socket: SocketId, position: u64) {
        // Of a socket that is over there is nothing to wait for.
        let _ = self.host.stack().await_acked(socket, position);
    }

    /// Whether a client has acknowledged everything, FIN included; otherwise calls the service when
    /// it has.
    pub fn await_all_acked(&mut self, socket: SocketId) -> bool {
        self.host.stack().await_all_acked(socket)
    }

    /// Whether nothing more can happen to a socket, but for segments that come late.
    pub fn is_over(&mut self, socket: SocketId) -> bool {
        self.status(socket).is_none_or(|s| matches!(s.state, TcpState::Closed | TcpState::TimeWait))
    }

    /// Sends a client FIN after what was written.
    pub fn shutdown(&mut self, socket: SocketId) {
        let now = self.host.now();
        // Of a socket that is over the next call says so.
        let _ = self.host.stack().shutdown(now, socket);
    }

    /// A socket at this moment; `None` if it is not there.
    pub fn status(&mut self, socket: SocketId) -> Option<Status> {
        self.host.stack().status(socket).ok()
    }

    /// Changes what the access log is to say of a client, if there is one.
    pub fn note(&mut self, socket: SocketId, change: impl FnOnce(&mut About)) {
        if self.access.is_some()
            && let Some(client) = self.clients.get_mut(&socket)
        {
            change(client.about.get_or_insert_default());
        }
    }

    /// Lets a socket go, with a reset unless it is over, for which `why` is the reason.
    pub fn drop(&mut self, socket: SocketId, why: &str) {
        self.note_end(socket, why);
        let now = self.host.now();
        if self.is_over(socket) {
            self.host.stack().close(now, socket);
        } else {
            self.host.stack().abort(now, socket);
        }
    }

    /// Keeps what is worth knowing of a connection.
    fn note_end(&mut self, socket: SocketId, why: &str) {
        let taken = self.clients.remove(&socket);
        if let Some(client) = &taken {
            self.displaced += u64::from(why == "displaced");
            self.shared.room.give_back();
            self.sources().leave(client.account);
            self.share_memory();
        }
        let taken = taken.as_ref();
        let Some(duration) = self.log(socket, taken, why) else { return };
        let stack = self.host.stack();
        let (Ok(stats), Ok(status)) = (stack.counted(socket), stack.status(socket)) else { return };
        let arm = &mut self.arms[status.strategy];
        arm.add(&status, &stats);
        arm.durations.add(duration);
        if stats.rtt_samples > 0 {
            arm.round_trips.add(stats.rtt_smoothed);
        }
    }

    /// Writes the line of a connection into the access log. Returns for how long it had been taken,
    /// if it was.
    fn log(&mut self, socket: SocketId, taken: Option<&Client>, why: &str) -> Option<Span> {
        let now = self.host.now();
        let stack = self.host.stack();
        let (stats, status) = (stack.counted(socket).ok()?, stack.status(socket).ok()?);
        let all = stack.limits(now, socket).ok()?;
        let before = taken.map_or(all, |client| client.before);
        let limits = all.since(&before);
        if let Some(access) = &mut self.access {
            let none = About::default();
            let about = taken.and_then(|client| client.about.as_deref()).unwrap_or(&none);
            let ended = Ended { status, stats: &stats, before, limits, why, about };
            access.write(self.arms[status.strategy].strategy.name(), &ended);
        }
        Some(limits.total())
    }

    /// Says that so many clients wait for an open file.
    pub fn warn_of_files(&self, waiting: usize) {
        self.shared.notices.files(self.now(), waiting);
    }

    /// Says that no backend takes a client.
    pub fn warn_of_backend(&mut self, socket: SocketId, reason: &'static str, why: &str) {
        if let Some(status) = self.status(socket) {
            self.shared.notices.no_backend(self.now(), status.local, reason, why);
        }
    }

    /// No backend of this name takes a client: it may stand for other addresses by now. The service
    /// gets an answer in any case, once the name is looked up or since that has just been done.
    pub fn look_up(&self, name: &str) {
        let mut names = self.shared.look_up.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.iter().any(|other| other == name) {
            names.push(name.into());
            self.shared.bell.ring();
        }
    }

    /// Calls the service for this socket again once others had their turn.
    pub fn again(&mut self, socket: SocketId) {
        self.again.insert(socket);
    }

    /// Tells the service of changes of a socket of the kernel, until that is closed.
    pub fn watch(&self, source: impl AsFd, number: u64) -> rustix::io::Result<()> {
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, source, EventData::new_u64(number + SERVICE), both)
    }
}

/// Those for whom nothing has moved for R2, since when it has; the longest first.
pub(crate) fn in_vain(now: Time, clients: impl Iterator<Item = (Time, SocketId)>) -> Vec<SocketId> {
    let mut rest: Vec<_> = clients.filter(|&(since, _)| since + R2 <= now).collect();
    rest.sort_unstable();
    rest.into_iter().map(|(_, socket)| socket).collect()
}

#[cfg(test)]
mod tests;
