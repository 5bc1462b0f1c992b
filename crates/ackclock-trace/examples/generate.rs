//! Writes a capture to measure with: `generate CONNECTIONS PACKETS SNAPLEN SECONDS >FILE`. The same
//! arguments give the same bytes.
//!
//! Downloads as a server's host sees them, which begin over SECONDS seconds: a handshake, a
//! request, rounds of ten segments with SACK and timestamps, of which one in 200 is lost and
//! retransmitted after three duplicates, and a close by both.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::error::Error;
use std::io::{self, BufWriter, Write};

use ackclock_tcp::wire::{Control, Options, PseudoHeader, Repr};
use ackclock_tcp::{SackBlock, SackBlocks, Seq, Timestamps};

const MSS: u32 = 1448;
const SEGMENTS: u32 = 10;
const ONE_LOST_OF: u32 = 200;
const RTT: u64 = 50_000_000;
const BEGIN: u64 = 1_700_000_000_000_000_000;
const SERVER: ([u8; 4], u16) = ([198, 51, 100, 1], 80);

/// A packet that a connection has yet to show.
struct Planned {
    at: u64,
    from_server: bool,
    header: Repr,
    len: u32,
}

struct Connection {
    client: ([u8; 4], u16),
    random: u32,
    /// Packets until it closes.
    left: u64,
    server_seq: Seq,
    client_seq: Seq,
    planned: VecDeque<Planned>,
    closing: bool,
}

impl Connection {
    fn new(number: u32, packets: u64) -> Connection {
        let client =
            ((0x0a00_0001 + number / 50_000).to_be_bytes(), (10_000 + number % 50_000) as u16);
        let random = number.wrapping_mul(2_654_435_761).wrapping_add(1);
        Connection {
            client,
            random,
            left: packets,
            server_seq: Seq(random),
            client_seq: Seq(!random),
            planned: VecDeque::new(),
            closing: false,
        }
    }

    fn chance(&mut self, one_of: u32) -> bool {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.random >> 8).is_multiple_of(one_of)
    }

    fn plan(&mut self, at: u64, from_server: bool, control: Control, len: u32, options: Options) {
        let milliseconds = (at / 1_000_000) as u32;
        let timestamps = Some(Timestamps {
            val: milliseconds,
            ecr: milliseconds.wrapping_sub((RTT / 2_000_000) as u32),
        });
        let (seq, ack) = if from_server {
            (self.server_seq, self.client_seq)
        } else {
            (self.client_seq, self.server_seq)
        };
        let ack = if control.contains(Control::ACK) { ack } else { Seq(0) };
        let ports = if from_server { (SERVER.1, self.client.1) } else { (self.client.1, SERVER.1) };
        let options = Options { timestamps, ..options };
        let header = Repr {
            src_port: ports.0,
            dst_port: ports.1,
            seq,
            ack,
            control,
            wnd: 65535,
            urgent: 0,
            codepoint: Default::default(),
            options,
        };
        self.planned.push_back(Planned { at, from_server, header, len });
    }

    fn open(&mut self, at: u64) {
        let none = Options::default();
        let syn = Options { mss: Some(1460), wscale: Some(7), sack_permitted: true, ..none };
        self.plan(at, false, Control::SYN, 0, syn);
        self.client_seq = self.client_seq + 1;
        self.plan(at + 10_000, true, Control::SYN.with(Control::ACK), 0, syn);
        self.server_seq = self.server_seq + 1;
        self.plan(at + RTT, false, Control::ACK, 0, none);
        self.plan(at + RTT + 10_000, false, Control::ACK.with(Control::PSH), 200, none);
        self.client_seq = self.client_seq + 200;
        self.left = self.left.saturating_sub(4);
    }

    /// A round that begins at `at`: the segments, and a round trip later the acknowledgments.
    fn round(&mut self, at: u64) {
        let none = Options::default();
        let lost = (0..SEGMENTS).find(|_| self.chance(ONE_LOST_OF)).filter(|&n| n + 3 < SEGMENTS);
        let first = self.server_seq;
        for n in 0..SEGMENTS {
            self.plan(at + u64::from(n) * 20_000, true, Control::ACK, MSS, none);
            self.server_seq = self.server_seq + MSS;
        }
        let acked = |n: u32| first + n * MSS;
        let after = self.server_seq;
        for n in 1..=SEGMENTS {
            let at = at + RTT + u64::from(n) * 20_000;
            match lost {
                Some(lost) if n == lost + 1 => {}
                Some(lost) if n > lost => {
                    let mut sack = SackBlocks::NONE;
                    sack.push(SackBlock { left: acked(lost + 1), right: acked(n) });
                    self.server_seq = acked(lost);
                    self.plan(at, false, Control::ACK, 0, Options { sack, ..none });
                    if n == lost + 4 {
                        self.plan(at + 1000, true, Control::ACK, MSS, none);
                    }
                }
                _ if n % 2 == 0 || Some(n) == lost => {
                    self.server_seq = acked(n);
                    self.plan(at, false, Control::ACK, 0, none);
                }
                _ => {}
            }
        }
        self.server_seq = after;
        if lost.is_some() {
            self.plan(at + 2 * RTT + 1_000_000, false, Control::ACK, 0, none);
        }
        self.left = self.left.saturating_sub(self.planned.len() as u64);
    }

    fn close(&mut self, at: u64) {
        let (none, fin) = (Options::default(), Control::FIN.with(Control::ACK));
        self.plan(at, true, fin, 0, none);
        self.server_seq = self.server_seq + 1;
        self.plan(at + RTT, false, fin, 0, none);
        self.client_seq = self.client_seq + 1;
        self.plan(at + RTT + 10_000, true, Control::ACK, 0, none);
        self.closing = true;
    }

    /// Plans what comes after `at`, if anything does, and says when its next packet comes.
    fn next(&mut self, at: u64) -> Option<u64> {
        if self.planned.is_empty() && !self.closing {
            if self.left > 3 { self.round(at + 100_000) } else { self.close(at + 100_000) }
        }
        self.planned.front().map(|planned| planned.at)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u64> =
        std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let &[connections, packets, snaplen, seconds] = &arguments[..] else {
        return Err("usage: generate CONNECTIONS PACKETS SNAPLEN SECONDS >FILE".into());
    };
    let connections = u32::try_from(connections)?;
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 262_144, 1] {
        out.write_all(&u32::to_le_bytes(word))?;
    }
    let each = packets / u64::from(connections);
    let mut heap = BinaryHeap::new();
    let mut all: Vec<Connection> =
        (0..connections).map(|number| Connection::new(number, each)).collect();
    for (number, connection) in all.iter_mut().enumerate() {
        let at = BEGIN + seconds * 1_000_000_000 / u64::from(connections) * number as u64;
        connection.open(at);
        heap.push(Reverse((at, number)));
    }
    let mut frame = Vec::new();
    let mut id = 0_u16;
    while let Some(Reverse((at, number))) = heap.pop() {
        let connection = &mut all[number];
        let Some(planned) = connection.planned.pop_front() else { continue };
        id = id.wrapping_add(1);
        write(&mut out, &mut frame, &planned, connection.client.0, id, snaplen as usize)?;
        if let Some(next) = connection.next(at) {
            heap.push(Reverse((next, number)));
        }
    }
    out.flush()?;
    Ok(())
}

fn write(
    out: &mut impl Write,
    frame: &mut Vec<u8>,
    planned: &Planned,
    client: [u8; 4],
    id: u16,
    snaplen: usize,
) -> Result<(), Box<dyn Error>> {
    let (src, dst) = if planned.from_server { (SERVER.0, client) } else { (client, SERVER.0) };
    let header_len = planned.header.header_len();
    let total = 20 + header_len + planned.len as usize;
    frame.clear();
    frame.extend([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0]);
    frame.extend((total as u16).to_be_bytes());
    frame.extend(id.to_be_bytes());
    frame.extend([0x40, 0, 64, 6, 0, 0]);
    frame.extend(src);
    frame.extend(dst);
    frame.resize(14 + total, 0);
    let wire_len = frame.len();
    let pseudo = PseudoHeader::V4 { src: src.into(), dst: dst.into() };
    planned.header.emit(&pseudo, &mut frame[34..])?;
    frame.truncate(snaplen);
    for word in [
        planned.at / 1_000_000_000,
        planned.at % 1_000_000_000,
        frame.len() as u64,
        wire_len as u64,
    ] {
        out.write_all(&u32::try_from(word)?.to_le_bytes())?;
    }
    out.write_all(frame)?;
    Ok(())
}
