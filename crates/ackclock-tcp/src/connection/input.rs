//! What a segment does to a connection that is open or being closed: the steps of RFC 9293 section
//! 3.10.7.4 in their order, with RFC 5961 and PAWS (RFC 7323 section 5).

use super::text::{on_text, segment_len, time_wait};
use super::{CloseReason, Connection, Placement, TcpState, black_hole, handshake};
use crate::segment::{Segment, Timestamps};
use crate::seq::Seq;
use crate::time::{Span, Time};
use crate::wire::{Control, Repr};

/// TS.Recent is of no use after so long without a segment (RFC 7323 section 5.5).
const TIMESTAMP_AGE: Span = Span::from_secs(24 * 24 * 60 * 60);

/// Limits ACKs that answer what may be forged, or an ACK (RFC 5961 section 7: 10 in 5 s).
///
/// Each connection has a limit of its own. One that all connections share can be emptied through
/// one of them to find out about others (Cao et al. 2016, CVE-2016-5696).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Challenges {
    since: Time,
    sent: u32,
}

impl Challenges {
    const MOST: u32 = 10;
    const INTERVAL: Span = Span::from_secs(5);

    fn allow(&mut self, now: Time) -> bool {
        if self.sent == 0 || now.since(self.since) >= Self::INTERVAL {
            *self = Challenges { since: now, sent: 0 };
        }
        self.sent += 1;
        self.sent <= Self::MOST
    }
}

impl Connection {
    /// An ACK that says where we are, as far as the limit allows.
    fn challenge(&mut self, now: Time) {
        if self.challenges.allow(now) {
            self.receiver.ack_now();
        }
    }

    /// Where a sequence number lies, counted from RCV.NXT.
    pub(super) fn ahead(&self, seq: Seq) -> i64 {
        let rcv_nxt = Seq::at(self.negotiated.irs + 1, self.receiver.rcv_nxt());
        i64::from(seq.ahead_of(rcv_nxt))
    }

    /// RCV.WND.
    fn rcv_wnd(&self) -> i64 {
        (self.receiver.window_edge() - self.receiver.rcv_nxt()) as i64
    }
}

pub(super) fn on_segment(
    c: &mut Connection,
    now: Time,
    header: &Repr,
    len: u32,
) -> Option<Placement> {
    let has = |control| header.control.contains(control);
    let mut segment = header.segment(len);
    if has(Control::RST) {
        on_reset(c, now, header.seq);
        return None;
    }
    if has(Control::SYN) {
        if c.state != TcpState::SynReceived || header.seq != c.negotiated.irs {
            on_syn(c, now, header);
            return None;
        }
        if !has(Control::ACK) {
            c.handshake.on_repeated_syn(now);
            // The peer has given up ECN, for fear that it lost its SYN.
            if c.negotiated.ecn && !handshake::offers_ecn(header) {
                c.negotiated.ecn = false;
                c.receiver.refuse_ecn();
            }
            return None;
        }
        // The SYN/ACK of a simultaneous open (figure 7): without the SYN that we know it is an ACK.
        segment.seq = segment.seq + 1;
    }
    if !is_acceptable(c, now, &segment) {
        return None;
    }
    // Fifth. RFC 7323 section 2.2: the window of a SYN/ACK is not scaled.
    let shift = if has(Control::SYN) { 0 } else { c.negotiated.their_shift() };
    if !has(Control::ACK) || !on_ack(c, now, &segment, shift) {
        return None;
    }
    on_text(c, now, segment)
}

/// First, for what carries neither RST nor SYN: PAWS (RFC 7323 section 5.3, R1) and the sequence
/// number.
fn is_acceptable(c: &mut Connection, now: Time, segment: &Segment) -> bool {
    if c.negotiated.timestamps {
        // RFC 7323 section 3.2: "SHOULD silently drop".
        let Some(ts) = segment.timestamps else { return false };
        if now.since(c.heard) > TIMESTAMP_AGE {
            c.receiver.set_ts_recent(None);
        }
        if c.receiver.ts_recent().is_some_and(|recent| Timestamps::is_older(ts.val, recent)) {
            if segment.len > 0 || segment.flags.fin() {
                c.receiver.ack_now();
            } else {
                c.challenge(now);
            }
            return false;
        }
    }
    let (start, wnd) = (c.ahead(segment.seq), c.rcv_wnd());
    let len = segment_len(segment);
    let end = start + i64::from(len);
    let acceptable = if len == 0 {
        // One more than table 6: what is sent when the window is full stands at its edge.
        (0..=wnd).contains(&start)
    } else if wnd == 0 {
        // "Special allowance should be made to accept valid ACKs": the receiver will not take the
        // text.
        start == 0
    } else {
        start < wnd && end > 0
    };
    if acceptable {
        c.heard = now;
        c.keep_alives = 0;
        return true;
    }
    if len == 0 {
        // Two ends that take each other's ACKs for unacceptable would go on for ever.
        c.challenge(now);
    } else {
        c.receiver.on_segment(now, &Segment { len, ..*segment });
        if c.state == TcpState::TimeWait && segment.flags.fin() && end == 0 {
            c.wait_until = now + c.config.time_wait;
        }
    }
    false
}

/// Second: RST (RFC 5961 section 3.2).
fn on_reset(c: &mut Connection, now: Time, seq: Seq) {
    use TcpState::*;
    let ahead = c.ahead(seq);
    if ahead != 0 {
        if (0..c.rcv_wnd()).contains(&ahead) {
            c.challenge(now);
        }
        return;
    }
    c.end(match c.state {
        SynReceived if !c.handshake.passive => Some(CloseReason::Refused),
        // Both sides have closed.
        TimeWait => None,
        _ => Some(CloseReason::Reset),
    });
}

/// Fourth: SYN (RFC 5961 section 4.2).
fn on_syn(c: &mut Connection, now: Time, header: &Repr) {
    let new = match c.state {
        // "Return this connection to the LISTEN state."
        TcpState::SynReceived => {
            c.handshake.passive && (0..c.rcv_wnd()).contains(&c.ahead(header.seq))
        }
        TcpState::TimeWait => !header.control.contains(Control::ACK) && reopens(c, header),
        _ => false,
    };
    if new {
        let reason = if c.state == TcpState::TimeWait { None } else { Some(CloseReason::Reset) };
        c.end(reason);
    } else {
        c.challenge(now);
    }
}

/// RFC 6191 section 2: whether a SYN in TIME-WAIT cannot be an old one.
fn reopens(c: &Connection, syn: &Repr) -> bool {
    let higher = c.ahead(syn.seq) >= 0;
    let recent = c.receiver.ts_recent().filter(|_| c.negotiated.timestamps);
    let would_have = syn.options.timestamps.filter(|_| c.config.timestamps);
    Timestamps::reopens(recent, would_have, higher)
}

/// Fifth: the acknowledgment, and a window in units of 2^`shift`. Returns whether the rest of the
/// segment counts.
fn on_ack(c: &mut Connection, now: Time, segment: &Segment, shift: u8) -> bool {
    if c.state == TcpState::SynReceived {
        if segment.ack != c.isn() {
            c.answer_with_reset(segment.ack, segment.timestamps);
            return false;
        }
        handshake::complete(c, now, segment.wnd, shift, segment.timestamps.map(|t| t.ecr));
        c.sender.set_wl1(segment.seq);
        return true;
    }
    // RFC 5961 section 5.2: SND.UNA - MAX.SND.WND =< SEG.ACK =< SND.NXT.
    let s = c.sender.state();
    let above = i64::from(segment.ack.ahead_of(c.snd_una()));
    if above > s.flight() as i64 || above < -(s.max_window.min(1 << 30) as i64) {
        c.challenge(now);
        return false;
    }
    let before = c.sender.acked();
    black_hole::on_ack(c, now, segment);
    c.sender.on_segment(now, segment);
    if c.sender.acked() > before {
        black_hole::on_progress(c, now, segment);
    }
    // RFC 9293 section 3.8.6.1: a closed window may stay closed "as long as the receiving TCP peer
    // continues to send acknowledgments in response to the probe segments". Once nobody is left
    // who could give up, that would be for ever.
    let s = c.sender.state();
    if s.snd_una > before || (s.window_edge <= s.snd_una && !c.closed) {
        c.progress = now;
    }
    if c.fin_acked() {
        match c.state {
            TcpState::FinWait1 => {
                c.state = TcpState::FinWait2;
                if c.closed {
                    c.wait_until = now + c.config.fin_wait_2;
                }
            }
            TcpState::Closing => time_wait(c, now),
            TcpState::LastAck => c.end(None),
            _ => {}
        }
    }
    true
}
