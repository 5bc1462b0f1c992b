//! What leaves: packets that belong to no connection first, then those of sockets in turn.

use std::collections::VecDeque;
use std::net::IpAddr;

use ackclock_tcp::connection::Outgoing as Segment;
use ackclock_tcp::wire::{CHECKSUM, Control, MAX_HEADER_LEN, Repr};
use ackclock_tcp::{Cause, Time};

use crate::socket::Socket;
use crate::tuple::Tuple;
use crate::wire::{TCP, ipv4, ipv6};
use crate::{Outgoing, Stack};

/// A socket's turn ends when it has sent so many bytes.
const TURN: u32 = 65_536;
/// The longest IP packet: its length has 16 bits.
const MAX_PACKET: usize = 65_535;
/// Answers that wait because the driver does not take them; more are dropped, as a full device queue would.
const MOST_ANSWERS: usize = 1024;

/// What waits to leave.
pub(crate) struct Output {
    /// Slots with something to send, perhaps; the first has sent `turn` bytes in this turn.
    ready: VecDeque<u32>,
    turn: u32,
    /// Whole packets: resets, cookies, answers of ICMP and of TIME-WAIT. `spare` are their buffers, to be used again.
    answers: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// The answer that was last given to the driver.
    answer: Vec<u8>,
    /// The headers that were last given to the driver.
    header: [u8; ipv6::HEADER_LEN + MAX_HEADER_LEN],
}

impl Default for Output {
    fn default() -> Output {
        Output {
            ready: VecDeque::new(),
            turn: 0,
            answers: VecDeque::new(),
            spare: Vec::new(),
            answer: Vec::new(),
            header: [0; ipv6::HEADER_LEN + MAX_HEADER_LEN],
        }
    }
}

impl Output {
    /// Adds a slot at the end of the list.
    pub(crate) fn enqueue(&mut self, index: u32) {
        self.ready.push_back(index);
    }

    /// Adds an IP packet.
    pub(crate) fn answer(&mut self, src: IpAddr, dst: IpAddr, protocol: u8, payload: &[u8]) {
        if self.answers.len() >= MOST_ANSWERS {
            return;
        }
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.clear();
        let mut header = [0; ipv6::HEADER_LEN];
        let len = emit_ip(src, dst, protocol, payload.len(), &mut header);
        packet.extend_from_slice(&header[..len]);
        packet.extend_from_slice(payload);
        self.answers.push_back(packet);
    }

    /// Adds a TCP segment without payload.
    pub(crate) fn answer_tcp(&mut self, tuple: &Tuple, header: &Repr) {
        let mut segment = [0; MAX_HEADER_LEN];
        if let Some(segment) = segment.get_mut(..header.header_len())
            && header.emit(&tuple.pseudo_header(), segment).is_ok()
        {
            self.answer(tuple.local, tuple.remote, TCP, segment);
        }
    }
}

/// Writes the IP header of a packet; returns its length.
fn emit_ip(src: IpAddr, dst: IpAddr, protocol: u8, payload_len: usize, bytes: &mut [u8]) -> usize {
    let payload_len = payload_len.min(MAX_PACKET) as u16;
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            if let Some(header) = bytes.first_chunk_mut() {
                ipv4::Repr { src, dst, protocol, payload_len }.emit(header);
            }
            ipv4::HEADER_LEN
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            if let Some(header) = bytes.first_chunk_mut() {
                ipv6::Repr { src, dst, protocol, payload_len }.emit(header);
            }
            ipv6::HEADER_LEN
        }
        _ => 0,
    }
}

/// What goes into one packet.
struct Burst {
    index: u32,
    tuple: Tuple,
    header: Repr,
    position: u64,
    len: u32,
    /// Payload of each segment but the last.
    segment: u32,
    sent: Option<(Cause, u32)>,
}

impl Stack {
    /// The next packet to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<'_>> {
        if let Some(packet) = self.output.answers.pop_front() {
            let used = std::mem::replace(&mut self.output.answer, packet);
            self.output.spare.push(used);
            self.stats.packets_out += 1;
            let header = self.output.answer.as_slice();
            let ip_header = if header.first().is_some_and(|byte| byte >> 4 == 4) { 20 } else { 40 };
            return Some(Outgoing {
                header,
                payload: [&[], &[]],
                ip_header,
                segment: 0,
                partial_checksum: false,
                socket: None,
                sent: None,
            });
        }
        let burst = self.next_burst(now)?;
        self.stats.packets_out += 1;
        let offload = self.config.offload;
        let socket = self.table.socket(burst.index)?;
        let payload = socket.send.slices(burst.position, burst.len as usize);
        let header = &mut self.output.header;
        let tcp_len = burst.header.header_len();
        let segment_len = tcp_len + burst.len as usize;
        let ip_len = emit_ip(burst.tuple.local, burst.tuple.remote, TCP, segment_len, header);
        let tcp = header.get_mut(ip_len..ip_len + tcp_len)?;
        burst.header.emit_header(tcp).ok()?;
        let pseudo = burst.tuple.pseudo_header();
        let checksum = match offload {
            true => pseudo.tcp(segment_len as u32).sum(),
            false => pseudo.checksum(&[tcp, payload[0], payload[1]]),
        };
        tcp[CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
        Some(Outgoing {
            header: &header[..ip_len + tcp_len],
            payload,
            ip_header: ip_len as u16,
            segment: if burst.len > burst.segment { burst.segment as u16 } else { 0 },
            partial_checksum: offload,
            socket: Some(socket.id),
            sent: burst.sent,
        })
    }

    /// The next segment, with those that follow it and fit to it. Each socket has a bounded turn.
    fn next_burst(&mut self, now: Time) -> Option<Burst> {
        loop {
            let &index = self.output.ready.front()?;
            if self.output.turn >= TURN {
                self.output.turn = 0;
                self.output.ready.rotate_left(1);
                continue;
            }
            let offload = self.config.offload;
            let burst = self.table.socket(index).and_then(|socket| socket.next_burst(now, index, offload));
            match burst {
                Some(burst) => {
                    // A header counts too, so that a turn ends whatever is sent.
                    self.output.turn += burst.len + u32::from(burst.tuple.fixed_headers());
                    return Some(burst);
                }
                None => {
                    self.output.ready.pop_front();
                    self.output.turn = 0;
                    self.settle(now, index);
                }
            }
        }
    }
}

impl Socket {
    fn next_burst(&mut self, now: Time, index: u32, offload: bool) -> Option<Burst> {
        let first = self.next_segment(now)?;
        let mut header = Repr { src_port: self.tuple.local_port, dst_port: self.tuple.remote_port, ..first.header };
        let mut len = first.len;
        if offload && len > 0 {
            let fixed = usize::from(self.tuple.fixed_headers()) - 20 + header.header_len();
            let most = (MAX_PACKET - fixed) as u32;
            while is_inner(header.control) && len.is_multiple_of(first.len) && len + first.len <= most {
                let Some(next) = self.next_segment(now) else { break };
                if !follows(&first, len, &next) {
                    self.held_back = Some(next);
                    break;
                }
                len += next.len;
                header.control = next.header.control;
            }
        }
        self.said.note(&header, len);
        let Segment { position, sent, .. } = first;
        Some(Burst { index, tuple: self.tuple, header, position, len, segment: first.len, sent })
    }

    /// The next segment whose payload is there. What was held back may have been acknowledged by now, which only a peer does that
    /// acknowledges what it has not received.
    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        loop {
            let segment = self.held_back.take().or_else(|| self.connection.poll_transmit(now))?;
            let end = segment.position + u64::from(segment.len);
            if segment.len == 0 || segment.position >= self.send.begin() && end <= self.send.end() {
                return Some(segment);
            }
        }
    }
}

/// Whether a segment with these control bits may have another one behind it in a packet.
fn is_inner(control: Control) -> bool {
    control == Control::ACK
}

/// Whether `next` can be cut by the device from one packet with `first`, whose payload of `len` bytes it follows.
fn follows(first: &Segment, len: u32, next: &Segment) -> bool {
    let header = Repr { seq: next.header.seq, control: next.header.control, ..first.header };
    let ends = Control::ACK.with(Control::PSH).with(Control::FIN);
    next.header == header
        && next.header.seq == first.header.seq + len
        && next.position == first.position + u64::from(len)
        && 0 < next.len
        && next.len <= first.len
        && next.sent == first.sent
        && ends.contains(next.header.control)
}

#[cfg(test)]
mod tests {
    use ackclock_tcp::{Seq, Timestamps};

    use super::*;

    #[test]
    fn what_a_device_cuts_apart_again() {
        let header = Repr { seq: Seq(u32::MAX - 10), ack: Seq(5), wnd: 9, control: Control::ACK, ..Repr::default() };
        let first = Segment { header, position: 70, len: 100, sent: Some((Cause::New, 1)) };
        let next = Segment { header: Repr { seq: Seq(189), ..header }, position: 270, ..first };
        let changed = |change: fn(&mut Segment)| {
            let mut next = next;
            change(&mut next);
            follows(&first, 200, &next)
        };
        assert!(changed(|_| {}));
        assert!(changed(|next| next.len = 1));
        assert!(changed(|next| next.header.control = Control::ACK.with(Control::PSH).with(Control::FIN)));
        assert!(!changed(|next| next.header.control = Control::ACK.with(Control::URG)));
        assert!(!changed(|next| next.len = 101));
        assert!(!changed(|next| next.len = 0));
        assert!(!changed(|next| next.position += 1));
        assert!(!changed(|next| next.header.seq = Seq(190)));
        assert!(!changed(|next| next.header.ack = Seq(6)));
        assert!(!changed(|next| next.header.wnd = 10));
        assert!(!changed(|next| next.header.options.timestamps = Some(Timestamps::default())));
        assert!(!changed(|next| next.sent = Some((Cause::New, 2))));
        assert!(!changed(|next| next.sent = Some((Cause::Probe, 1))));
    }
}
