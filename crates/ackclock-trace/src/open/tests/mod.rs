//! Hand-made packets: sequence numbers are given as positions, and every exchange runs at two pairs
//! of initial sequence numbers.

mod away;
mod bounds;
mod closing;
mod copied;
mod delayed_acks;
mod ecn;
mod elsewhere;
mod half_open;
mod hosts;
mod identity;
mod jumps;
mod lost_before;
mod older;
mod shorter;
mod stalls;
mod streams;
mod vantage;

use std::net::SocketAddr;

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Codepoint, SackBlock, Seq, Time, Timestamps};

use crate::connection::Connection;
use crate::packet::Packet;
use crate::settings::Settings;
use crate::tracker::Tracker;

/// Initial sequence numbers of client and server; the second pair wraps within the first kilobytes.
const ISNS: [[u32; 2]; 2] = [[1000, 2_000_000], [u32::MAX - 2000, u32::MAX]];

/// When the capture begins.
const START: u64 = 1_700_000_000_000_000_000;

/// A packet to be: from the client (0) or the server (1).
#[derive(Clone, Copy, Debug)]
struct P {
    from: usize,
    position: u64,
    ack: Option<u64>,
    control: Control,
    packet: Packet,
}

fn packet(from: usize) -> P {
    let (client, server): (SocketAddr, SocketAddr) =
        ("10.0.0.1:40000".parse().unwrap(), "10.0.0.2:80".parse().unwrap());
    let (src, dst) = if from == 0 { (client, server) } else { (server, client) };
    let packet = Packet {
        frame: 0,
        at: Time(START),
        src,
        dst,
        seq: Seq(0),
        ack: Seq(0),
        control: Control::ACK,
        ae: false,
        wnd: 60_000,
        len: 0,
        options: Options::default(),
        options_cut: false,
        ip_id: None,
        ttl: 64,
        codepoint: Codepoint::NotEct,
        damaged: false,
    };
    P { from, position: 0, ack: None, control: Control::ACK, packet }
}

/// From the client, with data from `position` on.
fn c(position: u64, len: u32) -> P {
    let mut p = packet(0);
    (p.position, p.packet.len, p.ack) = (position, len, Some(0));
    p
}

/// The same from the server.
fn s(position: u64, len: u32) -> P {
    P { from: 1, packet: Packet { len, ..packet(1).packet }, ..c(position, len) }
}

/// A SYN of the client, or SYN/ACK of the server.
fn syn(from: usize) -> P {
    let mut p = packet(from);
    p.control = if from == 0 { Control::SYN } else { Control::SYN.with(Control::ACK) };
    p.ack = (from == 1).then_some(0);
    p.packet.options =
        Options { mss: Some(1460), wscale: Some(7), sack_permitted: true, ..Options::default() };
    p
}

impl P {
    fn ack(mut self, ack: u64) -> P {
        self.ack = Some(ack);
        self
    }

    fn with(mut self, control: Control) -> P {
        self.control = self.control.with(control);
        self
    }

    fn wnd(mut self, wnd: u16) -> P {
        self.packet.wnd = wnd;
        self
    }

    /// The snap length has cut off options, all but the MSS if there was one.
    fn cut(mut self) -> P {
        self.packet.options = Options { mss: self.packet.options.mss, ..Options::default() };
        self.packet.options_cut = true;
        self
    }

    fn id(mut self, id: u16) -> P {
        self.packet.ip_id = Some(id);
        self
    }

    fn ttl(mut self, ttl: u8) -> P {
        self.packet.ttl = ttl;
        self
    }

    fn ts(mut self, val: u32, ecr: u32) -> P {
        self.packet.options.timestamps = Some(Timestamps { val, ecr });
        self
    }

    /// Only on SYNs.
    fn options(mut self, change: impl Fn(&mut Options)) -> P {
        change(&mut self.packet.options);
        self
    }
}

/// An exchange as a capture shows it.
struct Talk {
    isns: [u32; 2],
    tracker: Tracker,
    frame: u64,
}

impl Talk {
    fn new(isns: [u32; 2]) -> Talk {
        Talk { isns, tracker: Tracker::new(Settings::default()), frame: 0 }
    }

    /// A packet `ms` after the beginning, as it stands on the wire.
    fn on_wire(&self, ms: f64, p: P, sack: &[(u64, u64)]) -> Packet {
        let seq = |end: usize, position: u64| Seq::at(Seq(self.isns[end]) + 1, position);
        let mut q = p.packet;
        q.control = p.control;
        q.at = Time(START + (ms * 1e6).round() as u64);
        q.seq = if q.control.contains(Control::SYN) {
            Seq(self.isns[p.from])
        } else {
            seq(p.from, p.position)
        };
        q.ack = p.ack.map_or(Seq(0), |ack| seq(1 - p.from, ack));
        for &(left, right) in sack {
            q.options
                .sack
                .push(SackBlock { left: seq(1 - p.from, left), right: seq(1 - p.from, right) });
        }
        q
    }

    fn at(&mut self, ms: f64, p: P) -> &mut Talk {
        self.sacked(ms, p, &[])
    }

    fn sacked(&mut self, ms: f64, p: P, sack: &[(u64, u64)]) -> &mut Talk {
        let mut q = self.on_wire(ms, p, sack);
        self.frame += 1;
        q.frame = self.frame;
        self.tracker.packet(&q);
        self
    }

    /// The handshake, by 10 ms, as it looks where the client is near.
    fn open(&mut self) -> &mut Talk {
        self.at(0.0, syn(0)).at(10.0, syn(1)).at(10.01, c(0, 0))
    }

    fn all(mut self) -> Vec<Connection> {
        let mut all: Vec<Connection> = std::iter::from_fn(|| self.tracker.poll_ended()).collect();
        all.extend(self.tracker.finish());
        all
    }

    fn one(self) -> Connection {
        let [one] = <[Connection; 1]>::try_from(self.all()).unwrap();
        one
    }
}

/// The same for both pairs of initial sequence numbers.
fn each(test: impl Fn(Talk)) {
    ISNS.into_iter().for_each(|isns| test(Talk::new(isns)));
}
