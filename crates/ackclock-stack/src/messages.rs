//! ICMP: echoes are answered, errors believed as far as RFC 5927 advises.

use std::net::IpAddr;

use ackclock_tcp::wire::ip::{ICMP, ICMPV6, TCP, v4, v6};
use ackclock_tcp::{Seq, Time};

use crate::Stack;
use crate::icmp::{HEADER_LEN, Message, Version, reply};
use crate::output::Class;
use crate::tuple::{Tuple, pseudo_header};

/// RFC 1191 section 7.1: MTUs in use, for routers that do not tell theirs.
const PLATEAUS: [u16; 11] = [32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 576, 508, 296, 68];

/// The packet of ours that an error is about.
struct Quoted {
    tuple: Tuple,
    seq: Seq,
    total_len: u32,
}

impl Quoted {
    fn parse(bytes: &[u8], v4: bool) -> Option<Quoted> {
        let (local, remote, protocol, payload, total_len): (IpAddr, IpAddr, _, _, _) = if v4 {
            let v4::Packet { header, payload } = v4::Packet::parse_quoted(bytes).ok()?;
            let total_len = u32::from(header.total_len());
            (header.src().into(), header.dst().into(), header.protocol(), payload, total_len)
        } else {
            let v6::Packet { header, protocol, payload } = v6::Packet::parse_quoted(bytes).ok()?;
            (header.src().into(), header.dst().into(), protocol, payload, header.total_len())
        };
        // RFC 792 has at least eight bytes of TCP quoted: ports and sequence number.
        let &[a, b, c, d, e, f, g, h, ..] = payload else { return None };
        let (local_port, remote_port) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let tuple = Tuple { local, remote, local_port, remote_port };
        (protocol == TCP).then_some(Quoted {
            tuple,
            seq: Seq(u32::from_be_bytes([e, f, g, h])),
            total_len,
        })
    }
}

impl Stack {
    /// `None` if this is no message for us; else whether it was taken, which an error about a
    /// segment of no connection is not where others share our addresses.
    pub(crate) fn on_icmp(
        &mut self,
        now: Time,
        src: IpAddr,
        dst: IpAddr,
        bytes: &[u8],
        shared: bool,
    ) -> Option<bool> {
        let v4 = dst.is_ipv4();
        let version = if v4 { Version::V4 } else { Version::V6(pseudo_header(src, dst)) };
        match Message::parse(version, bytes)? {
            Message::Other => {}
            Message::EchoRequest => self.answer_echo(src, dst, bytes),
            Message::Unreachable { hard, quoted } => {
                let quoted = Quoted::parse(quoted, v4)?;
                if shared && !self.demux.contains_key(&quoted.tuple) {
                    return Some(false);
                }
                self.on_unreachable(now, dst, &quoted, hard);
            }
            Message::TooBig { mtu, quoted } => {
                let quoted = Quoted::parse(quoted, v4)?;
                if shared && !self.demux.contains_key(&quoted.tuple) {
                    return Some(false);
                }
                self.on_too_big(now, dst, &quoted, mtu);
            }
        }
        Some(true)
    }

    fn answer_echo(&mut self, src: IpAddr, dst: IpAddr, request: &[u8]) {
        let (protocol, header, version) = match dst {
            IpAddr::V4(_) => (ICMP, v4::HEADER_LEN, Version::V4),
            IpAddr::V6(_) => (ICMPV6, v6::HEADER_LEN, Version::V6(pseudo_header(dst, src))),
        };
        if request.len() < HEADER_LEN || header + request.len() > usize::from(self.config.mtu) {
            return;
        }
        let mut message = request.to_vec();
        reply(version, &mut message);
        let class = Class { dscp: self.config.dscp, ..Class::default() };
        self.output.answer(dst, src, class, protocol, &message);
    }

    /// The slot of the connection that an error is about, if it quotes a segment that is on its way
    /// (RFC 5927 section 4.1).
    fn quoted_connection(&mut self, dst: IpAddr, quoted: &Quoted) -> Option<u32> {
        if quoted.tuple.local != dst {
            return None;
        }
        let &index = self.demux.get(&quoted.tuple)?;
        self.table.socket(index)?.is_outstanding(quoted.seq).then_some(index)
    }

    fn on_unreachable(&mut self, now: Time, dst: IpAddr, quoted: &Quoted, hard: bool) {
        if let Some(index) = self.quoted_connection(dst, quoted)
            && let Some(socket) = self.table.socket(index)
        {
            socket.connection.on_unreachable(now, quoted.seq, hard);
            self.after_input(index);
        }
    }

    /// RFC 1191, RFC 8201; RFC 5927 section 7.2 for what is not believed: an MTU that is no less
    /// than the packet was long, or less than every link has. Over IPv4 that is 68 bytes, but
    /// hardly a link has less than 576: whoever says so wants tiny segments. So packets keep 552
    /// bytes, and routers may fragment them (Linux `__ip_rt_update_pmtu`, `ip_dont_fragment`).
    fn on_too_big(&mut self, now: Time, dst: IpAddr, quoted: &Quoted, mtu: u32) {
        let is_v4 = dst.is_ipv4();
        let told = match mtu {
            0 if is_v4 => PLATEAUS
                .into_iter()
                .find(|plateau| u32::from(*plateau) < quoted.total_len)
                .unwrap_or(0),
            mtu => mtu.min(u32::from(u16::MAX)) as u16,
        };
        let least = if is_v4 { v4::LEAST_MTU } else { v6::LEAST_MTU };
        if told < least || u32::from(told) >= quoted.total_len {
            return;
        }
        let Some(index) = self.quoted_connection(dst, quoted) else { return };
        let mtu = told.max(v4::LEAST_PATH_MTU);
        self.learn_mtu(now, quoted.tuple.remote, mtu);
        let first_id = self.secret.packet_id(&quoted.tuple);
        if let Some(socket) = self.table.socket(index) {
            if told < v4::LEAST_PATH_MTU {
                socket.next_id.get_or_insert(first_id);
            }
            let path_mss = mtu - quoted.tuple.fixed_headers();
            socket.connection.on_path_mss(now, quoted.seq, path_mss);
            self.after_input(index);
        }
    }
}
