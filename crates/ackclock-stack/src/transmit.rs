//! What leaves: packets that belong to no connection first, then those of sockets in turn.

#[cfg(test)]
mod tests;

use ackclock_tcp::connection::Outgoing as Segment;
use ackclock_tcp::wire::ip::TCP;
use ackclock_tcp::wire::{CHECKSUM, Control, Options, Repr};
use ackclock_tcp::{Sending, Time};

use crate::output::{Class, MAX_PACKET, emit_ip};
use crate::socket::{Gathered, Socket};
use crate::tuple::Tuple;
use crate::{Outgoing, Stack};

/// A socket's turn ends when it has sent so many bytes.
const TURN: u32 = 65_536;
/// What goes into one packet.
struct Burst {
    index: u32,
    tuple: Tuple,
    class: Class,
    header: Repr,
    position: u64,
    len: u32,
    /// Payload of each segment but the last.
    segment: u32,
    sent: Option<Sending>,
}

impl Stack {
    /// The next packet to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<'_>> {
        while let Some(index) = self.output.gathering.pop() {
            if let Some(socket) = self.table.socket(index)
                && !socket.in_transmit
            {
                socket.in_transmit = true;
                self.output.enqueue(index);
            }
        }
        self.poll(now, false)
    }

    /// The same where more packets are at hand that came at the same time: keeps back what a device
    /// cuts into segments as long as more may join it. Each packet that comes is followed by calls
    /// of this until it returns `None`, and the last one by calls of [`Stack::poll_transmit`].
    pub fn poll_transmit_full(&mut self, now: Time) -> Option<Outgoing<'_>> {
        self.poll(now, true)
    }

    fn poll(&mut self, now: Time, more: bool) -> Option<Outgoing<'_>> {
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
        let burst = self.next_burst(now, more)?;
        self.stats.packets_out += 1;
        let offload = self.config.offload;
        let socket = self.table.socket(burst.index)?;
        let payload = socket.send.slices(burst.position, burst.len as usize);
        let header = &mut self.output.header;
        let tcp_len = burst.header.header_len();
        let segment_len = tcp_len + burst.len as usize;
        let ends = (burst.tuple.local, burst.tuple.remote);
        let ip_len = emit_ip(ends, burst.class, TCP, segment_len, header);
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
    fn next_burst(&mut self, now: Time, more: bool) -> Option<Burst> {
        loop {
            let &index = self.output.ready.front()?;
            if self.output.turn >= TURN {
                self.output.turn = 0;
                self.output.ready.rotate_left(1);
                continue;
            }
            let offload = self.config.offload;
            let socket = self.table.socket(index);
            let burst = socket.and_then(|socket| socket.next_burst(now, index, offload, more));
            match burst {
                Some(burst) => {
                    // A header counts too, so that a turn ends whatever is sent.
                    self.output.turn += burst.len + u32::from(burst.tuple.fixed_headers());
                    return Some(burst);
                }
                None => {
                    self.output.ready.pop_front();
                    self.output.turn = 0;
                    if self.table.socket(index).is_some_and(|socket| socket.gathered.is_some()) {
                        self.output.gathering.push(index);
                    }
                    self.settle(now, index);
                }
            }
        }
    }
}

impl Socket {
    /// The next packet; none where it may become longer and `more` comes.
    fn next_burst(&mut self, now: Time, index: u32, offload: bool, more: bool) -> Option<Burst> {
        // What was gathered may have been acknowledged by now, as in `next_segment`.
        let gathered = self.gathered.take().filter(|g| self.holds(g.first.position, g.len));
        let Gathered { first, mut header, mut len } = match gathered {
            Some(gathered) => gathered,
            None => {
                let first = self.next_segment(now)?;
                let (src_port, dst_port) = (self.tuple.local_port, self.tuple.remote_port);
                let header = Repr { src_port, dst_port, ..first.header };
                Gathered { first, header, len: first.len }
            }
        };
        if offload && len > 0 {
            let fixed = usize::from(self.tuple.fixed_headers()) - 20 + header.header_len();
            let most = (MAX_PACKET - fixed) as u32;
            while is_inner(header.control)
                && len.is_multiple_of(first.len)
                && len + first.len <= most
            {
                let Some(next) = self.next_segment(now) else {
                    // What goes again may be acknowledged before it leaves, and some of it is not.
                    let again = first.sent.is_some_and(|sent| sent.transmission > 1);
                    if more && !again {
                        self.gathered = Some(Gathered { first, header, len });
                        return None;
                    }
                    break;
                };
                if !follows(&first, len, &next) {
                    self.held_back = Some(next);
                    break;
                }
                len += next.len;
                // All of it leaves now, and says what there is to say now.
                let Repr { control, ack, wnd, options, .. } = next.header;
                header = Repr { control, ack, wnd, options, ..header };
            }
        }
        self.said.note(&header, len);
        // A reset that answers a timestamp of nobody has 0 (RFC 7323 section 5.2).
        if let Some(ts) = &mut header.options.timestamps
            && !(ts.val == 0 && header.control.contains(Control::RST))
        {
            ts.val = ts.val.wrapping_add(self.ts_offset);
        }
        let Segment { position, sent, .. } = first;
        let (tuple, segment) = (self.tuple, first.len);
        let headers = usize::from(tuple.fixed_headers()) - 20 + header.header_len();
        let id = self.number(headers + segment as usize, len.div_ceil(segment.max(1)).max(1));
        let class = Class { codepoint: header.codepoint, id, ..self.class };
        Some(Burst { index, tuple, class, header, position, len, segment, sent })
    }

    /// The next segment whose payload is there. What was held back may have been acknowledged by
    /// now, which only a peer does that acknowledges what it has not received.
    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        loop {
            let segment = self.held_back.take().or_else(|| self.connection.poll_transmit(now))?;
            if segment.len == 0 || self.holds(segment.position, segment.len) {
                return Some(segment);
            }
        }
    }

    /// Whether so many bytes of payload from this position on are there.
    fn holds(&self, position: u64, len: u32) -> bool {
        position >= self.send.begin() && position + u64::from(len) <= self.send.end()
    }
}

/// Whether a segment with these control bits may have another one behind it in a packet. One with
/// CWR may not: it stands on one segment only (RFC 3168 section 6.1.2), and a device may copy it.
fn is_inner(control: Control) -> bool {
    control == Control::ACK
}

/// Whether `next` can be cut by the device from one packet with `first`, whose payload of `len`
/// bytes it follows.
fn follows(first: &Segment, len: u32, next: &Segment) -> bool {
    // What it says of the other direction may be newer.
    let Repr { seq, control, ack, wnd, options, .. } = next.header;
    let newer = |old| options.timestamps.unwrap_or(old);
    let timestamps = first.header.options.timestamps.map(newer);
    let options = Options { timestamps, ..first.header.options };
    let header = Repr { seq, control, ack, wnd, options, ..first.header };
    let ends = Control::ACK.with(Control::PSH).with(Control::FIN);
    next.header == header
        && next.header.seq == first.header.seq + len
        && next.position == first.position + u64::from(len)
        && 0 < next.len
        && next.len <= first.len
        && next.sent == first.sent
        && ends.contains(next.header.control)
}
