//! Two hosts and the links between them, in a time that follows the real one.
//!
//! Everything between the hosts happens at the time at which it is due, in order, also where this
//! thread comes late: a packet arrives when its link has it arrive, its bytes are read and the
//! answer leaves in that moment, timers expire on the dot. So a slow or busy machine changes
//! nothing but when bytes enter and leave. The same bytes at the same times meet the same fates.
//!
//! When a host is read has a say in which ACKs it sends (`Receiver::read`). So bytes that have
//! arrived are read at once, and wait in an `Inbox` for whoever takes them.

mod inbox;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

use ackclock_stack::{
    Error as TcpError, ListenerId, Ready, SocketId, Stack, StackConfig, Timeouts,
};
use ackclock_tcp::connection::{KeepAlive, TcpState};
use ackclock_tcp::{DelayedAck, Span, Time};

use crate::links::{LinkCounts, Links, Passed};
use crate::relay::Host;
use crate::{Conditions, Error, ProxyConfig};
use inbox::Inboxes;

/// Of the hosts: the one that clients' bytes enter.
pub(crate) const CLIENTS: usize = 0;
/// The one that they leave towards the server.
pub(crate) const SERVERS: usize = 1;

/// Bytes that the buffers of a host may take beyond 8 KiB for each. One of them may take a 64th of
/// what is free, so the first ones get the 4 MiB that the stack's connections have by default.
const MEMORY: usize = 256 << 20;

/// 2 MSL. Ports are all that TIME-WAIT keeps here: nobody else uses the links.
const TIME_WAIT: Span = Span::from_secs(10);

/// Where the servers' host listens.
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 1);

/// The two hosts and what is between them.
pub(crate) struct Path {
    hosts: [Stack; 2],
    links: Links,
    listener: ListenerId,
    tcp: ackclock_stack::TcpConfig,
    now: Time,
    /// What has been read of the hosts.
    inboxes: Inboxes,
    /// Connections that have come to the servers' host, and sockets with news, for whoever asks.
    accepted: VecDeque<End>,
    ready: BTreeSet<End>,
}

/// A socket of one of the hosts.
pub(crate) type End = (usize, SocketId);

impl Path {
    /// The conditions get the places from 0 on.
    pub(crate) fn new(config: &ProxyConfig, conditions: &[Conditions]) -> Result<Path, Error> {
        let most = config.max_connections as usize;
        // Whoever could guess sequence numbers would have to be on the links.
        let secret = conditions.first().map_or(0, |first| u128::from(first.seed())).to_le_bytes();
        let host = |address: [u8; 4]| {
            Stack::new(StackConfig {
                addresses: vec![address.into()],
                secret,
                half_open: most,
                memory: MEMORY,
                ..StackConfig::default()
            })
        };
        let mut hosts = [host([10, 0, 0, 1]), host(SERVER.0)];
        let tcp = ackclock_stack::TcpConfig {
            strategy: config.strategy.clone(),
            time_wait: TIME_WAIT,
            // No link drops what is large.
            find_black_holes: false,
            // As between kernels; the handshake measures the round trip.
            delayed_ack: DelayedAck::Linux(Span::ZERO),
            // A reset that is lost leaves the other host with half of a connection. Linux has two
            // hours (tcp_keepalive_time, tcp_keepalive_intvl, tcp_keepalive_probes).
            keep_alive: Some(KeepAlive {
                idle: Span::from_secs(7200),
                interval: Span::from_secs(75),
                count: 9,
            }),
            ..ackclock_stack::TcpConfig::default()
        };
        let listener = hosts[SERVERS]
            .listen(SocketAddr::from(SERVER), tcp.clone(), most)
            .map_err(|error| Error::Usage(error.to_string()))?;
        let mut links = Links::new();
        for (conditions, place) in conditions.iter().zip(0..) {
            links.set(Time::ZERO, place, Some(conditions))?;
        }
        Ok(Path {
            hosts,
            links,
            listener,
            tcp,
            now: Time::ZERO,
            inboxes: Inboxes::default(),
            accepted: VecDeque::new(),
            ready: BTreeSet::new(),
        })
    }

    /// Other conditions come into force at a place, or none.
    pub(crate) fn set(&mut self, place: u32, to: Option<&Conditions>) -> Result<(), Error> {
        self.links.set(self.now, place, to)
    }

    pub(crate) fn report(&self) -> Vec<LinkCounts> {
        self.links.report(self.now)
    }

    pub(crate) fn passed(&self) -> Passed {
        self.links.passed()
    }

    /// Retransmission timeouts of both hosts, by class.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let [clients, servers] = self.hosts.each_ref().map(Stack::timeouts);
        std::array::from_fn(|class| clients[class] + servers[class])
    }

    /// Everything that is due until `now` happens.
    pub(crate) fn advance(&mut self, now: Time) {
        loop {
            let due = self.next_deadline();
            if due > now {
                break;
            }
            self.now = self.now.max(due);
            for host in &mut self.hosts {
                if host.next_deadline() <= self.now {
                    host.on_deadline(self.now);
                }
            }
            while let Some(arrived) = self.links.poll(self.now) {
                let (host, now) = (&mut self.hosts[arrived.host], self.now);
                self.links.deliver(now, &arrived, |packet| host.on_packet(now, packet, false));
            }
            self.flush();
            // An application reads when the system has answered (Linux `tcp_cleanup_rbuf`).
            self.take_news();
            self.flush();
        }
        self.now = self.now.max(now);
    }

    /// When something is due next; [`Time::NEVER`] if nothing is.
    pub(crate) fn next_deadline(&mut self) -> Time {
        let timers = self.hosts.iter().map(Stack::next_deadline);
        timers.fold(self.links.next_deadline(), Time::min)
    }

    /// When a connection is to be reset next; [`Time::NEVER`] if none is.
    pub(crate) fn next_reset(&self) -> Time {
        self.links.next_reset()
    }

    /// The clients' end of a connection that is to be reset by now. It may be over.
    pub(crate) fn poll_reset(&mut self) -> Option<End> {
        self.links.poll_reset(self.now).map(|client| (CLIENTS, client))
    }

    /// Puts on the links what the hosts have to send.
    pub(crate) fn flush(&mut self) {
        for (number, host) in self.hosts.iter_mut().enumerate() {
            while !self.links.is_full()
                && let Some(packet) = host.poll_transmit(self.now)
            {
                self.links.enter(self.now, number, &packet);
            }
        }
    }

    /// Takes from the hosts what they have for applications.
    fn take_news(&mut self) {
        for number in [CLIENTS, SERVERS] {
            while let Some(ready) = self.hosts[number].poll_ready() {
                let Ready::Socket(socket) = ready else { continue };
                self.read((number, socket));
                self.ready.insert((number, socket));
            }
        }
        while let Ok(socket) = self.hosts[SERVERS].accept(self.listener) {
            self.read((SERVERS, socket));
            self.accepted.push_back((SERVERS, socket));
        }
    }

    /// Reads what there is room for. Where that is all, the host says when there is more.
    fn read(&mut self, end: End) {
        let (host, socket) = end;
        let room = self.inboxes.room(end);
        if room > 0 {
            let inboxes = &mut self.inboxes;
            // An end or an error stays, for whoever has taken all before it.
            let _ =
                self.hosts[host].read_with(self.now, socket, |bytes| inboxes.put(end, bytes, room));
        }
    }

    /// The next socket that can be read or written where it could not, or whose state changed.
    pub(crate) fn poll_ready(&mut self) -> Option<End> {
        self.take_news();
        self.ready.pop_first()
    }

    /// Opens a connection from the clients' host to the servers'.
    pub(crate) fn connect(&mut self) -> Result<End, TcpError> {
        let server = SocketAddr::from(SERVER);
        let end = (CLIENTS, self.hosts[CLIENTS].connect(self.now, server, self.tcp.clone())?);
        self.read(end);
        if let Some(port) = self.port(end) {
            self.links.begin(self.now, end.1, port);
        }
        Ok(end)
    }

    /// A connection that has come to the servers' host.
    pub(crate) fn accept(&mut self) -> Option<End> {
        self.accepted.pop_front()
    }

    /// The port that a connection has at the clients' host.
    pub(crate) fn port(&self, (host, socket): End) -> Option<u16> {
        let status = self.hosts[host].status(socket).ok()?;
        Some(if host == CLIENTS { status.local } else { status.remote }.port())
    }

    /// Whether the connection ended before its time.
    pub(crate) fn is_broken(&self, (host, socket): End) -> bool {
        self.hosts[host].status(socket).map_or(true, |status| status.reason.is_some())
    }

    /// Bytes that can be read.
    pub(crate) fn readable(&self, end: End) -> usize {
        let in_host = self.hosts[end.0].status(end.1).map_or(0, |status| status.readable);
        self.inboxes.len(end) + in_host
    }

    /// Whether the other host has not answered yet.
    pub(crate) fn is_opening(&self, (host, socket): End) -> bool {
        self.hosts[host].status(socket).is_ok_and(|status| status.state == TcpState::SynSent)
    }

    /// Bytes that the other host has not acknowledged.
    pub(crate) fn unacked(&self, (host, socket): End) -> usize {
        self.hosts[host].status(socket).map_or(0, |status| status.unacked)
    }

    /// Whether the other host has acknowledged everything, FIN included; otherwise the socket gets
    /// ready when it has.
    pub(crate) fn is_acked(&mut self, (host, socket): End) -> bool {
        self.hosts[host].await_all_acked(socket)
    }

    pub(crate) fn close(&mut self, end: End) {
        self.forget(end);
        self.hosts[end.0].close(self.now, end.1);
    }

    pub(crate) fn abort(&mut self, end: End) {
        self.forget(end);
        self.hosts[end.0].abort(self.now, end.1);
    }

    /// Nobody has it any more.
    fn forget(&mut self, end: End) {
        self.inboxes.remove(end);
        if end.0 == CLIENTS {
            self.links.end(end.1);
        }
    }

    /// Gives back memory of buffers that hold little, and of packets that are gone, as
    /// [`Links::trim`].
    pub(crate) fn trim(&mut self) -> Time {
        self.hosts.iter_mut().for_each(Stack::trim);
        self.inboxes.trim();
        self.links.trim(self.now)
    }
}

impl Host for Path {
    type Socket = End;

    /// Until when everything has happened.
    fn now(&self) -> Time {
        self.now
    }

    /// Gives what has arrived to `take`.
    fn read_with(
        &mut self,
        end: End,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, TcpError> {
        if let Some(taken) = self.inboxes.take(end, take) {
            self.read(end);
            return Ok(taken);
        }
        // Nothing is there, or the end of the stream: the host says which.
        self.hosts[end.0].read_with(self.now, end.1, |_| 0)
    }

    fn room(&mut self, (host, socket): End) -> Result<usize, TcpError> {
        self.hosts[host].room(self.now, socket)
    }

    fn write(&mut self, (host, socket): End, bytes: &[u8]) -> Result<usize, TcpError> {
        self.hosts[host].write(self.now, socket, bytes)
    }

    fn shutdown(&mut self, (host, socket): End) -> Result<(), TcpError> {
        self.hosts[host].shutdown(self.now, socket)
    }
}
