//! The kernel as a sender: a namespace, a TUN device as its only way out, and sockets.

use std::io;
use std::mem::take;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use ackclock_live::{Tun, TunConfig};
use ackclock_replay::{CaState, Info};
use ackclock_tcp::Time;
use ackclock_tcp::wire::{Packet, PseudoHeader, Repr, ip};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::sockopt;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, socket_with,
};
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::scenario::Scenario;
use crate::command::output;

const DEVICE: &str = "path";
const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
/// What devices have by default (`GSO_MAX_SEGS`).
const GSO_MAX_SEGS: u32 = 65_535;
/// More than any window reaches.
const SEND_BUFFER: usize = 1 << 25;

/// What sysctls a scenario may change, and their defaults.
pub(super) const SETTINGS: [(&str, i64); 4] = [
    ("tcp_early_retrans", 3),
    ("tcp_frto", 2),
    ("tcp_recovery", 1),
    ("tcp_slow_start_after_idle", 1),
];

/// The network of one recorder. Everything here belongs to the namespace of the thread that made
/// it.
pub(super) struct Host {
    tun: Tun,
    diag: OwnedFd,
    buffer: Vec<u8>,
    port: u16,
    /// The device takes super-segments.
    offload: bool,
}

/// A segment that the kernel sent.
pub(super) struct Received {
    /// With the codepoint of the IP header.
    pub header: Repr,
    pub len: u32,
}

/// A connection of the kernel to us.
pub(super) struct Connection {
    pub socket: OwnedFd,
    /// Our port.
    pub port: u16,
    /// The kernel's port, known from its SYN.
    pub kernel_port: u16,
}

pub(super) fn now() -> Time {
    let t = clock_gettime(ClockId::Monotonic);
    Time(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64)
}

/// Writes a sysctl of the namespace of the calling thread.
fn sysctl(key: &str, value: i64) -> io::Result<()> {
    std::fs::write(format!("/proc/sys/net/ipv4/{key}"), value.to_string())
}

impl Host {
    /// Sets up the namespace of the calling thread, which has to be an empty one.
    pub fn new() -> io::Result<Host> {
        let tun = Tun::open(&TunConfig {
            name: DEVICE.into(),
            addresses: vec![(IpAddr::V4(KERNEL), 24)],
            mtu: 1500,
            offload: false,
        })?;
        // No queue makes a choice among segments.
        output(&format!("tc qdisc replace dev {DEVICE} root pfifo limit 10000"))?;
        // Nothing of a connection before this one.
        sysctl("tcp_no_metrics_save", 1)?;
        let diag = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        let mut host = Host { tun, diag, buffer: vec![0; Tun::BUFFER], port: 5000, offload: true };
        host.set_offload(false)?;
        Ok(host)
    }

    /// Whether TCP makes super-segments, which the kernel cuts before they reach the device.
    /// Otherwise segments leave one by one.
    fn set_offload(&mut self, offload: bool) -> io::Result<()> {
        if offload != self.offload {
            let most = if offload { GSO_MAX_SEGS } else { 1 };
            output(&format!("ip link set dev {DEVICE} gso_max_segs {most}"))?;
            self.offload = offload;
        }
        Ok(())
    }

    /// Opens a socket as the scenario has it and has it send its SYN.
    pub fn connect(&mut self, scenario: &Scenario) -> io::Result<Connection> {
        self.set_offload(scenario.offload)?;
        for (key, default) in SETTINGS {
            sysctl(key, scenario.settings.get(key).copied().unwrap_or(default))?;
        }
        // Ask for it, or accept it only, as by default.
        sysctl("tcp_ecn", if scenario.ecn { 1 } else { 2 })?;
        let socket = socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
            Some(ipproto::TCP),
        )?;
        sockopt::set_tcp_congestion(&socket, &scenario.congestion)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        sockopt::set_socket_send_buffer_size_force(&socket, SEND_BUFFER)?;
        // Closing resets, so that nothing of it is left for the next one.
        sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO))?;
        self.port = if self.port >= 60_000 { 5000 } else { self.port + 1 };
        while self.receive_any()?.is_some() {}
        let to = SocketAddr::from((PEER, self.port));
        match rustix::net::connect(&socket, &to) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Connection { socket, port: self.port, kernel_port: 0 })
    }

    /// The next segment of a connection that the kernel has sent, if one waits.
    pub fn receive(&mut self, connection: &Connection) -> io::Result<Option<Received>> {
        while let Some((header, len)) = self.receive_any()? {
            if header.dst_port == connection.port {
                return Ok(Some(Received { header, len }));
            }
        }
        Ok(None)
    }

    fn receive_any(&mut self) -> io::Result<Option<(Repr, u32)>> {
        let mut buffer = take(&mut self.buffer);
        let result = loop {
            let packet = match self.tun.receive_packet(&mut buffer) {
                Ok(Some(packet)) => packet,
                Ok(None) => break Ok(None),
                Err(error) => break Err(error),
            };
            // Other packets: the kernel looks for IPv6 routers, for example.
            let codepoint = ip::codepoint(packet);
            let Ok(packet) = ip::v4::Packet::parse(packet) else { continue };
            if packet.header.protocol() != ip::TCP {
                continue;
            }
            let Ok(segment) = Packet::parse(packet.payload) else { continue };
            let header = Repr { codepoint, ..Repr::parse(&segment).0 };
            break Ok(Some((header, segment.payload().len() as u32)));
        };
        self.buffer = buffer;
        result
    }

    /// Sends the kernel a segment without data; when it went in.
    pub fn send(&self, connection: &Connection, header: &Repr) -> io::Result<Time> {
        self.send_data(connection, header, 0)
    }

    /// The same with so many bytes of data.
    pub fn send_data(
        &self,
        connection: &Connection,
        header: &Repr,
        data: usize,
    ) -> io::Result<Time> {
        let header =
            Repr { src_port: connection.port, dst_port: connection.kernel_port, ..*header };
        let len = header.header_len() + data;
        let mut packet = [0; 1500];
        let (head, rest) = packet.split_at_mut(ip::v4::HEADER_LEN);
        let pseudo = PseudoHeader::V4 { src: PEER, dst: KERNEL };
        header.emit(&pseudo, &mut rest[..len]).map_err(io::Error::other)?;
        if let Ok(head) = head.try_into() {
            ip::v4::Repr::new(PEER, KERNEL, ip::TCP, len as u16).emit(head);
        }
        let at = now();
        self.tun.send_packet(&packet[..ip::v4::HEADER_LEN + len])?;
        Ok(at)
    }

    /// Waits until a packet comes or the time does; whether a packet came.
    pub fn wait(&self, until: Time) -> io::Result<bool> {
        let left = until.since(now()).0;
        let timeout = Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let mut fds = [PollFd::new(&self.tun, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            result => Ok(result? > 0),
        }
    }

    /// `TCP_INFO` of a connection, by sock_diag(7): that is what other code can ask for.
    pub fn info(&self, connection: &Connection) -> io::Result<Info> {
        let request = diag_request(connection);
        netlink_send(&self.diag, &request)?;
        let mut answer = [0; 1024];
        let (_, length) = rustix::net::recv(&self.diag, &mut answer[..], RecvFlags::empty())?;
        info(&answer[..length])
            .ok_or_else(|| io::Error::other("sock_diag knows no such connection"))
    }
}

fn netlink_send(socket: &OwnedFd, request: &[u8]) -> io::Result<()> {
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(socket, request, SendFlags::empty(), &kernel)?;
    Ok(())
}

/// A `struct nlmsghdr` and a `struct inet_diag_req_v2` that asks for `INET_DIAG_INFO` of one
/// connection.
fn diag_request(connection: &Connection) -> [u8; 72] {
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const AF_INET: u8 = 2;
    const EXT_INFO: u8 = 1 << 1;
    let mut message = [0; 72];
    message[0..4].copy_from_slice(&72_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    message[16..19].copy_from_slice(&[AF_INET, ip::TCP, EXT_INFO]);
    message[20..24].copy_from_slice(&u32::MAX.to_ne_bytes());
    message[24..26].copy_from_slice(&connection.kernel_port.to_be_bytes());
    message[26..28].copy_from_slice(&connection.port.to_be_bytes());
    message[28..32].copy_from_slice(&KERNEL.octets());
    message[44..48].copy_from_slice(&PEER.octets());
    message[64..72].copy_from_slice(&[0xff; 8]);
    message
}

/// The `struct tcp_info` in an answer: after a `struct nlmsghdr` and a `struct inet_diag_msg`,
/// among attributes.
fn info(answer: &[u8]) -> Option<Info> {
    const INET_DIAG_INFO: u16 = 2;
    let mut rest = answer.get(16 + 72..)?;
    loop {
        let half = |at: usize| Some(u16::from_ne_bytes(rest.get(at..at + 2)?.try_into().ok()?));
        let (len, kind) = (usize::from(half(0)?), half(2)?);
        if kind == INET_DIAG_INFO {
            return tcp_info(rest.get(4..len)?);
        }
        rest = rest.get(len.max(4).next_multiple_of(4)..)?;
    }
}

fn tcp_info(bytes: &[u8]) -> Option<Info> {
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    Some(Info {
        state: match bytes.get(1)? {
            0 => CaState::Open,
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            _ => CaState::Loss,
        },
        backoff: u32::from(*bytes.get(4)?),
        rto: word(8)?,
        sacked: word(28)?,
        lost: word(32)?,
        retrans: word(36)?,
        rtt: word(68)?,
        rttvar: word(72)?,
        ssthresh: word(76)?,
        cwnd: word(80)?,
        reordering: word(88)?,
        min_rtt: word(148)?,
    })
}
