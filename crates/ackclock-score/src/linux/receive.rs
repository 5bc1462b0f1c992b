//! The kernel as a receiver: when it acknowledges, and whether our receiver does so too. Its
//! application reads at once.

use std::cmp::Ordering;
use std::io;
use std::iter::{self, Peekable};
use std::vec;

use ackclock_live::Namespace;
use ackclock_net::Rng;
use ackclock_tcp::wire::{Control, Options, Repr, TIMESTAMPS_LEN};
use ackclock_tcp::{
    DelayedAck, Flags, Receiver, ReceiverConfig, SackBlock, SackBlocks, Segment, Seq, Span, Time,
    Timestamps,
};
use rustix::io::Errno;
use rustix::net::sockopt;

use super::host::{Connection, Host, Received, now};
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
    /// The position of its first byte.
    pub from: u64,
    /// Its bytes.
    pub len: u32,
    /// It has PSH.
    pub psh: bool,
}

/// Pieces, and what they come after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The MSS option.
    pub mss: u16,
    /// The round trip of the handshake in milliseconds.
    pub rtt: u64,
    /// Segments have timestamps, by which the kernel knows the round trip.
    pub timestamps: bool,
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
    /// Segments have timestamps.
    pub timestamps: bool,
    /// For each piece: the piece, when it came, and the ACKs that it drew at once.
    pub pieces: Vec<(Piece, Time, Vec<Report>)>,
    /// ACKs that a timer sent, and when they came.
    pub timers: Vec<(Time, Report)>,
}

/// What an ACK says: up to where all has come, and its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The position of the next byte in order.
    pub ack: u32,
    /// The ends of each block.
    pub sack: Vec<(u32, u32)>,
}

impl Report {
    fn new(origin: Seq, ack: Seq, sack: &SackBlocks) -> Report {
        let position = |seq: Seq| seq.distance_from(origin);
        let block = |block: &SackBlock| (position(block.left), position(block.right));
        Report { ack: position(ack), sack: sack.as_slice().iter().map(block).collect() }
    }
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
        let (count, mut position, mut last) = (draw(30, 60), 0, (0, 0));
        let mut piece = |i| {
            let after = match draw(0, 9) {
                0 => draw(1, 300),
                1..=3 => draw(1, pause),
                _ => draw(0, 3),
            };
            let len = if draw(0, 99) < short { draw(1, 999) as u32 } else { mss };
            let psh = draw(0, 99) < psh;
            if i == 0 || draw(0, 99) >= again {
                last = (position, len);
                position += u64::from(len);
            }
            let (from, len) = last;
            Piece { after, from, len, psh }
        };
        let pieces = (0..count).map(&mut piece).collect();
        Script { mss: mss as u16, rtt, timestamps: false, pieces }
    }

    /// Drawn from a seed: bursts of full segments, of which some come later than those behind them,
    /// some twice, and some begin with what has come.
    pub fn with_gaps(seed: u64) -> Script {
        let mut d = Rng::new(seed, "score/gaps");
        let mut draw = |from: u64, to: u64| from + (d.unit() * (to - from + 1) as f64) as u64;
        let mss = if draw(0, 1) == 0 { 1000 } else { 1460 };
        let rtt = [4, 20, 70, 150][draw(0, 3) as usize];
        let len = mss - u32::from(TIMESTAMPS_LEN);
        let (late, again, pause) = (draw(2, 25), draw(0, 10), draw(4, 60));
        let (mut position, mut missing) = (0, Vec::new());
        let mut pieces = Vec::new();
        let before = draw(1, 30);
        while pieces.len() < 80 || !missing.is_empty() {
            let after = if draw(0, 9) < 2 { draw(4, pause) } else { 0 };
            let full =
                position - missing.first().copied().unwrap_or(position) > 30 * u64::from(len);
            let (from, len) = if full || pieces.len() >= 80 || draw(0, 99) < late / 2 {
                let place = draw(0, missing.len().saturating_sub(1) as u64) as usize;
                if missing.is_empty() { (position, len) } else { (missing.remove(place), len) }
            } else if pieces.len() as u64 > before && draw(0, 99) < late {
                missing.push(position);
                position += u64::from(len);
                continue;
            } else if position > 0 && draw(0, 99) < again {
                let part = [0, len / 2, len][draw(0, 2) as usize];
                (position - u64::from(part), len)
            } else {
                (position, len)
            };
            position = position.max(from + u64::from(len));
            pieces.push(Piece { after, from, len, psh: false });
        }
        Script { mss: mss as u16, rtt, timestamps: true, pieces }
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
            timestamps: script.timestamps,
            pieces: Vec::new(),
            timers: Vec::new(),
        };
        let mut at = established + Span::from_millis(1);
        let options = stamped(script, &syn);
        for &piece in &script.pieces {
            at += Span::from_millis(piece.after);
            while now() < at {
                if host.wait(at)? {
                    while let Some(Received { header, .. }) = host.receive(&connection)? {
                        let report = Report::new(isn, header.ack, &header.options.sack);
                        heard.timers.push((Time(now().since(origin).0), report));
                    }
                }
            }
            let control = if piece.psh { Control::ACK.with(Control::PSH) } else { Control::ACK };
            let header = Repr {
                seq: Seq::at(isn, piece.from),
                ack: syn.seq + 1,
                control,
                wnd: 1000,
                options,
                ..Repr::default()
            };
            let came = host.send_data(&connection, &header, piece.len as usize)?;
            drain(&mut connection)?;
            let mut at_once = Vec::new();
            while let Some(Received { header, .. }) = host.receive(&connection)? {
                at_once.push(Report::new(isn, header.ack, &header.options.sack));
            }
            // What was read may have drawn an update of the window.
            at_once.dedup();
            heard.pieces.push((piece, Time(came.since(origin).0), at_once));
        }
        Ok(heard)
    })?
}

/// Timestamps, if segments have them. They echo that of the SYN: so the kernel takes no other round
/// trip than that up to the first piece.
fn stamped(script: &Script, syn: &Repr) -> Options {
    let echo = |t: Timestamps| Timestamps { val: 1, ecr: t.val };
    let timestamps = syn.options.timestamps.filter(|_| script.timestamps).map(echo);
    Options { timestamps, ..Options::default() }
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
        ..stamped(script, syn)
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

/// The part of twice its buffer that data in full segments fills.
fn room(mss: u32) -> u64 {
    2 * RECEIVE_BUFFER as u64 * (u64::from(mss) * 256 / SEGMENT) / 256
}

/// Which pieces our receiver answers otherwise, and how: for each its number, and a word.
pub fn differences(heard: &Heard) -> Vec<(usize, &'static str)> {
    let mss = u32::from(heard.mss - if heard.timestamps { TIMESTAMPS_LEN } else { 0 });
    let mut receiver = Receiver::new(ReceiverConfig {
        mss,
        delayed_ack: DelayedAck::Linux(heard.rtt),
        buffer: room(mss),
        wscale: WINDOW_SCALE,
        timestamps: heard.timestamps,
        ..ReceiverConfig::default()
    });
    let mut found = Vec::new();
    let mut timers = heard.timers.clone().into_iter().peekable();
    for (i, (piece, at, at_once)) in heard.pieces.iter().enumerate() {
        if let Some(what) = wait(&mut receiver, &mut timers, *at) {
            found.push((i, what));
        }
        receiver.on_segment(
            *at,
            &Segment {
                seq: Seq(piece.from as u32),
                len: piece.len,
                flags: Flags::new(piece.psh, false),
                timestamps: heard.timestamps.then_some(Timestamps { val: 1, ecr: 0 }),
                ..Segment::default()
            },
        );
        let ours = reports(&mut receiver, *at);
        match ours.len().cmp(&at_once.len()) {
            Ordering::Greater => found.push((i, "acknowledged too soon")),
            Ordering::Less => found.push((i, "not acknowledged at once")),
            Ordering::Equal if ours != *at_once => found.push((i, "another report")),
            Ordering::Equal => {}
        }
    }
    found
}

/// What our receiver sends.
fn reports(receiver: &mut Receiver, now: Time) -> Vec<Report> {
    let next = || receiver.poll_transmit(now);
    iter::from_fn(next).map(|ack| Report::new(Seq(0), ack.ack, &ack.sack)).collect()
}

/// What time does until the next piece comes.
fn wait(
    receiver: &mut Receiver,
    timers: &mut Peekable<vec::IntoIter<(Time, Report)>>,
    until: Time,
) -> Option<&'static str> {
    let due = receiver.next_deadline();
    let Some((seen, report)) = timers.next_if(|(seen, _)| *seen < until) else {
        return (due + TOLERANCE < until).then(|| {
            receiver.on_deadline(due);
            reports(receiver, due);
            "a timer that the kernel has not"
        });
    };
    if due == Time::NEVER {
        return Some("no timer");
    }
    let at = due.max(seen);
    receiver.on_deadline(at);
    let ours = reports(receiver, at);
    if due.since(seen).max(seen.since(due)) > TOLERANCE {
        return Some("a timer at another time");
    }
    (ours != [report]).then_some("a timer's other report")
}
