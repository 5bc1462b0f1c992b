//! The links between devices, without their thread: packets are read, entered, and written when
//! due.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use ackclock_net::scenario::Scenario;
use ackclock_net::{Exit, Gateway, Headers, LinkEnds, LinkId, NodeId, Outcome, UnderWay, flip};
use ackclock_tcp::Time;
use ackclock_tcp::wire::ip;
use rustix::event::{PollFlags, Timespec};
use rustix::time::{ClockId, clock_gettime};

use super::{Attachment, Dropped, GatewayReport, Logs, Transit};
use crate::tun::Tun;

/// The thread does not sleep when the next packet is due within this.
const SPIN_NANOS: u64 = 20_000;
/// Packets that are read from a device before what has become due meanwhile is sent.
const BATCH: usize = 32;
/// Rounds until the lock is let go.
const ROUNDS: usize = 64;
/// Packets under way; when there are more, or too many bytes, the devices have to wait, and drop
/// what their queues do not hold.
const MOST_PACKETS: usize = 1 << 18;

/// A node with its device.
struct Port {
    node: NodeId,
    tun: Arc<Tun>,
    /// Of the packets that reached it.
    transit: Transit,
    /// What waits for room in the device.
    waiting: VecDeque<Exit>,
    /// What to wait for.
    wanted: PollFlags,
}

/// Links, devices, and the packets under way.
pub(super) struct Machine {
    gateway: Gateway,
    started: u64,
    /// The same in nanoseconds since 1970.
    started_real: u64,
    ports: Vec<Port>,
    /// Network, length of its prefix, and port; longer prefixes first.
    routes: Vec<(IpAddr, u8, usize)>,
    /// Packets under way, and when they were read.
    packets: UnderWay<Time>,
    full: bool,
    scratch: Vec<u8>,
    counts: GatewayReport,
    /// Why it has come to an end by itself.
    pub failure: Option<String>,
    logs: Logs,
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.into())
}

fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Machine {
    /// The links of a scenario between devices, as [`super::RealTimeGateway::start_logged`] has
    /// them.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        attachments: Vec<Attachment>,
        logs: Logs,
    ) -> io::Result<Machine> {
        let mut gateway = Gateway::new(scenario, seed).map_err(|e| invalid(e.to_string()))?;
        let mut ports: Vec<Port> = Vec::new();
        let mut routes = Vec::new();
        for Attachment { node: name, tun, prefixes } in attachments {
            let node =
                gateway.node(&name).ok_or_else(|| invalid(format!("there is no node `{name}`")))?;
            if ports.iter().any(|port| port.node == node) {
                return Err(invalid(format!("node `{name}` has a device already")));
            }
            if tun.offload() {
                return Err(invalid(format!("the device of node `{name}` has offload")));
            }
            for port in &ports {
                if !gateway.has_route(node, port.node) || !gateway.has_route(port.node, node) {
                    let other = &gateway.node_names()[port.node.0 as usize];
                    return Err(invalid(format!(
                        "no links lead from `{name}` to `{other}` and back"
                    )));
                }
            }
            routes.extend(
                prefixes.into_iter().map(|(network, length)| (network, length, ports.len())),
            );
            ports.push(Port {
                node,
                tun: Arc::new(tun),
                transit: Transit::default(),
                waiting: VecDeque::new(),
                wanted: PollFlags::IN,
            });
        }
        if logs.queues.is_some() {
            gateway.watch_queues();
        }
        routes.sort_by_key(|&(_, length, _)| std::cmp::Reverse(length));
        Ok(Machine {
            gateway,
            started: nanos(ClockId::Monotonic),
            started_real: nanos(ClockId::Realtime),
            ports,
            routes,
            packets: UnderWay::default(),
            full: false,
            scratch: vec![0; Tun::BUFFER],
            counts: GatewayReport::default(),
            failure: None,
            logs,
        })
    }

    fn now(&self) -> Time {
        Time(nanos(ClockId::Monotonic) - self.started)
    }

    /// What it has done so far.
    pub fn report(&self) -> GatewayReport {
        let names = self.gateway.node_names();
        let name = |node: NodeId| names[node.0 as usize].clone();
        let links = self.gateway.link_reports(self.now()).filter_map(|(built, report)| {
            let LinkEnds { from, to } = self.gateway.link_ends(built.id)?;
            Some((name(from), name(to), report))
        });
        let transits = self.ports.iter().map(|port| (name(port.node), port.transit));
        GatewayReport {
            links: links.collect(),
            transits: transits.collect(),
            ..self.counts.clone()
        }
    }

    /// Reads and writes until there is nothing to do for a while.
    pub fn turn(&mut self) -> io::Result<()> {
        for port in 0..self.ports.len() {
            while let Some(exit) = self.ports[port].waiting.pop_front() {
                if !self.write(port, &exit) {
                    break;
                }
            }
        }
        for _ in 0..ROUNDS {
            self.deliver();
            let mut read = 0;
            for port in 0..self.ports.len() {
                read += self.read(port)?;
            }
            let due = self.gateway.next_deadline().0;
            if read == 0 && due > self.now().0 + SPIN_NANOS {
                break;
            }
        }
        Ok(())
    }

    /// How long to wait for packets; `None` if nothing is under way.
    pub fn sleep(&mut self) -> Option<Timespec> {
        let full = self.is_full();
        self.counts.stalled += u64::from(full && !self.full);
        self.full = full;
        for port in &mut self.ports {
            port.wanted = if full { PollFlags::empty() } else { PollFlags::IN };
            port.wanted.set(PollFlags::OUT, !port.waiting.is_empty());
        }
        let now = self.now();
        let due = self.gateway.next_deadline().min(self.packets.trim(now));
        (due != Time::NEVER).then(|| {
            let left = due.0.saturating_sub(now.0 + SPIN_NANOS);
            Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as _ }
        })
    }

    /// The devices, one for each attached node.
    pub fn devices(&self) -> impl Iterator<Item = Arc<Tun>> {
        self.ports.iter().map(|port| port.tun.clone())
    }

    /// What to wait for at each of them.
    pub fn wanted(&self) -> impl Iterator<Item = PollFlags> {
        self.ports.iter().map(|port| port.wanted)
    }

    fn is_full(&self) -> bool {
        self.packets.is_full() || self.packets.count() >= MOST_PACKETS
    }

    /// Reads some packets of a device; returns how many.
    fn read(&mut self, port: usize) -> io::Result<usize> {
        let tun = self.ports[port].tun.clone();
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut read = 0;
        let result = loop {
            if read == BATCH || self.is_full() {
                break Ok(read);
            }
            match tun.receive_packet(&mut scratch) {
                Ok(Some(packet)) => {
                    read += 1;
                    self.enter(port, packet);
                }
                Ok(None) => break Ok(read),
                Err(error) => break Err(error),
            }
        };
        self.scratch = scratch;
        result
    }

    /// A packet comes from the device of `port`.
    fn enter(&mut self, port: usize, packet: &[u8]) {
        let now = self.now();
        self.counts.entered += 1;
        let headers = Headers::parse(packet);
        let Some((headers, to)) = headers.and_then(|h| Some((h, self.route(port, h.to.ip())?)))
        else {
            self.counts.unroutable += 1;
            return;
        };
        let token = self.packets.put(&[packet], now);
        let (from, to) = (self.ports[port].node, self.ports[to].node);
        self.gateway.enter(now, from, to, &headers, token);
    }

    /// The port that packets from another one to this address go to.
    fn route(&self, from: usize, to: IpAddr) -> Option<usize> {
        let fits = |&&(network, length, port): &&(IpAddr, u8, usize)| {
            port != from && holds(network, length, to)
        };
        self.routes.iter().find(fits).map(|route| route.2)
    }

    /// Writes what is due.
    fn deliver(&mut self) {
        let now = self.now();
        self.log_queues();
        while let Some(exit) = self.gateway.poll(now) {
            match exit.outcome {
                Outcome::Delivered { node, .. } => {
                    let Some(port) = self.ports.iter().position(|port| port.node == node) else {
                        continue;
                    };
                    let entered = *self.packets.get(exit.token).1;
                    self.ports[port].transit.add(exit.at.since(entered).nanos());
                    if self.ports[port].waiting.is_empty() {
                        self.write(port, &exit);
                    } else {
                        self.ports[port].waiting.push_back(exit);
                    }
                }
                Outcome::Dropped { link, why } => {
                    self.log_drop(&exit, link, why);
                    self.release(&exit);
                }
            }
        }
    }

    /// Tells the log what has become known of packets at queues.
    fn log_queues(&mut self) {
        let Some(log) = &mut self.logs.queues else { return };
        self.gateway.take_visits().for_each(|(link, visit)| log(link, &visit));
    }

    /// Tells the log of packets that wait as the gateway ends.
    pub fn log_waiting(&mut self) {
        self.log_queues();
        let Some(log) = &mut self.logs.queues else { return };
        self.gateway.waiting().for_each(|(link, visit)| log(link, &visit));
    }

    /// Tells the log of a packet that has been dropped.
    fn log_drop(&mut self, exit: &Exit, link: LinkId, why: &'static str) {
        let Some(log) = &mut self.logs.drops else { return };
        let Some(LinkEnds { from, to }) = self.gateway.link_ends(link) else { return };
        let names = self.gateway.node_names();
        let packet = self.packets.get(exit.token).0;
        let at = Time(self.started_real + exit.at.0);
        log(&Dropped { at, from: &names[from.0 as usize], to: &names[to.0 as usize], why, packet });
    }

    /// Writes a packet, or has it wait for room: then it returns false.
    fn write(&mut self, port: usize, exit: &Exit) -> bool {
        let (bytes, _) = self.packets.get(exit.token);
        let unmarked = mark(bytes, exit);
        let bit = match exit.outcome {
            Outcome::Delivered { flip, .. } => flip,
            Outcome::Dropped { .. } => None,
        };
        bit.into_iter().for_each(|bit| flip(bytes, bit));
        // The receiving kernel works within the write.
        let late = (nanos(ClockId::Monotonic) - self.started).saturating_sub(exit.at.0);
        let written = self.ports[port].tun.send_packet(bytes);
        // A copy may be under way.
        bit.into_iter().for_each(|bit| flip(bytes, bit));
        if let Some(header) = unmarked {
            bytes[..header.len()].copy_from_slice(&header);
        }
        match written {
            Ok(()) => {
                self.counts.delivered += 1;
                self.counts.lateness.add(late);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.ports[port].waiting.push_front(*exit);
                return false;
            }
            Err(_) => self.counts.refused += 1,
        }
        self.release(exit);
        true
    }

    /// Lets a packet's buffer go with the last copy.
    fn release(&mut self, exit: &Exit) {
        if exit.last {
            self.packets.remove(exit.token);
        }
    }
}

/// Marks a packet that is to be marked. Returns the beginning of its header as it was.
fn mark(bytes: &mut [u8], exit: &Exit) -> Option<[u8; ip::v4::HEADER_LEN]> {
    if !matches!(exit.outcome, Outcome::Delivered { marked: true, .. }) {
        return None;
    }
    let header = bytes.first_chunk().copied();
    ip::mark(bytes);
    header
}

/// Whether a prefix holds an address.
fn holds(network: IpAddr, length: u8, address: IpAddr) -> bool {
    let shifted = |bits: u128, width: u32| {
        bits.checked_shr(width - u32::from(length).min(width)).unwrap_or(0)
    };
    match (network, address) {
        (IpAddr::V4(n), IpAddr::V4(a)) => {
            shifted(n.to_bits().into(), 32) == shifted(a.to_bits().into(), 32)
        }
        (IpAddr::V6(n), IpAddr::V6(a)) => shifted(n.to_bits(), 128) == shifted(a.to_bits(), 128),
        _ => false,
    }
}
