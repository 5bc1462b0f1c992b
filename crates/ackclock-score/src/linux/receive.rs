//! The kernel as a receiver of data in order: when it acknowledges, and whether our receiver does
//! so too. Its application reads at once.

use std::io;
use std::iter::Peekable;
use std::vec;

use ackclock_live::Namespace;
use ackclock_net::Rng;
use ackclock_tcp::wire::{Control, Options, Repr};
use ackclock_tcp::{DelayedAck, Flags, Receiver, ReceiverConfig, Segment, Seq, Span, Time};
use rustix::io::Errno;
use rustix::net::sockopt;

use super::host::{Connection, Host, now};
use super::record::{JIFFY, open};
use super::scenario::Scenario;

/// Our initial sequence number, and the window scale that we offer.
const ISS: u32 = 1_000_000;
const WINDOW_SCALE: u8 = 7;
/// Half of the default `tcp_rmem`; the kernel doubles it.
const RECEIVE_BUFFER: usize = 65_536;
/// The memory that a full segment takes.
const SEGMENT: u64 = 2304;
/// How much earlier or later than the kernel's a timer may be: two ticks.
const TOLERANCE: Span = Span(2 * JIFFY);

/// A segment that the kernel gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How long after the one before it, in milliseconds.
    pub after: u64,
    /// Its bytes.
    pub len: u32,
    /// It has PSH.
    pub psh: bool,
    /// It has come before: the bytes of the one before it.
    pub again: bool,
}

/// Pieces, and what they come after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The MSS option.
    pub mss: u16,
    /// The round trip of the handshake in milliseconds.
    pub rtt: u64,
    /// The pieces.
    pub pieces: Vec<Piece>,
}

/// What a kernel did with pieces. Times count from a tick of its clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The MSS option.
    pub mss: u16,
    /// The round trip of the handshake.
    pub rtt: Span,
    /// For each piece: the piece, when it came, and whether it was acknowledged at once.
    pub pieces: Vec<(Piece, Time, bool)>,
    /// When ACKs came that a timer sent.
    pub timers: Vec<Time>,
}

impl Script {
    /// Drawn from a seed: bursts of segments and pauses, some with PSH, some twice. With an MSS of
    /// 1460 there are full segments only: then the kernel's window grows with each, until a segment
    /// finds no room for that, and a short one would find more than a full one. With an MSS of 1000
    /// it never grows, as such segments fill less of the memory that they take.
    pub fn draw(seed: u64) -> Script {
        let mut d = Rng::new(seed, "score/receive");
        let mut draw = |from: u64, to: u64| from + (d.unit() * (to - from + 1) as f64) as u64;
        let mss = if draw(0, 1) == 0 { 1000 } else { 1460 };
        let short = if mss == 1000 { draw(0, 30) } else { 0 };
        let (psh, again, pause) = (draw(0, 40), draw(0, 4), draw(1, 60));
        let rtt = [2, 20, 70, 150][draw(0, 3) as usize];
        let pieces = (0..draw(30, 60))
            .map(|i| Piece {
                after: match draw(0, 9) {
                    0 => draw(1, 300),
                    1..=3 => draw(1, pause),
                    _ => draw(0, 3),
                },
                len: if draw(0, 99) < short { draw(1, 999) as u32 } else { mss },
                psh: draw(0, 99) < psh,
                again: i > 0 && draw(0, 99) < again,
            })
            .collect();
        Script { mss: mss as u16, rtt, pieces }
    }
}

/// Sends pieces to the kernel.
///
/// # Errors
/// What the kernel says.
pub fn receive(script: &Script) -> io::Result<Heard> {
    Namespace::new()?.run(|| {
        ackclock_live::be_prompt();
        let mut host = Host::new()?;
        let plain = Scenario { congestion: "reno".into(), ..Scenario::default() };
        let (mut connection, syn, syn_at) = open(&mut host, &plain)?;
        // What it is by default, but fixed: autotuning lets the window grow when memory allows it.
        sockopt::set_socket_recv_buffer_size(&connection.socket, RECEIVE_BUFFER)?;
        let origin = Time(syn_at.0 / JIFFY * JIFFY);
        let established = answer(&mut host, &connection, &syn, script, syn_at)?;
        let isn = Seq(ISS + 1);
        let mut heard = Heard {
            mss: script.mss,
            rtt: established.since(syn_at),
            pieces: Vec::new(),
            timers: Vec::new(),
        };
        let (mut position, mut at) = (0, established + Span::from_millis(1));
        let mut last: Option<(u64, u32)> = None;
        for &piece in &script.pieces {
            at += Span::from_millis(piece.after);
            while now() < at {
                if host.wait(at)? {
                    while host.receive(&connection)?.is_some() {
                        heard.timers.push(Time(now().since(origin).0));
                    }
                }
            }
            let (from, len) = match last {
                Some(last) if piece.again => last,
                _ => (position, piece.len),
            };
            let control = if piece.psh { Control::ACK.with(Control::PSH) } else { Control::ACK };
            let header = Repr {
                seq: Seq::at(isn, from),
                ack: syn.seq + 1,
                control,
                wnd: 1000,
                ..Repr::default()
            };
            let came = host.send_data(&connection, &header, len as usize)?;
            drain(&mut connection)?;
            let mut at_once = false;
            while host.receive(&connection)?.is_some() {
                at_once = true;
            }
            position = position.max(from + u64::from(len));
            last = Some((from, len));
            heard.pieces.push((piece, Time(came.since(origin).0), at_once));
        }
        Ok(heard)
    })?
}

/// Answers a SYN that left at this time; when.
fn answer(
    host: &mut Host,
    connection: &Connection,
    syn: &Repr,
    script: &Script,
    syn_at: Time,
) -> io::Result<Time> {
    let at = syn_at + Span::from_millis(script.rtt);
    while now() < at {
        host.wait(at)?;
    }
    let options = Options {
        mss: Some(script.mss),
        wscale: Some(WINDOW_SCALE),
        sack_permitted: true,
        ..Options::default()
    };
    let answer = Repr {
        seq: Seq(ISS),
        ack: syn.seq + 1,
        control: Control::SYN.with(Control::ACK),
        wnd: u16::MAX,
        options,
        ..Repr::default()
    };
    let established = host.send(connection, &answer)?;
    while host.receive(connection)?.is_some() {}
    Ok(established)
}

/// The application reads all that there is.
fn drain(connection: &mut Connection) -> io::Result<()> {
    let mut buffer = [0; 1 << 16];
    loop {
        match rustix::io::read(&connection.socket, &mut buffer) {
            Ok(0) | Err(Errno::AGAIN) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// To what the kernel's window grows: the part of twice its buffer that data in full segments
/// fills, without one segment that is not read yet; but not less than half of it.
fn window(mss: u16) -> u64 {
    let buffer = 2 * RECEIVE_BUFFER as u64;
    let share = u64::from(mss) * 256 / SEGMENT;
    ((buffer - SEGMENT) * share / 256).max(buffer / 2 / u64::from(mss) * u64::from(mss))
}

/// Which pieces our receiver answers otherwise, and how: for each its number, and a word.
pub fn differences(heard: &Heard) -> Vec<(usize, &'static str)> {
    let mut receiver = Receiver::new(ReceiverConfig {
        mss: heard.mss.into(),
        delayed_ack: DelayedAck::Linux(heard.rtt),
        buffer: window(heard.mss),
        wscale: WINDOW_SCALE,
        ..ReceiverConfig::default()
    });
    let mut found = Vec::new();
    let mut timers = heard.timers.clone().into_iter().peekable();
    let (mut position, mut last) = (0, (0, 0));
    for (i, (piece, at, at_once)) in heard.pieces.iter().enumerate() {
        if let Some(what) = wait(&mut receiver, &mut timers, *at) {
            found.push((i, what));
        }
        let (from, len) = if piece.again { last } else { (position, piece.len) };
        receiver.on_segment(
            *at,
            &Segment {
                seq: Seq(from as u32),
                len,
                flags: Flags::new(piece.psh, false),
                ..Segment::default()
            },
        );
        position = position.max(from + u64::from(len));
        last = (from, len);
        match (receiver.poll_transmit(*at).is_some(), at_once) {
            (true, false) => found.push((i, "acknowledged too soon")),
            (false, true) => found.push((i, "not acknowledged at once")),
            _ => {}
        }
    }
    found
}

/// What time does until the next piece comes.
fn wait(
    receiver: &mut Receiver,
    timers: &mut Peekable<vec::IntoIter<Time>>,
    until: Time,
) -> Option<&'static str> {
    let due = receiver.next_deadline();
    let Some(seen) = timers.next_if(|seen| *seen < until) else {
        return (due + TOLERANCE < until).then(|| {
            receiver.on_deadline(due);
            receiver.poll_transmit(due);
            "a timer that the kernel has not"
        });
    };
    if due == Time::NEVER {
        return Some("no timer");
    }
    receiver.on_deadline(due.max(seen));
    receiver.poll_transmit(due.max(seen));
    let off = due.since(seen).max(seen.since(due));
    (off > TOLERANCE).then_some("a timer at another time")
}
