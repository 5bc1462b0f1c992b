//! What is found of a connection.
//!
//! Times are nanoseconds since 1970. Sequence numbers are those on the wire. Positions do not wrap:
//! they count the bytes of one direction from its first data byte. Where the capture began later,
//! they count from 16 MiB before the first byte seen.

mod position;
mod stall;

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::{Cause, Event, Seq, Span, Time, TimeoutClass};

pub use self::position::{Position, Vantage};
pub use self::stall::{Stall, StallCause};
use crate::lifetime::Lifetime;
use crate::loss::Losses;
use crate::reset::Reset;
use crate::ways::Ways;

/// One connection. The client is the one that sent the SYN. Where the capture began later, its port
/// is the higher one, or the other one is known as a server's.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// Counted from 0 in the order in which connections began.
    pub number: u64,
    /// Who opened it.
    pub client: SocketAddr,
    /// The other one.
    pub server: SocketAddr,
    /// When its first packet was seen.
    pub start: Time,
    /// When its last packet was seen.
    pub end: Time,
    /// Packets seen of it, both ways.
    pub packets: u64,
    /// Of these, copies, as of mirror ports or several interfaces. Nothing else counts them.
    pub copies: u64,
    /// And how long after a packet its copy came, at most.
    pub copies_after: Span,
    /// SYN/ACKs that went again and echo the ACK of the handshake, which had arrived: the server
    /// waited for data (TCP_DEFER_ACCEPT of Linux), or its accept queue was full.
    pub deferred: u32,
    /// The server has sent data or its FIN before the client sent any data: it had accepted the
    /// connection.
    pub greeted: bool,
    /// Whether its beginning was seen (a SYN).
    pub begun: bool,
    /// More than SYNs and resets was seen of it.
    pub opened: bool,
    /// Only packets of one end were captured, although the other one has sent some. Then nothing is
    /// said of timeouts, recoveries, stalls, and of what limited whom ([`Flow::lifetime`]).
    pub one_way: bool,
    /// ACKs are missing, all without data or those of most of the time. Then no more is said.
    pub unanswered: bool,
    /// Its times are whole seconds. Then no more is said, nor anything of round trips.
    pub whole_seconds: bool,
    /// How long the server had not answered what it acknowledged last, until either end closed or
    /// reset the connection, or the capture ended. `None` where it owed none that is known of.
    pub no_answer: Option<Span>,
    /// How it ended.
    pub ended: Ended,
    /// Where the capture was taken.
    pub position: Position,
    /// Sequence numbers of position 0 and after the last byte seen, of client and server, if known.
    pub numbers: [Option<[Seq; 2]>; 2],
    /// What the client sent.
    pub from_client: Flow,
    /// What the server sent.
    pub from_server: Flow,
}

/// How a connection ended, as far as the capture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Both ways closed.
    Fin,
    /// By a reset.
    Reset(Reset),
    /// A reset answered its SYN.
    Refused,
    /// The capture ended first.
    Open,
    /// Its addresses and ports were used again.
    Reused,
    /// It was dropped from memory since nothing had come for long.
    Idle,
}

/// One way of a connection: what one end sent as data, and the acknowledgments of the other.
///
/// A super-segment, also one that is retransmitted, counts as its segments of SMSS, as in Linux.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// SMSS in bytes, timestamps taken off; from the SYNs or from what was seen.
    pub mss: u32,
    /// Options of this end's SYN; `None` if it was not seen, or some were cut off.
    pub offered: Option<ackclock_tcp::wire::Options>,
    /// Whether SACK was negotiated, or seen in use.
    pub sack: bool,
    /// Whether timestamps were.
    pub timestamps: bool,
    /// Explicit Congestion Notification.
    pub ecn: Ecn,
    /// What routers have asked this end for, whose packets were too big; `None` if none has. Then
    /// [`Retransmission::too_big`] says what went again for it.
    pub asked_shorter: Option<Box<AskedShorter>>,
    /// The largest window that the other end offered, in bytes; 0 if it offered none. `None` if the
    /// scale of its windows is not known, so that one of them may have limited this end unseen.
    pub window: Option<u64>,
    /// The largest of them that limited this end, in bytes; 0 if none did, or a closed one.
    pub full_window: u64,
    /// Payload bytes, each counted once.
    pub bytes: u64,
    /// Segments with payload or FIN or SYN, retransmissions included.
    pub segments: u64,
    /// D-SACKs that the other end sent.
    pub dsacks: u64,
    /// Round trips from the capture to the other end and back, as far as data and its ACKs measure
    /// them, plus the part on this side.
    pub rtt: Option<RoundTrip>,
    /// The route has become longer: the shortest round trip tells nothing of queues.
    pub rerouted: bool,
    /// Every retransmission, in order.
    pub retransmissions: Vec<Retransmission>,
    /// Every expiry of the retransmission timer, in order.
    pub timeouts: Vec<Timeout>,
    /// Every recovery, in order.
    pub recoveries: Vec<Recovery>,
    /// Every stall, in order.
    pub stalls: Vec<Stall>,
    /// What its time went into: the connection's from `start` to `end`. Of no time where only one
    /// direction was captured.
    pub lifetime: Lifetime,
    /// What it lost, and what explains that.
    pub losses: Losses,
    /// Probes for lost tails that carried new data and are therefore no retransmissions.
    pub probes_of_new_data: u64,
    /// How this end goes about losses.
    pub ways: Ways,
    /// Of each [`Kind::ProbeOrTimeout`], in order: what is to be said of it if it was a timeout.
    pub undecided: Vec<Timeout>,
    /// Bytes that were acknowledged but never seen: the capture has lost them.
    pub unseen: u64,
    /// The numbers of its packets tell what of it was lost before the capture.
    pub counted: bool,
    /// How often this end began to send data, at first or at once after the other one had sent
    /// some, give or take half a round trip: requests of a client that waits for each answer.
    pub turns: u64,
    /// Time to live (hop limit) of a reset that came from this end's address, and of its packet
    /// before, if they are more than a few hops apart: something on the path has probably sent it.
    pub strange_reset: Option<[u8; 2]>,
    /// All events, for a picture; empty unless asked for ([`Settings::detail`](crate::Settings)).
    pub events: Vec<Event>,
    /// What could not be known, and why.
    pub doubts: Vec<String>,
}

/// Explicit Congestion Notification on one way (RFC 3168), as far as the capture shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ecn {
    /// Whether both ends agreed on it, by their SYNs; or, where one was not seen, that it is in
    /// use. `None` if nothing says so.
    pub negotiated: Option<bool>,
    /// It is accurate ECN (RFC 9768). What came back is not counted then: ECN-Echo and CWR are bits
    /// of a counter.
    pub accurate: bool,
    /// Segments with data that passed the capture ECN-capable, marked ones included. A
    /// super-segment counts as the segments of SMSS in it.
    pub capable: u64,
    /// Of those, the ones marked with CE before the capture.
    pub marked: u64,
    /// ACKs with ECN-Echo that the other end sent.
    pub echoes: u64,
    /// Packets with CWR: this end says that it has lowered its window, for a mark or a loss.
    pub cwr: u64,
    /// When this end lowered its window for an ECN-Echo: once in a window of data, and not where a
    /// loss lowered it in the same one (RFC 3168 section 6.1.2).
    pub reductions: Vec<Time>,
}

/// What routers ask of a sender, by ICMP: packets that are no bigger than their next link takes
/// (RFC 1191, RFC 8201). Only messages count that quote what was outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedShorter {
    /// How many such messages were seen.
    pub messages: u32,
    /// When the first one was at the sender.
    pub first: Time,
    /// The least size of packets that they ask for, in bytes with IP headers; `None` if they do not
    /// say it, as routers older than RFC 1191.
    pub mtu: Option<u32>,
    /// Who asks for that.
    pub router: IpAddr,
    /// The sender does not do so: a timer has sent what was outstanding again, as long as before.
    /// Not if it has done so since.
    pub ignored: bool,
}

/// Round trips measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The shortest.
    pub min: Span,
    /// The mean.
    pub mean: Span,
    /// The median, to 3 %.
    pub median: Span,
    /// What 99 % of them do not exceed, to 3 %.
    pub p99: Span,
    /// The longest.
    pub max: Span,
    /// How many.
    pub samples: u64,
    /// Those by ACKs that may have been delayed: of all that was outstanding, and of less than two
    /// full segments (RFC 9293 section 3.8.6.3) or with less window (`__tcp_ack_snd_check`).
    pub delayable: u64,
}

/// Why a segment was retransmitted, as far as a capture shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The first of a recovery.
    FastRetransmit,
    /// A further one of a recovery: on a partial ACK, from the scoreboard, or again because the
    /// retransmission was lost.
    Recovery,
    /// In the slow start after a timeout.
    SlowStart,
    /// By the retransmission timer.
    Timeout,
    /// By the retransmission timer again, with nothing acknowledged in between.
    BackedOffTimeout,
    /// A tail loss probe (RFC 8985 section 7).
    TailLossProbe,
    /// The only segment outstanding, sent again by one of both timers: by a probe's or by the
    /// retransmission timer.
    ProbeOrTimeout,
    /// A router has asked for shorter packets ([`Flow::asked_shorter`]): what was outstanding goes
    /// again, as RFC 1191 section 6.4 has it. That is no sign of congestion, and cwnd stays.
    TooBig,
    /// It is not known.
    Unknown,
}

impl Kind {
    /// All, in a fixed order.
    pub const ALL: [Kind; 9] = [
        Kind::FastRetransmit,
        Kind::Recovery,
        Kind::SlowStart,
        Kind::Timeout,
        Kind::BackedOffTimeout,
        Kind::TailLossProbe,
        Kind::ProbeOrTimeout,
        Kind::TooBig,
        Kind::Unknown,
    ];

    /// By the retransmission timer.
    pub(crate) const fn is_timeout(self) -> bool {
        matches!(self, Kind::Timeout | Kind::BackedOffTimeout)
    }

    /// By a timer, that of tail loss probes or of retransmissions, and by no ACK.
    pub(crate) const fn is_by_timer(self) -> bool {
        self.is_timeout() || matches!(self, Kind::TailLossProbe | Kind::ProbeOrTimeout)
    }

    /// The same in the engine's words; `None` if it is not known, or the engine has none.
    pub const fn cause(self) -> Option<Cause> {
        match self {
            Kind::FastRetransmit => Some(Cause::FastRetransmit),
            Kind::Recovery => Some(Cause::Recovery),
            Kind::SlowStart => Some(Cause::SlowStart),
            Kind::Timeout => Some(Cause::Timeout),
            Kind::BackedOffTimeout => Some(Cause::BackedOffTimeout),
            Kind::TailLossProbe => Some(Cause::TailLossProbe),
            Kind::ProbeOrTimeout | Kind::TooBig | Kind::Unknown => None,
        }
    }

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self.cause() {
            Some(cause) => cause.name(),
            None if matches!(self, Kind::ProbeOrTimeout) => "probe_or_timeout",
            None if matches!(self, Kind::TooBig) => "packet_too_big",
            None => "unknown",
        }
    }
}

/// What proves that a retransmission was not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spurious {
    /// A D-SACK reported it as duplicate (RFC 2883).
    Dsack,
    /// The ACK echoed an older timestamp (RFC 3522).
    Timestamp,
    /// It was acknowledged sooner than the shortest round trip after it.
    RoundTrip,
    /// The capture saw the original arrive.
    Arrival,
    /// After a timeout that sent one segment, two ACKs in a row acknowledged more (RFC 5682 section
    /// 2.1): the second of them, data that was never sent again.
    FRto,
    /// Without D-SACKs: one before it had arrived, as ACKs that did not advance say. Either each
    /// retransmission on its way was answered by one (RFC 5681 section 4.2), or as many copies of
    /// the only segment as arrived behind the first; or there was an ACK for each packet, in order.
    /// Of SYNs, two SYN/ACKs had numbers of their own, so that each answered one.
    DuplicateAck,
}

/// A retransmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retransmission {
    /// Its frame, counted from 1.
    pub frame: u64,
    /// When it was captured; away from the sender, less what it waited in queues before the
    /// capture, as far as timestamps show that.
    pub at: Time,
    /// Sequence number of its first byte.
    pub seq: Seq,
    /// The same as a position; of a SYN 0.
    pub position: u64,
    /// Bytes of payload.
    pub len: u32,
    /// It is a SYN or a SYN/ACK. The FIN of an end that has sent nothing has the same position.
    pub syn: bool,
    /// Why.
    pub kind: Kind,
    /// How probable `kind` is, where hypotheses about the sender say so: in captures that were
    /// taken away from it. `None` elsewhere.
    pub probability: Option<f64>,
    /// What proves that it was not needed. `None` if it was needed, or if that is not known
    /// ([`Retransmission::known`]).
    pub spurious: Option<Spurious>,
    /// Whether `spurious` being `None` means that it was needed.
    pub known: bool,
    /// Whether it was lost itself; `None` if that is not known.
    pub lost: Option<bool>,
    /// Which transmission of these bytes it is, counted from 1; so at least 2.
    pub transmission: u32,
    /// Bytes of it of which the receiver had said before that they had arrived (SACK).
    pub sacked: u32,
    /// It carries what was longer than a router lets pass, as that had said before
    /// ([`AskedShorter`]), and is shorter itself: no queue has lost that, whatever sends it now.
    pub too_big: bool,
    /// The numbers of packets say that the capture has all that its sender has sent since its
    /// newest data before: no timer has sent anything meanwhile that was lost before the capture.
    pub all_seen: bool,
}

impl Retransmission {
    /// Bytes of it that were missing. All of them, if it repeats what had been reported: the
    /// receiver may have dropped that (RFC 2018 section 8).
    pub fn missing(&self) -> u32 {
        if self.sacked < self.len { self.len - self.sacked } else { self.len }
    }
}

/// The state of a sender as Linux and the PRR paper (section 2.1) name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// No sign of loss.
    Open,
    /// Duplicate ACKs or SACKs, but nothing was retransmitted.
    Disorder,
    /// After a fast retransmit.
    Recovery,
    /// After a timeout.
    Loss,
}

impl State {
    /// All, in a fixed order.
    pub const ALL: [State; 4] = [State::Open, State::Disorder, State::Recovery, State::Loss];

    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Disorder => "disorder",
            State::Recovery => "recovery",
            State::Loss => "loss",
        }
    }
}

/// An expiry of the retransmission timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeout {
    /// When its retransmission was captured.
    pub at: Time,
    /// Sequence number of the segment that it retransmitted.
    pub seq: Seq,
    /// The same as a position.
    pub position: u64,
    /// Which of [`Flow::retransmissions`] it sent.
    pub retransmission: usize,
    /// Its class.
    pub class: TimeoutClass,
    /// The state before it.
    pub state: State,
    /// Bytes outstanding before it.
    pub flight: u64,
    /// The estimate of cwnd before it, in bytes: the largest flight since the window last changed.
    pub cwnd: u64,
    /// Time since the last ACK for more, or the first transmission, not since the timer was set.
    pub waited: Span,
    /// Proved spurious.
    pub spurious: Option<Spurious>,
    /// When an ACK for any connection on the same way had last come; 0 if that is not known.
    pub passed: Time,
    /// What a replay needs, at the first timeout of an episode of which all of the flight was seen.
    pub episode: Option<Episode>,
}

/// The time around a timeout, for a replay: from the last moment at which nothing was missing to
/// the end of the repair.
///
/// Its segments are counted from 0, the first unacknowledged one at that moment; all are of SMSS
/// but perhaps the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// When its first lost segment went out.
    pub start: Time,
    /// Where segment 0 begins, as a position.
    pub position: u64,
    /// SMSS in bytes.
    pub mss: u32,
    /// The round trip without queueing.
    pub rtt: Span,
    /// The shortest one that the sender had seen when it began to repair; at least `rtt`.
    pub rtt_before: Span,
    /// That of the first retransmission that arrived; `None` if that is not known.
    pub rtt_after: Option<Span>,
    /// The shortest one that the sender had seen when all was repaired; at most `rtt_before`.
    pub rtt_least: Span,
    /// The bottleneck's rate in bits a second; `None` if that is not known.
    pub rate_bps: Option<f64>,
    /// cwnd at the beginning, in segments: as much as was outstanding when all had gone out that
    /// followed the first lost segment at once; at least 1.
    pub cwnd: u32,
    /// The receiver's window in bytes.
    pub rwnd: u64,
    /// Bytes that the application had to send from the first segment on, as far as was seen before
    /// the sender went idle.
    pub bytes: u64,
    /// Bytes from segment 0 to the end of the last one whose repair is part of the episode.
    pub repaired: u64,
    /// How many of the transmissions of each segment were lost, in order: `[0, 1, 2]` says that of
    /// segment 1 the first transmission was lost, and of segment 2 the first two. Segments
    /// after the end of the list came through. Those after `repaired` went out later, where another
    /// strategy may send them earlier.
    pub lost: Vec<u8>,
    /// Whether nothing had been retransmitted before on this connection: the window still grew as
    /// in slow start.
    pub slow_start: bool,
    /// Whether ACKs were delayed (one for two segments).
    pub delayed_ack: bool,
    /// Whether SACK was in use.
    pub sack: bool,
    /// Whether timestamps were.
    pub timestamps: bool,
    /// From the first transmission in the episode to the end of the repair, as it was.
    pub took: Span,
}

impl Episode {
    /// How many segments beyond the repair have a part in it, with a window of `cwnd` segments:
    /// what lies further ahead, another strategy does not send meanwhile either.
    pub fn ahead(cwnd: u32) -> u64 {
        3 * u64::from(cwnd) + 10
    }
}

/// A recovery: from a fast retransmit to the ACK of all that was outstanding then, or to a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// When it began.
    pub start: Time,
    /// When it ended; `None` if the capture ended first.
    pub end: Option<Time>,
    /// Whether a timeout ended it.
    pub by_timeout: bool,
    /// Bytes outstanding when it began.
    pub flight: u64,
    /// Retransmissions in it.
    pub retransmissions: u32,
    /// Whether it was found to be spurious.
    pub spurious: bool,
}
