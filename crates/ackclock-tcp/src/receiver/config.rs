//! How a receiver behaves.

use crate::seq::Seq;
use crate::time::Span;

/// When an ACK for in-order data may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// As soon as `ack_every` asks for it, or after this delay (RFC 5681 section 4.2: at most 500
    /// ms; a longer one is obeyed).
    After(Span),
    /// As soon as `ack_every` asks for it, or when the fast timer of BSD next expires. It does so
    /// every 200 ms, first this long after the origin of time (Wright & Stevens 1995, section 25.4;
    /// Lin & Kung section 3).
    FastTimer(Span),
    /// As Linux does, after a handshake that took this round trip; zero if it is not known.
    /// `ack_every` does not count.
    Linux(Span),
    /// As ns-2 does (`DelAckSink::recv` in tcp-sink.cc): as soon as a second segment comes, or
    /// after this delay. A duplicate of the newest segment in order waits like that segment itself,
    /// where RFC 9293 section 3.10.7.4 acknowledges it at once. `ack_every` does not count.
    Ns2(Span),
}

/// How a receiver behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Sequence number of the first data byte that will arrive.
    pub isn: Seq,
    /// Sequence number that our ACKs carry in their `seq` field.
    pub local_seq: Seq,
    /// RMSS: the largest segment expected.
    pub mss: u32,
    /// Delayed ACKs.
    pub delayed_ack: DelayedAck,
    /// How many full segments a delayed ACK covers: 2 as RFC 5681 section 4.2 has it, more for
    /// stretch ACKs (RFC 2525 section 2.13), as receivers send that merge segments before TCP
    /// sees them (LRO, GRO). It goes as soon as more than one full segment less is unacknowledged,
    /// so that the last one may be short. The RFC would let it wait for all their bytes; Linux does
    /// not (`__tcp_ack_snd_check`), nor does BSD, and senders that probe the tail count on it (RFC
    /// 8985 section 7.2). A segment is full if none longer has come, as for Linux (`rcv_mss`) and
    /// as the RFC desires: the sender's may be shorter than `mss`.
    pub ack_every: u32,
    /// Send SACK blocks (RFC 2018).
    pub sack: bool,
    /// Report duplicates in a D-SACK block (RFC 2883); only with `sack`.
    pub dsack: bool,
    /// Echo timestamps (RFC 7323). Those of the handshake are handed to
    /// [`Receiver::set_ts_recent`](crate::Receiver::set_ts_recent).
    pub timestamps: bool,
    /// ECN was negotiated: after a segment marked with CE every ACK carries ECN-Echo, until a
    /// segment with CWR comes (RFC 3168 section 6.1.3).
    pub ecn: bool,
    /// Echo marks for DCTCP, where ECN was negotiated: an ACK carries ECN-Echo if the segment
    /// before it was marked, and goes at once where that changes (RFC 8257 section 3.2).
    pub dctcp_echo: bool,
    /// Echo the timestamp of what arrives out of order too. RFC 7323 section 4.3 has none of it
    /// echoed; Lin & Kung section 6.3 needs it.
    pub echo_out_of_order: bool,
    /// Receive buffer in bytes. The window offered is this, less what is unread, rounded down to a
    /// multiple of 2^`wscale`, and at most 65535 times that. Only of a buffer smaller than
    /// 2^`wscale` it is rounded up, while half of it or more is free; what does not fit then is cut
    /// off, and the peer has to send it again.
    pub buffer: u64,
    /// Our window scale shift, 0 to 14; a higher one counts as 14 (RFC 7323 section 2.3).
    pub wscale: u8,
    /// Whether the application reads at once (`true`), or only by
    /// [`Receiver::read`](crate::Receiver::read).
    pub auto_read: bool,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        ReceiverConfig {
            isn: Seq(0),
            local_seq: Seq(0),
            mss: 1460,
            delayed_ack: DelayedAck::After(Span::from_millis(200)),
            ack_every: 2,
            sack: true,
            dsack: true,
            timestamps: false,
            ecn: false,
            dctcp_echo: false,
            echo_out_of_order: false,
            buffer: 1 << 20,
            wscale: 7,
            auto_read: true,
        }
    }
}
