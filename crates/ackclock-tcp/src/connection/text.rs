//! Segment text and FIN: the seventh and eighth step of RFC 9293 section 3.10.7.4.

use super::{CloseReason, Connection, Placement, TcpState};
use crate::segment::{Codepoint, Flags, Segment};
use crate::time::Time;

/// SEG.LEN.
pub(super) fn segment_len(segment: &Segment) -> u32 {
    segment.len.saturating_add(u32::from(segment.flags.fin()))
}

pub(super) fn time_wait(c: &mut Connection, now: Time) {
    c.state = TcpState::TimeWait;
    c.wait_until = now + c.config.time_wait;
}

/// Seventh and eighth: text and FIN.
pub(super) fn on_text(c: &mut Connection, now: Time, mut segment: Segment) -> Option<Placement> {
    use TcpState::*;
    let (rcv_nxt, edge) = (c.receiver.rcv_nxt(), c.receiver.window_edge());
    let Some(left) = rcv_nxt.checked_add_signed(c.ahead(segment.seq)) else {
        c.receiver.ack_now();
        return None;
    };
    if segment_len(&segment) == 0 {
        if left < edge || left == rcv_nxt {
            c.receiver.on_segment(now, &segment);
        }
        return None;
    }
    if !matches!(c.state, Established | FinWait1 | FinWait2) {
        return None;
    }
    let mut end = left + u64::from(segment.len);
    if segment.flags.fin() && end < edge {
        c.peer_fin.get_or_insert(end);
    }
    // The first FIN is where the stream ends.
    if let Some(fin) = c.peer_fin {
        segment.flags = Flags::new(segment.flags.psh(), segment.flags.fin() && end == fin);
        end = end.min(fin);
    }
    if c.closed && end > rcv_nxt && end > left {
        c.send_reset(now);
        c.end(Some(CloseReason::Aborted));
        return None;
    }
    segment.len = end.saturating_sub(left) as u32;
    segment.len = segment_len(&segment);
    c.marks += u64::from(c.negotiated.ecn && segment.ecn.codepoint() == Codepoint::Ce);
    c.receiver.on_segment(now, &segment);
    if c.fin_received() {
        match c.state {
            Established => c.state = CloseWait,
            FinWait1 => c.state = Closing,
            FinWait2 => time_wait(c, now),
            _ => {}
        }
    }
    let (position, end) = (left.max(rcv_nxt), end.min(edge));
    (end > position).then(|| Placement {
        position,
        offset: (position - left) as u32,
        len: (end - position) as u32,
    })
}
