//! What is sent: resets, SYNs, the sender's segments with the receiver's acknowledgment, ACKs,
//! keep-alives.

use super::{Connection, Outgoing, TcpState, black_hole, handshake};
use crate::event::Sending;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Transmit;
use crate::seq::Seq;
use crate::time::Time;
use crate::wire::{Control, Options, Repr};

/// `<SEQ=seq><CTL=RST>`.
fn reset(seq: Seq, timestamps: Option<Timestamps>) -> Repr {
    Repr {
        seq,
        control: Control::RST,
        options: Options { timestamps, ..Options::default() },
        ..Repr::default()
    }
}

impl Connection {
    /// A reset that no segment has drawn. Timestamps are those of RFC 7323 section 5.2, as in
    /// [`Connection::answer_with_reset`].
    pub(super) fn send_reset(&mut self, now: Time) {
        let ecr = self.receiver.ts_recent().unwrap_or(0);
        let timestamps =
            self.negotiated.timestamps.then(|| Timestamps { val: now.timestamp(), ecr });
        self.reset = Some(reset(self.snd_nxt(), timestamps));
    }

    /// A reset in answer to a segment that acknowledges `ack`, which nothing of ours warrants.
    pub(super) fn answer_with_reset(&mut self, ack: Seq, timestamps: Option<Timestamps>) {
        self.reset = Some(reset(ack, timestamps.map(|t| Timestamps { val: 0, ecr: t.val })));
    }
}

pub(super) fn poll(c: &mut Connection, now: Time) -> Option<Outgoing> {
    if c.reset.is_some() {
        return c.reset.take().map(|header| bare(c, header));
    }
    match c.state {
        TcpState::Closed => None,
        TcpState::SynSent | TcpState::SynReceived if c.handshake.due => {
            let header = handshake::syn(c, now);
            Some(bare(c, header))
        }
        TcpState::SynSent => None,
        TcpState::SynReceived => ack(c, now),
        _ => {
            if c.receiver.due_alone() {
                return ack(c, now);
            }
            let probe = black_hole::poll_probe(c, now);
            if let Some(t) = probe.unwrap_or_else(|| c.sender.poll_transmit(now)) {
                return Some(data(c, now, t));
            }
            if core::mem::take(&mut c.keep_alive_due) {
                return Some(keep_alive(c, now));
            }
            ack(c, now)
        }
    }
}

fn bare(c: &Connection, header: Repr) -> Outgoing {
    Outgoing { header, position: c.sender.state().snd_max, len: 0, sent: None }
}

/// What the sender sends; it counts a FIN as a byte.
fn data(c: &mut Connection, now: Time, t: Transmit) -> Outgoing {
    black_hole::on_transmit(c, now, &t);
    let mut segment = t.segment;
    let room = c.smss().saturating_sub(segment.len);
    c.receiver.stamp(now, &mut segment, room);
    let end = t.position + u64::from(segment.len);
    let fin = c.shut && segment.len > 0 && end > c.written;
    let len = segment.len - u32::from(fin);
    segment.flags = Flags::new(len > 0 && (segment.flags.psh() || end >= c.written), fin);
    Outgoing {
        header: Repr::from_segment(&segment),
        position: t.position,
        len,
        sent: Some(Sending { cause: t.cause, transmission: t.transmission }),
    }
}

fn ack(c: &mut Connection, now: Time) -> Option<Outgoing> {
    let segment = Segment { seq: ack_seq(c), ..c.receiver.poll_transmit(now)? };
    Some(bare(c, Repr::from_segment(&segment)))
}

/// What an ACK without data stands at: SND.NXT, or where the peer has taken window back, its edge,
/// beyond which it would not be acceptable. What the scale of its window cuts off is not taken back
/// (`tcp_acceptable_seq`).
fn ack_seq(c: &Connection) -> Seq {
    let s = c.sender.state();
    let edge = s.window_edge.max(s.snd_una);
    let cut_off = (1 << c.negotiated.their_shift()) - 1;
    Seq::at(c.isn(), if s.snd_max <= edge + cut_off { s.snd_max } else { edge })
}

/// RFC 9293 section 3.8.4: `SEG.SEQ = SND.NXT-1`, which is not acceptable and draws an ACK.
fn keep_alive(c: &mut Connection, now: Time) -> Outgoing {
    let mut segment = Segment { seq: c.snd_nxt() - 1, ..Segment::default() };
    c.receiver.stamp(now, &mut segment, 0);
    bare(c, Repr::from_segment(&segment))
}
