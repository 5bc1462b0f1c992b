//! What happens to packets that must wait for a transmitter.

mod codel;
mod fq_codel;
mod fred;
mod line;
mod pie;
mod red;

use ackclock_tcp::Span;

pub(crate) use codel::CodelState;
pub(crate) use fq_codel::FqCodelState;
pub(crate) use fred::FredState;
pub(crate) use line::{Found, Line, Queued};
pub(crate) use pie::PieState;
pub(crate) use red::{RedState, Verdict, Waiting};

/// A queue discipline.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Queue {
    /// Drops what does not fit. The packet in transmission counts, so that `Limit::Packets(20)`
    /// behaves as ns-2's `limit_ 20`, which holds 19 packets beside it.
    DropTail(Limit),
    /// Random early detection.
    Red(Red),
    /// Flow random early drop.
    Fred(Fred),
    /// Controlled delay.
    Codel(Codel),
    /// Flow queue CoDel.
    FqCodel(FqCodel),
    /// Proportional integral controller enhanced.
    Pie(Pie),
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
}

impl Limit {
    /// What becomes of a packet of `size` bytes where so many packets and bytes are held already.
    #[inline]
    pub(crate) fn verdict(self, packets: u32, bytes: u64, size: u32) -> Verdict {
        Verdict::full_if(match self {
            Limit::Packets(limit) => packets >= limit,
            Limit::Bytes(limit) => bytes + u64::from(size) > limit,
        })
    }
}

/// Random early detection (Floyd & Jacobson 1993), with the details of ns-2.35. The packet in
/// transmission does not count as queued. A packet is dropped early only while more than one packet
/// waits. The first packet after the average crosses `min_th` passes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Red {
    /// Packets that may wait beside the one in transmission.
    pub limit: u32,
    /// Lower threshold of the average queue, in packets.
    pub min_th: f64,
    /// Upper threshold of the average queue, in packets; above `min_th`.
    pub max_th: f64,
    /// Weight of the queue seen by one arrival in the average, 0 to 1.
    pub w_q: f64,
    /// Drop probability as the average reaches `max_th`, 0 to 1.
    pub max_p: f64,
    /// Between `max_th` and twice `max_th` the probability rises from `max_p` to 1 instead of
    /// jumping there (Floyd 2000, "gentle").
    pub gentle: bool,
    /// The distance between two early drops is uniform on 1/p to 2/p packets, instead of 1 to 1/p
    /// (ns-2's `wait_`).
    pub wait: bool,
    /// The queue is measured in bytes. Limit and thresholds still count packets, each of
    /// `mean_packet_size`.
    pub queue_in_bytes: bool,
    /// A packet's drop probability is in proportion to its size (ns-2's `bytes_`).
    pub byte_mode: bool,
    /// Bytes of an average packet, at least 1: for the byte modes, and for how many packets could
    /// have been sent while the queue was empty.
    pub mean_packet_size: u32,
    /// ECN-capable packets are marked instead of dropped early (RFC 3168 section 5).
    pub ecn: bool,
}

/// Flow random early drop (Lin & Morris 1997): RED with an account for each flow, so that a flow
/// pays for its own use of the queue. Where a connection's data and ACKs share a link, they are one
/// flow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fred {
    /// Packets that may wait beside the one in transmission.
    pub limit: u32,
    /// Lower threshold of the average queue, and the most that a flow may have in the queue, in
    /// packets, at least 1.
    pub min_th: f64,
    /// Upper threshold of the average queue, in packets; above `min_th`.
    pub max_th: f64,
    /// Weight of the queue seen at one arrival or departure in the average, 0 to 1.
    pub w_q: f64,
    /// Probability of a random drop as the average reaches `max_th`, 0 to 1.
    pub max_p: f64,
    /// A flow with fewer packets in the queue loses none at random; the paper has 2 for small
    /// buffers, 4 for large ones.
    pub minq: u32,
    /// From `max_th` on each flow may have two packets in the queue, instead of none joining it.
    pub many_flows: bool,
    /// Bytes of an average packet, at least 1: for how many packets could have been sent while the
    /// queue was empty.
    pub mean_packet_size: u32,
}

/// Controlled delay (RFC 8289): packets are dropped as they leave the queue, if all have waited for
/// too long there for some time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Codel {
    /// Packets that may wait beside the one in transmission.
    pub limit: u32,
    /// A sojourn time that is acceptable as a standing delay.
    pub target: Span,
    /// For so long the sojourn time has to be at the target or above before packets are dropped;
    /// about the longest round trip.
    pub interval: Span,
    /// Nothing is dropped while no more than so many bytes wait: those of the largest packet.
    pub mtu: u32,
    /// ECN-capable packets are marked instead of dropped (RFC 3168 section 5).
    pub ecn: bool,
}

impl Codel {
    /// A CoDel queue with the RFC's target of 5 ms and interval of 100 ms, and an MTU of 1500
    /// bytes, without ECN.
    pub fn new(limit: u32) -> Self {
        let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
        Codel { limit, target, interval, mtu: 1500, ecn: false }
    }
}

/// Flow queue CoDel (RFC 8290): flows are hashed to queues that are served in turn, each with
/// controlled delay of its own.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FqCodel {
    /// Of each queue; but the limit is that of all queues together.
    pub codel: Codel,
    /// Bytes that may wait in all queues together.
    pub memory: u64,
    /// How many queues, at least 1.
    pub flows: u32,
    /// Bytes that a queue may send in its turn, at least 1.
    pub quantum: u32,
}

impl FqCodel {
    /// 1024 queues with the RFC's quantum of 1514 bytes, 32 MiB of memory, and ECN, as in Linux.
    pub fn new(limit: u32) -> Self {
        let codel = Codel { ecn: true, ..Codel::new(limit) };
        FqCodel { codel, memory: 32 << 20, flows: 1024, quantum: 1514 }
    }
}

/// Proportional integral controller enhanced (PIE, RFC 8033): arriving packets are dropped with a
/// probability that follows the queueing delay.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pie {
    /// Packets that may wait beside the one in transmission.
    pub limit: u32,
    /// The queueing delay that is aimed at (QDELAY_REF).
    pub target: Span,
    /// The probability is updated once in this time.
    pub t_update: Span,
    /// Weight of the distance from the target, a second.
    pub alpha: f64,
    /// Weight of the change of the delay, a second.
    pub beta: f64,
    /// For so long after a calm time nothing is dropped.
    pub max_burst: Span,
    /// Bytes of an average packet: while no more than two of them wait, nothing is dropped.
    pub mean_packet_size: u32,
    /// Drops are spread more evenly than chance alone would have them (section 5.4).
    pub derandomize: bool,
    /// Above 10 % the probability grows by at most 2 percentage points at a time (section 5.5, and
    /// Linux).
    pub cap: bool,
    /// ECN-capable packets are marked instead of dropped, while the probability is at most 10 %
    /// (section 5.1).
    pub ecn: bool,
}

impl Pie {
    /// A PIE queue with the RFC's settings: a target and updates of 15 ms, weights of 1/8 and 5/4,
    /// bursts of 150 ms, packets of 1024 bytes, and neither derandomization nor a cap nor
    /// ECN.
    pub fn new(limit: u32) -> Self {
        Pie {
            limit,
            target: Span::from_millis(15),
            t_update: Span::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span::from_millis(150),
            mean_packet_size: 1024,
            derandomize: false,
            cap: false,
            ecn: false,
        }
    }
}

impl Red {
    /// A gentle RED queue that measures packets of 500 bytes, with `max_p` 0.1 and `wait`.
    pub fn new(limit: u32, min_th: f64, max_th: f64, w_q: f64) -> Self {
        Red {
            limit,
            min_th,
            max_th,
            w_q,
            max_p: 0.1,
            gentle: true,
            wait: true,
            queue_in_bytes: false,
            byte_mode: false,
            mean_packet_size: 500,
            ecn: false,
        }
    }

    /// The weight that ns-2.35 chooses by itself (`q_weight_ -1`; Floyd, Gummadi & Shenker 2001).
    /// The time constant of the average is ten round trips. A round trip is taken as three times
    /// the link's delay and transmission time, at least 100 ms.
    pub fn automatic_w_q(rate: u64, delay: Span, mean_packet_size: u32) -> f64 {
        let packets_per_second = rate as f64 / (8.0 * f64::from(mean_packet_size));
        let rtt = (3.0 * (delay.secs_f64() + 1.0 / packets_per_second)).max(0.1);
        1.0 - libm::exp(-1.0 / (10.0 * rtt * packets_per_second))
    }
}

impl Fred {
    /// A FRED queue for small buffers and packets of 500 bytes, with the paper's `w_q` 0.002 and
    /// `max_p` 0.02.
    pub fn new(limit: u32, min_th: f64, max_th: f64) -> Self {
        Fred {
            limit,
            min_th,
            max_th,
            w_q: 0.002,
            max_p: 0.02,
            minq: 2,
            many_flows: false,
            mean_packet_size: 500,
        }
    }
}
