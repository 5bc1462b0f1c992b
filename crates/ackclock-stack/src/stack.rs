//! The host, and what the application does with it.

mod listening;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::connection::{Connection, ConnectionConfig, TcpState};
use ackclock_tcp::wire::window_scale;
use ackclock_tcp::{Event, ReceiverConfig, Sender, SenderConfig, Seq, Span, Stats, Time};

pub use listening::overlap;

use crate::lifecycle::New;
use crate::limits::{Limit, Limits};
use crate::listener::Listener;
use crate::memory::Memory;
use crate::output::{Class, Output};
use crate::paths::PathMtus;
use crate::patience::Patience;
use crate::ports::Ports;
use crate::socket::Owner;
use crate::table::{Entry, Table};
use crate::timers::Timers;
use crate::tuple::{DemuxHasher, Secret, Tuple};
use crate::{
    EcnUse, Error, ListenerId, Ready, SocketId, StackConfig, StackStats, Status, TcpConfig,
    Timeouts,
};

/// RFC 9293 section 3.8.3 (MUST-23): a SYN is tried for at least three minutes; after 1, 2, 4, ...,
/// 64 s that is so with seven.
const SYN_RETRIES: u32 = 7;
/// A SYN/ACK is tried for a minute, as Linux does: there is no application to tell, and a flood
/// should not stay for long.
const SYN_ACK_RETRIES: u32 = 5;
/// How long FIN-WAIT-2 lasts when nobody reads any more, as in Linux.
const FIN_WAIT_2: Span = Span::from_secs(60);

/// No less is remembered for other connections to a host: what every host takes (RFC 791). Who has
/// seen one connection could make the packets of all that are behind the same address tiny.
const LEAST_REMEMBERED: u16 = 576;

/// What every path takes (RFC 791; RFC 8200 section 5).
fn least_mtu(tuple: &Tuple) -> u16 {
    if tuple.local.is_ipv4() { 576 } else { 1280 }
}

/// The host.
pub struct Stack {
    pub(crate) config: StackConfig,
    pub(crate) secret: Secret,
    pub(crate) stats: StackStats,
    /// Timeouts of connections that are gone.
    pub(crate) timeouts: Timeouts,
    pub(crate) table: Table,
    /// The slot of each connection.
    pub(crate) demux: HashMap<Tuple, u32, DemuxHasher>,
    pub(crate) listeners: HashMap<ListenerId, Listener>,
    next_listener: u64,
    pub(crate) ports: Ports,
    pub(crate) paths: PathMtus,
    pub(crate) timers: Timers,
    pub(crate) memory: Memory,
    pub(crate) patience: Patience,
    /// How long others may wait after the packet at hand.
    pub(crate) wait: Span,
    pub(crate) output: Output,
    pub(crate) ready: VecDeque<Ready>,
    pub(crate) events: VecDeque<(SocketId, Event)>,
}

impl Stack {
    /// A host without sockets. An MTU below the least that IP allows counts as that.
    pub fn new(mut config: StackConfig) -> Stack {
        let least = if config.addresses.iter().any(IpAddr::is_ipv6) { 1280 } else { 576 };
        config.mtu = config.mtu.max(least);
        let secret = Secret::new(config.secret);
        let memory = config.memory;
        Stack {
            config,
            secret,
            stats: StackStats::default(),
            timeouts: Timeouts::default(),
            table: Table::default(),
            demux: HashMap::with_hasher(secret.demux_hasher()),
            listeners: HashMap::new(),
            next_listener: 0,
            ports: Ports::new(),
            paths: PathMtus::default(),
            timers: Timers::default(),
            memory: Memory::new(memory),
            patience: Patience::default(),
            wait: Span::ZERO,
            output: Output::default(),
            ready: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// From now on knows of paths what `other` does, which has the same clock, and tells it what it
    /// finds out about them.
    pub fn share_paths(&mut self, other: &Stack) {
        self.paths = other.paths.clone();
    }

    /// Opens a connection, from a free port; [`Stack::status`] tells when it is established.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::NoAddress`].
    pub fn connect(
        &mut self,
        now: Time,
        remote: SocketAddr,
        config: TcpConfig,
    ) -> Result<SocketId, Error> {
        let ip = remote.ip();
        let own = self.config.addresses.iter().find(|own| own.is_ipv4() == ip.is_ipv4());
        let &local = own.ok_or(Error::NoAddress)?;
        if !self.may_be_peer(ip) || remote.port() == 0 {
            return Err(Error::NoAddress);
        }
        let tuple = Tuple { local, remote: ip, local_port: 0, remote_port: remote.port() };
        let is_free = |local_port| !self.demux.contains_key(&Tuple { local_port, ..tuple });
        let local_port = self.ports.take(&self.secret, &tuple, is_free).ok_or(Error::InUse)?;
        let tuple = Tuple { local_port, ..tuple };
        let iss = self.secret.isn(now, &tuple);
        let mut settings = self.connection_config(now, &tuple, &config, iss);
        settings.syn_retries = SYN_RETRIES;
        settings.ecn = config.ecn == EcnUse::Ask;
        let connection = Connection::connect(now, settings, config.strategy.build());
        let (config, strategy, owner) = (&config, 0, Owner::Application);
        Ok(self.insert(now, New { tuple, connection, iss, config, strategy, owner }))
    }

    /// Writes as much as there is room for, at least a byte.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::Closed`], [`Error::ShutDown`], [`Error::NoSocket`].
    pub fn write(&mut self, now: Time, socket: SocketId, bytes: &[u8]) -> Result<usize, Error> {
        let grant = self.memory.grant();
        let (index, held) = self.table.held_mut(socket)?;
        let len = held.write(now, bytes, grant)?;
        self.after_input(index);
        Ok(len)
    }

    /// Reads what is there; `Ok(0)` at the end of the stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::Closed`], [`Error::NoSocket`].
    pub fn read(&mut self, now: Time, socket: SocketId, bytes: &mut [u8]) -> Result<usize, Error> {
        self.read_with(now, socket, |[a, b]| {
            let a = &a[..a.len().min(bytes.len())];
            let (first, rest) = bytes.split_at_mut(a.len());
            first.copy_from_slice(a);
            let b = &b[..b.len().min(rest.len())];
            rest[..b.len()].copy_from_slice(b);
            a.len() + b.len()
        })
    }

    /// Gives what is there to `take`, in one or two pieces and in place, which says how much of it
    /// it took; returns that. `Ok(0)` at the end of the stream too, for which `take` is not called.
    ///
    /// # Errors
    /// As [`Stack::read`].
    pub fn read_with(
        &mut self,
        now: Time,
        socket: SocketId,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, Error> {
        let grant = self.memory.grant();
        let (index, held) = self.table.held_mut(socket)?;
        held.grant_receive(grant);
        let len = held.read_with(now, take)?;
        if len > 0 {
            self.after_input(index);
        }
        Ok(len)
    }

    /// Names the socket in [`Stack::poll_ready`] once the peer has acknowledged everything before
    /// this position of what was written ([`Status::written`]), also where it has already. A
    /// further call takes the place of this one.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn await_acked(&mut self, socket: SocketId, position: u64) -> Result<(), Error> {
        let (index, held) = self.table.held_mut(socket)?;
        held.wants_acked = Some(position);
        self.after_input(index);
        Ok(())
    }

    /// Whether the peer has acknowledged everything, FIN included; otherwise the socket is named in
    /// [`Stack::poll_ready`] when it has. Of a socket that is over nothing is waited for.
    pub fn await_all_acked(&mut self, socket: SocketId) -> bool {
        let Ok(status) = self.status(socket) else { return true };
        if status.unacked > 0 {
            // Of a socket that is there.
            let _ = self.await_acked(socket, status.written);
            return false;
        }
        // RFC 9293 section 3.3.2: our FIN is sent, and not acknowledged.
        !matches!(status.state, TcpState::FinWait1 | TcpState::Closing | TcpState::LastAck)
    }

    /// How much [`Stack::write`] would take, above 0.
    ///
    /// # Errors
    /// Those of [`Stack::write`]. With [`Error::WouldBlock`] the socket is named in
    /// [`Stack::poll_ready`] later.
    pub fn room(&mut self, now: Time, socket: SocketId) -> Result<usize, Error> {
        match self.status(socket)?.writable {
            // A write that finds no room is what says that somebody waits for it.
            0 => Err(self.write(now, socket, &[0]).err().unwrap_or(Error::ShutDown)),
            room => Ok(room),
        }
    }

    /// No more will be written; what arrives can still be read.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn shutdown(&mut self, now: Time, socket: SocketId) -> Result<(), Error> {
        let (index, held) = self.table.held_mut(socket)?;
        held.shut = true;
        held.connection.shutdown(now);
        self.after_input(index);
        Ok(())
    }

    /// Lets the socket go: what was written is still delivered, and the connection closes by
    /// itself.
    pub fn close(&mut self, now: Time, socket: SocketId) {
        if let Ok((index, _)) = self.table.held(socket) {
            self.let_go(now, index, Connection::close);
        }
    }

    /// Lets the socket go with a reset.
    pub fn abort(&mut self, now: Time, socket: SocketId) {
        if let Ok((index, _)) = self.table.held(socket) {
            self.let_go(now, index, Connection::abort);
        }
    }

    /// A socket at this moment.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn status(&self, socket: SocketId) -> Result<Status, Error> {
        Ok(self.table.held(socket)?.1.status(self.memory.grant()))
    }

    /// The sending half of a socket, for its counters and windows.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn sender(&self, socket: SocketId) -> Result<&Sender, Error> {
        Ok(self.table.held(socket)?.1.connection.sender())
    }

    /// What the connection of a socket has counted, its handshake included.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn counted(&self, socket: SocketId) -> Result<Stats, Error> {
        Ok(self.table.held(socket)?.1.connection.stats())
    }

    /// What kept a socket from sending, from when it was opened until now. Its handshake and its
    /// wait for [`Stack::accept`] count as [`Limit::Application`]; [`Limits::since`] takes them
    /// off.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn limits(&self, now: Time, socket: SocketId) -> Result<Limits, Error> {
        let mut limits = self.table.held(socket)?.1.limits;
        limits.set(now, Limit::default());
        Ok(limits)
    }

    /// When to call [`Stack::on_deadline`]; [`Time::NEVER`] if no timer runs. It may be too early,
    /// never too late.
    pub fn next_deadline(&self) -> Time {
        self.timers.next()
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some((at, index)) = self.timers.pop(now) {
            let Some(slot) = self.table.slot(index).filter(|slot| slot.scheduled == at) else {
                continue;
            };
            slot.scheduled = Time::NEVER;
            match &mut slot.entry {
                Entry::Free => {}
                Entry::TimeWait(record) if record.until <= now => {
                    let tuple = record.tuple;
                    self.forget(&tuple, index);
                }
                Entry::TimeWait(record) => {
                    let until = record.until;
                    self.timers.schedule(index, until, &mut slot.scheduled);
                }
                Entry::Socket(socket) => {
                    let deadline = socket.connection.next_deadline();
                    if deadline > now {
                        self.timers.schedule(index, deadline, &mut slot.scheduled);
                    } else {
                        let known = socket.connection.found_path_mss();
                        socket.connection.on_deadline(now);
                        let found = socket.connection.found_path_mss();
                        if let Some(path_mss) = found.filter(|_| found != known) {
                            let remote = socket.tuple.remote;
                            let mtu = path_mss + socket.tuple.fixed_headers();
                            self.stats.black_holes += 1;
                            self.learn_mtu(now, remote, mtu);
                        }
                        self.after_input(index);
                    }
                }
            }
        }
    }

    /// How long packets may lie in the device now without harm, judged by those that came since the
    /// last call; zero if none came. Less than a twentieth of the round-trip time, and at most 2
    /// ms, while one or several connections send much without a loss; zero for 100 ms after any
    /// packet of another kind.
    pub fn patience(&mut self, now: Time) -> Span {
        self.patience.take(now)
    }

    /// What changed since the last calls, each once. A full send buffer counts as writable again
    /// when a quarter of it is free.
    pub fn poll_ready(&mut self) -> Option<Ready> {
        loop {
            let ready = self.ready.pop_front()?;
            match ready {
                Ready::Accept(id) => {
                    let Some(listener) = self.listeners.get_mut(&id) else { continue };
                    listener.in_ready = false;
                    if listener.queue.is_empty() {
                        continue;
                    }
                }
                Ready::Socket(id) => {
                    let Ok((_, socket)) = self.table.held_mut(id) else { continue };
                    socket.in_ready = false;
                }
            }
            return Some(ready);
        }
    }

    /// The oldest event not yet taken of the sockets that record them.
    pub fn poll_event(&mut self) -> Option<(SocketId, Event)> {
        self.events.pop_front()
    }

    /// Connections in any state, those half open or in TIME-WAIT included.
    pub fn connections(&self) -> usize {
        self.demux.len()
    }

    /// Connections that the application has let go and whose data or FIN the peer has not
    /// acknowledged. Looks at every socket.
    pub fn lingering(&self) -> usize {
        self.table.sockets().filter(|socket| socket.is_lingering()).count()
    }

    /// Connections that listeners keep half open; at most [`StackConfig::half_open`] for each.
    pub fn half_open(&self) -> usize {
        self.listeners.values().map(|listener| listener.half_open).sum()
    }

    /// Established connections that wait to be accepted.
    pub fn waiting(&self) -> usize {
        self.listeners.values().map(|listener| listener.queue.len()).sum()
    }

    /// Those of [`Stack::waiting`] that have not ended before their time. Looks at every socket.
    pub fn waiting_alive(&self) -> usize {
        let queued = self.table.sockets().filter(|s| matches!(s.owner, Owner::Queued(_)));
        queued.filter(|socket| socket.connection.reason().is_none()).count()
    }

    /// Bytes that all connections take for their buffers, for the list of what is outstanding, and
    /// in TIME-WAIT; those that nobody holds any more included.
    pub fn memory(&self) -> usize {
        self.memory.used()
    }

    /// Gives back memory of buffers that have grown and hold little. Looks at every socket: once a
    /// second is enough.
    pub fn trim(&mut self) {
        let grant = self.memory.grant();
        for socket in self.table.sockets_mut() {
            socket.send.trim(grant);
            socket.receive.trim(grant);
            self.memory.count(socket);
        }
    }

    /// Counters.
    pub fn stats(&self) -> &StackStats {
        &self.stats
    }

    /// Retransmission timeouts of all connections by class, those that are gone included.
    /// Looks at every socket.
    pub fn timeouts(&self) -> Timeouts {
        let mut sum = self.timeouts;
        self.table.sockets().for_each(|socket| socket.add_timeouts(&mut sum));
        sum
    }

    /// The configuration.
    pub fn config(&self) -> &StackConfig {
        &self.config
    }

    /// What the IP headers of a connection say.
    pub(crate) fn class(&self, tuple: &Tuple) -> Class {
        let flow_label = if tuple.local.is_ipv6() { self.secret.flow_label(tuple) } else { 0 };
        Class { dscp: self.config.dscp, flow_label, ..Class::default() }
    }

    /// Whether a connection with this address makes sense: it is another host's alone (RFC 1122
    /// section 3.2.1.3).
    pub(crate) fn may_be_peer(&self, address: IpAddr) -> bool {
        let kind = match address {
            IpAddr::V4(v4) => !v4.is_broadcast() && v4.octets()[0] != 0,
            IpAddr::V6(v6) => v6.to_ipv4_mapped().is_none(),
        };
        kind && !address.is_unspecified()
            && !address.is_multicast()
            && !address.is_loopback()
            && !self.config.addresses.contains(&address)
    }

    /// Remembers what the path to a host takes, for connections to come.
    pub(crate) fn learn_mtu(&self, now: Time, remote: IpAddr, mtu: u16) {
        let remembered = mtu.max(LEAST_REMEMBERED);
        if remembered < self.paths.mtu(now, remote, self.config.mtu).0 {
            self.paths.learn(now, remote, remembered);
        }
    }

    /// How a connection between these ends begins.
    pub(crate) fn connection_config(
        &self,
        now: Time,
        tuple: &Tuple,
        config: &TcpConfig,
        iss: Seq,
    ) -> ConnectionConfig {
        let most = config.mss.unwrap_or(u16::MAX);
        let (path_mtu, until) = self.paths.mtu(now, tuple.remote, self.config.mtu);
        let mss = |mtu: u16| mtu.saturating_sub(tuple.fixed_headers()).min(most);
        let wscale = config.window_scaling.then(|| window_scale(config.receive_buffer as u64));
        ConnectionConfig {
            // What a peer asks for; `connect` says what we ask for.
            ecn: config.ecn != EcnUse::Off,
            iss,
            local_mss: mss(self.config.mtu),
            path_mss: mss(path_mtu),
            // When nobody remembers it any more, new connections begin wide.
            wide_path_mss: until.map(|until| (mss(self.config.mtu), until)),
            least_path_mss: config
                .find_black_holes
                .then(|| least_mtu(tuple) - tuple.fixed_headers()),
            sack: config.sack,
            timestamps: config.timestamps,
            wscale,
            sender: SenderConfig {
                initial_window: config.initial_window,
                min_rto: config.min_rto,
                nagle: config.nagle,
                events: config.events,
                ..SenderConfig::default()
            },
            receiver: ReceiverConfig {
                delayed_ack: config.delayed_ack,
                buffer: config.receive_buffer.min(self.memory.grant()) as u64,
                auto_read: false,
                ..ReceiverConfig::default()
            },
            syn_retries: SYN_ACK_RETRIES,
            keep_alive: config.keep_alive,
            user_timeout: config.user_timeout,
            time_wait: config.time_wait,
            fin_wait_2: FIN_WAIT_2,
        }
    }
}
