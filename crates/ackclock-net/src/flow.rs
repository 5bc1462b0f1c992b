//! Flows: the two ends of a connection, or a CBR stream, and what is counted about them.

use ackclock_tcp::connection::Connection;
use ackclock_tcp::recovery::detect::Notices;
use ackclock_tcp::{Cause, Receiver, Segment, Sender, Stats, Time, Timestamps, Transmit};

use crate::connections::Connections;
use crate::packet::{Kind, Options, Packet};
use crate::packet_size::PacketSizes;
use crate::report::FlowReport;
use crate::traffic::{Cbr, Writer};

/// A flow's state. Times are nanoseconds since the start, `u64::MAX` for never.
///
/// The fields stand in the order of their use: what each packet touches fills one cache line or two
/// at its beginning.
#[repr(C)]
pub(crate) struct Flow {
    pub(crate) gates: Gates,
    pub(crate) stop: u64,
    /// When the source acts next.
    pub(crate) next_write: u64,
    pub(crate) completed: u64,
    /// Where the path of its data begins in [`crate::paths::Paths`], and that of its ACKs.
    pub(crate) data_path: u32,
    pub(crate) ack_path: u32,
    pub(crate) arrived: u64,
    pub(crate) agent: Agent,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) start: u64,
    /// Whether and when its sender is notified of what the network loses.
    pub(crate) notified: Notices,
    pub(crate) drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) spurious_retransmissions: u64,
}

/// Which packets may reach the ends of a flow ahead of the clock ([`crate::lookahead`]): the
/// receiver first, then the sender.
pub(crate) struct Gates {
    /// Packets that arrive before this time may, since nothing but packets comes to that end
    /// earlier.
    before: [u64; 2],
    /// Packets on the last link that wait for their event. An end that may get none early has one
    /// more, which never comes.
    pending: [u32; 2],
}

impl Gates {
    const CLOSED: Gates = Gates { before: [u64::MAX; 2], pending: [1; 2] };

    fn end(kind: Kind) -> usize {
        usize::from(kind == Kind::Ack)
    }

    /// Packets of this kind may come early from now on.
    pub(crate) fn open(&mut self, kind: Kind) {
        self.pending[Self::end(kind)] -= 1;
    }

    /// Whether the packet that arrives at `at` may come now: nothing else can come earlier.
    #[inline]
    pub(crate) fn admit(&self, kind: Kind, at: u64) -> bool {
        at < self.before[Self::end(kind)] && self.pending[Self::end(kind)] == 0
    }

    /// So many packets of this kind wait for their event.
    #[inline]
    pub(crate) fn wait(&mut self, kind: Kind, packets: u32) {
        self.pending[Self::end(kind)] += packets;
    }

    /// One that waited has come.
    #[inline]
    pub(crate) fn come(&mut self, kind: Kind) {
        self.pending[Self::end(kind)] -= 1;
    }

    /// Timer or source act at `next` on the end that gets packets of this kind, and not earlier.
    #[inline]
    pub(crate) fn set(&mut self, kind: Kind, next: u64) {
        self.before[Self::end(kind)] = next.saturating_add(1);
    }
}

/// What sends and receives. Almost all flows are established connections, so their state stands
/// here and not behind a pointer. Which of them it is stands first.
#[allow(clippy::large_enum_variant)]
#[repr(u8)]
pub(crate) enum Agent {
    Established(Established),
    Handshake(Box<Connections>),
    Cbr(Box<Cbr>),
}

/// The two ends of an established connection, small things first.
#[repr(C)]
pub(crate) struct Established {
    /// The earliest entry that the event heap holds for each end's timer.
    pub(crate) sender_timer: u64,
    pub(crate) receiver_timer: u64,
    /// The bytes that the application writes before it waits for their acknowledgment, or ends.
    /// `u64::MAX` if there is no end.
    pub(crate) total: u64,
    pub(crate) sizes: PacketSizes,
    /// TS.Recent of the sender (RFC 7323 section 4.3).
    pub(crate) ts_recent: u32,
    pub(crate) receiver: Receiver,
    pub(crate) sender: Sender,
    pub(crate) writer: Writer,
}

impl Established {
    fn size(&self, segment: &Segment) -> u32 {
        self.sizes.packet(segment.len, || segment.option_len())
    }

    /// An ACK has come to the sender (RFC 7323 section 4.3 rule (2)). Its sequence number is never
    /// above what was acknowledged last, since no data comes this way.
    #[inline]
    pub(crate) fn note_timestamp(&mut self, ack: &Segment) {
        if let Some(ts) = ack.timestamps
            && !Timestamps::is_older(ts.val, self.ts_recent)
        {
            self.ts_recent = ts.val;
        }
    }

    /// The timestamp that a segment from the sender echoes.
    #[inline]
    pub(crate) fn echo(&self, segment: &mut Segment) {
        if let Some(ts) = &mut segment.timestamps {
            ts.ecr = self.ts_recent;
        }
    }

    /// The packet for a segment from the sender.
    #[inline(always)]
    pub(crate) fn data(
        &self,
        transmit: &Transmit,
        flow: u32,
        hop: u32,
        options: &mut Options,
    ) -> Packet {
        let &Transmit { ref segment, position, transmission, cause } = transmit;
        let size = self.size(segment);
        let fast_retransmission = cause == Cause::FastRetransmit;
        Packet {
            position,
            flow,
            size,
            hop,
            transmission,
            fast_retransmission,
            ..Packet::new(Kind::Data, segment, options)
        }
    }

    /// The packet for a segment from the receiver.
    #[inline(always)]
    pub(crate) fn ack(
        &self,
        segment: &Segment,
        flow: u32,
        hop: u32,
        options: &mut Options,
    ) -> Packet {
        let (position, size) = (self.receiver.rcv_nxt(), self.size(segment));
        Packet { position, flow, size, hop, ..Packet::new(Kind::Ack, segment, options) }
    }
}

impl Flow {
    pub(crate) fn new(agent: Agent, from: u32, to: u32, start: u64, stop: u64) -> Self {
        let notified = match &agent {
            Agent::Established(tcp) => tcp.sender.notices(),
            Agent::Handshake(_) | Agent::Cbr(_) => Notices::Never,
        };
        Flow {
            agent,
            from,
            to,
            data_path: 0,
            ack_path: 0,
            start,
            stop,
            notified,
            next_write: u64::MAX,
            completed: u64::MAX,
            drops: 0,
            ack_drops: 0,
            arrived: 0,
            spurious_retransmissions: 0,
            gates: Gates::CLOSED,
        }
    }

    /// The unit in which drop lists count.
    pub(crate) fn mss(&self) -> u32 {
        match &self.agent {
            Agent::Established(tcp) => tcp.sizes.mss,
            Agent::Handshake(connections) => connections.sizes.mss,
            Agent::Cbr(cbr) => cbr.packet_size,
        }
    }

    /// Checks at `now` whether all that the application wrote is acknowledged. Returns when it
    /// writes next, if it was waiting for that.
    #[inline]
    pub(crate) fn check_completion(&mut self, now: u64) -> Option<u64> {
        // Almost every ACK leaves something.
        if let Agent::Established(tcp) = &self.agent
            && tcp.sender.acked() < tcp.total
        {
            return None;
        }
        self.completes(now)
    }

    /// The rest of it. A function of its own, so that it is not in the way of those ACKs.
    #[cold]
    #[inline(never)]
    fn completes(&mut self, now: u64) -> Option<u64> {
        let (acked, total, writer) = match &mut self.agent {
            Agent::Established(tcp) => (tcp.sender.acked(), tcp.total, &mut tcp.writer),
            Agent::Handshake(connections) => {
                (connections.acked(), connections.total, &mut connections.writer)
            }
            Agent::Cbr(_) => return None,
        };
        if acked < total || self.completed != u64::MAX || self.next_write != u64::MAX {
            return None;
        }
        let next = writer.acknowledged(now);
        match next {
            Some(at) => self.next_write = at,
            None => self.completed = now,
        }
        next
    }

    /// Counters at `now`.
    pub(crate) fn report(&self, now: u64) -> FlowReport {
        let mut syn_timeouts = 0;
        let (bytes_acked, stats) = match &self.agent {
            Agent::Established(tcp) => (tcp.sender.acked(), *tcp.sender.stats()),
            Agent::Handshake(connections) => {
                let client = connections.client();
                syn_timeouts = client.map_or(0, Connection::syn_timeouts);
                let stats = client.map_or_else(Stats::default, |c| *c.sender().stats());
                (connections.acked(), stats)
            }
            Agent::Cbr(cbr) => {
                let bytes_sent = cbr.sent * u64::from(cbr.packet_size);
                (
                    cbr.bytes_arrived,
                    Stats { segments_sent: cbr.sent, bytes_sent, ..Stats::default() },
                )
            }
        };
        let start = Time(self.start);
        let until = Time(now.min(self.completed).min(self.stop)).max(start);
        let seconds = until.since(start).secs_f64();
        FlowReport {
            bytes_acked,
            stats,
            syn_timeouts,
            completed: (self.completed != u64::MAX).then_some(Time(self.completed)),
            until,
            drops: self.drops,
            ack_drops: self.ack_drops,
            arrived: self.arrived,
            spurious_retransmissions: self.spurious_retransmissions,
            goodput_bps: (seconds > 0.0).then(|| bytes_acked as f64 * 8.0 / seconds),
        }
    }
}
