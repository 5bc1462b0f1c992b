//! Flows: the two ends of a connection, or a CBR stream, and what is counted about them.

use ackclock_tcp::axes::Told;
use ackclock_tcp::{Cause, Receiver, Segment, Sender, Stats, Time, Transmit};

use crate::packet::{Kind, Options, Packet};
use crate::report::FlowReport;
use crate::traffic::{Cbr, Writer};
use crate::whole::Connections;

/// A flow's state. Times are nanoseconds since the start, `u64::MAX` for never.
pub(crate) struct Flow {
    pub(crate) agent: Agent,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Where the flow's way stands in the table of paths, and that of its ACKs.
    pub(crate) data_path: u32,
    pub(crate) ack_path: u32,
    pub(crate) start: u64,
    pub(crate) stop: u64,
    /// Whether and when its sender has to be told what the network loses.
    pub(crate) told: Told,
    /// When the source acts next.
    pub(crate) next_write: u64,
    pub(crate) completed: u64,
    pub(crate) drops: u64,
    pub(crate) ack_drops: u64,
    pub(crate) arrived: u64,
    pub(crate) spurious_retransmissions: u64,
    /// Packets on the last link that wait for their event, per end.
    pub(crate) pending_data: u32,
    pub(crate) pending_acks: u32,
    /// Whether packets may be handed to the receiver, or the sender, before the clock has got there.
    pub(crate) receiver_ahead: bool,
    pub(crate) sender_ahead: bool,
}

/// What sends and receives. Almost all flows are connections, so their state stands here and not behind a pointer.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Agent {
    Tcp(Tcp),
    Whole(Box<Connections>),
    Cbr(Box<Cbr>),
}

/// The two ends of a connection.
pub(crate) struct Tcp {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// The earliest entry that the event heap holds for each end's timer.
    pub(crate) sender_timer: u64,
    pub(crate) receiver_timer: u64,
    pub(crate) writer: Writer,
    /// Bytes that the application writes before it waits for their acknowledgment or ends; `u64::MAX` if there is no end.
    pub(crate) total: u64,
    pub(crate) sizes: Sizes,
}

/// Of packets, as in [`crate::FlowConfig`].
pub(crate) struct Sizes {
    pub(crate) mss: u32,
    pub(crate) header: u32,
    pub(crate) ack_size: u32,
    pub(crate) count_options: bool,
}

impl Sizes {
    /// Bytes on a link of a packet with `len` bytes of payload and `options` bytes of TCP options.
    #[inline]
    pub(crate) fn packet(&self, len: u32, options: u32) -> u32 {
        let options = if self.count_options { options } else { 0 };
        let bare = if len == 0 { self.ack_size } else { len.saturating_add(self.header) };
        bare.saturating_add(options)
    }
}

impl Tcp {
    fn size(&self, segment: &Segment) -> u32 {
        self.sizes.packet(segment.len, segment.option_len())
    }

    /// The packet for a segment from the sender.
    #[inline]
    pub(crate) fn data(&self, transmit: &Transmit, flow: u32, hop: u32, options: &mut Options) -> Packet {
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
    #[inline]
    pub(crate) fn ack(&self, segment: &Segment, flow: u32, hop: u32, options: &mut Options) -> Packet {
        let (position, size) = (self.receiver.rcv_nxt(), self.size(segment));
        Packet { position, flow, size, hop, ..Packet::new(Kind::Ack, segment, options) }
    }
}

impl Flow {
    pub(crate) fn new(agent: Agent, from: u32, to: u32, start: u64, stop: u64) -> Self {
        let told = match &agent {
            Agent::Tcp(tcp) => tcp.sender.told(),
            Agent::Whole(_) | Agent::Cbr(_) => Told::Never,
        };
        Flow {
            agent,
            from,
            to,
            data_path: 0,
            ack_path: 0,
            start,
            stop,
            told,
            next_write: u64::MAX,
            completed: u64::MAX,
            drops: 0,
            ack_drops: 0,
            arrived: 0,
            spurious_retransmissions: 0,
            pending_data: 0,
            pending_acks: 0,
            receiver_ahead: false,
            sender_ahead: false,
        }
    }

    /// The unit in which drop lists count.
    pub(crate) fn mss(&self) -> u32 {
        match &self.agent {
            Agent::Tcp(tcp) => tcp.sizes.mss,
            Agent::Whole(whole) => whole.sizes.mss,
            Agent::Cbr(cbr) => cbr.packet_size,
        }
    }

    /// Whether an ACK may be handed to the sender at `at` before the clock has got there: nothing else can reach the
    /// sender earlier.
    #[inline]
    pub(crate) fn takes_ack_ahead(&self, at: u64) -> bool {
        self.sender_ahead
            && self.pending_acks == 0
            && self.next_write >= at
            && matches!(&self.agent, Agent::Tcp(tcp) if tcp.sender.next_deadline().0 >= at)
    }

    /// As [`Flow::takes_ack_ahead`], for what goes to the receiver.
    #[inline]
    pub(crate) fn takes_data_ahead(&self, at: u64) -> bool {
        let quiet = match &self.agent {
            Agent::Tcp(tcp) => tcp.receiver.next_deadline().0 >= at,
            Agent::Cbr(_) => true,
            Agent::Whole(_) => false,
        };
        self.receiver_ahead && self.pending_data == 0 && quiet
    }

    /// Notes at `now` whether all that the application wrote has been acknowledged. Returns when it writes again, if it had
    /// waited for that.
    #[inline]
    pub(crate) fn check_completion(&mut self, now: u64) -> Option<u64> {
        let (acked, total, writer) = match &mut self.agent {
            Agent::Tcp(tcp) => (tcp.sender.acked(), tcp.total, &mut tcp.writer),
            Agent::Whole(whole) => (whole.acked(), whole.total, &mut whole.writer),
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
        let (bytes_acked, stats) = match &self.agent {
            Agent::Tcp(tcp) => (tcp.sender.acked(), *tcp.sender.stats()),
            Agent::Whole(whole) => (whole.acked(), whole.client().map_or_else(Stats::default, |c| *c.sender().stats())),
            Agent::Cbr(cbr) => {
                let bytes_sent = cbr.sent * u64::from(cbr.packet_size);
                (cbr.bytes_arrived, Stats { segments_sent: cbr.sent, bytes_sent, ..Stats::default() })
            }
        };
        let seconds = Time(now.min(self.completed).min(self.stop)).since(Time(self.start)).secs_f64();
        FlowReport {
            bytes_acked,
            stats,
            completed: (self.completed != u64::MAX).then_some(Time(self.completed)),
            drops: self.drops,
            ack_drops: self.ack_drops,
            arrived: self.arrived,
            spurious_retransmissions: self.spurious_retransmissions,
            goodput_bps: if seconds > 0.0 { bytes_acked as f64 * 8.0 / seconds } else { 0.0 },
        }
    }
}
