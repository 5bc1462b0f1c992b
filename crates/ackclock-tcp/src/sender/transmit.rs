//! What is sent next: the urgent retransmission, then what the phase of recovery allows.

use super::emit::{Sent, Why, counted, on_transmit, retransmit, send_new, window_probe};
use super::machine::{Beyond, Sender, Turn};
use super::{one_timer, pacing};
use crate::event::{Cause, EventKind};
use crate::recovery::fill::Filler;
use crate::recovery::select::Next;
use crate::scoreboard::{Judge, Record};
use crate::state::Phase;

pub(super) fn poll(c: &mut Sender) -> Option<Sent> {
    one_timer::settle(c);
    if c.wants.asks {
        return poll_asking(c);
    }
    next_or_none(c)
}

/// What comes next. Where regulation or segmentation limits what an input releases, it releases
/// nothing later once nothing more may go.
#[inline(always)]
fn next_or_none(c: &mut Sender) -> Option<Sent> {
    let sent = next(c);
    if sent.is_none() && (c.wants.limits || c.wants.segments) {
        c.burst = 0;
    }
    sent
}

/// Pacing may hold back what comes next, and the window law measures what is sent.
fn poll_asking(c: &mut Sender) -> Option<Sent> {
    let sent = if c.wants.paces && pacing::holds(c) { None } else { next_or_none(c) };
    if c.wants.paces
        && sent.is_none()
        && let Some(pacing) = &mut c.strategy.pacing
    {
        pacing.on_drained();
    }
    // An application that writes much sends while it does.
    if c.wants.measures && (sent.is_none() || c.writing) {
        let in_flight = c.in_flight();
        validate(c, in_flight);
    }
    sent
}

/// The window law is asked whether cwnd is in use (`tcp_write_xmit`), with so many bytes in flight.
pub(super) fn validate(c: &mut Sender, mut in_flight: u64) {
    // What segmentation holds back would have gone.
    if c.wants.segments && c.strategy.segmentation.as_ref().is_some_and(|s| s.held()) {
        in_flight = in_flight.max(c.s.cwnd);
    }
    // No tcp_write_xmit follows what tcp_retransmit_timer, tcp_rack_reo_timeout and
    // tcp_simple_retransmit send.
    let waits = !c.no_xmit && in_flight >= c.s.cwnd && c.s.written > c.s.snd_max;
    if !core::mem::take(&mut c.sent_new) && !waits {
        return;
    }
    let rto = c.timers.rto();
    if let Some(windows) = c.strategy.window.on_sent(&c.s, in_flight, rto) {
        c.s.ssthresh = windows.ssthresh;
        c.set_cwnd(windows.cwnd);
    }
}

#[inline(always)]
fn next(c: &mut Sender) -> Option<Sent> {
    if c.window_probe {
        return window_probe(c);
    }
    if c.urgent.is_some()
        && let Some(urgent) = c.urgent.take()
        && !c.s.board.is_empty()
    {
        let index = c.s.board.find(urgent.seq);
        // What is not marked lost still counts itself.
        let counts = c.s.board.get(index).is_some_and(|r| r.lost);
        let why = Why { judge: urgent.judge, replaces_lost: urgent.replaces_lost };
        return retransmit(c, index, urgent.cause, why, counts);
    }
    if c.beyond.bytes > 0
        && let Some(sent) = beyond(c)
    {
        // The two of F-RTO go out whatever the limit, but leave no room for more.
        c.burst = c.burst.saturating_sub(1);
        return Some(sent);
    }
    if c.one.is_some()
        && let Some(room) = c.one.take()
        && let Some(sent) = one(c, room)
    {
        return Some(sent);
    }
    match c.burst {
        0 => None,
        u32::MAX => by_phase(c),
        _ => within_burst(c),
    }
}

/// What the input at hand may still release is limited.
#[inline(never)]
fn within_burst(c: &mut Sender) -> Option<Sent> {
    let sent = by_phase(c);
    if sent.is_some() {
        c.burst -= 1;
    }
    sent
}

/// What the phase of recovery allows.
#[inline(always)]
fn by_phase(c: &mut Sender) -> Option<Sent> {
    match c.s.phase {
        Phase::Open => open(c),
        Phase::Recovery => recovery(c),
        Phase::Loss if c.wants.by_marks => recovery(c),
        Phase::Loss => loss(c),
    }
}

/// What a mechanism wants sent at once, whatever cwnd says: new data, or else the last segment.
fn beyond(c: &mut Sender) -> Option<Sent> {
    let beyond = core::mem::replace(&mut c.beyond, Beyond::NONE);
    let Beyond { bytes, cause, or_last, counts } = beyond;
    if or_last && let Some(buffers) = &mut c.s.buffers {
        // tcp_write_xmit: a probe has room.
        buffers.grow(c.s.snd_max, c.s.mss);
    }
    // Nagle's algorithm does not hold a probe back.
    let len = if or_last { c.s.unsent_len() } else { c.s.new_len() };
    if c.s.snd_nxt == c.s.snd_max
        && let Some(len) = len
    {
        // A short one counts as one, too: two of F-RTO are two.
        c.beyond = Beyond::new(bytes.saturating_sub(c.s.mss), cause);
        return Some(send_new(c, len, cause));
    }
    let index = c.s.board.len().checked_sub(1).filter(|_| or_last)?;
    retransmit(c, index, cause, Why::default(), counts)
}

/// What comes next in sequence, with so many bytes of room beyond cwnd.
fn one(c: &mut Sender, room: u64) -> Option<Sent> {
    if c.uses_sacks_after_timeout() {
        skip(c, |r| r.sacked || r.retransmitted || !r.lost);
    }
    let after = c.s.snd_nxt - c.s.snd_una + u64::from(c.s.sequential_len()?);
    if c.s.phase == Phase::Recovery || after > c.s.cwnd.saturating_add(room) {
        return None;
    }
    if c.s.snd_nxt < c.s.snd_max || after <= c.s.cwnd {
        return sequential(c);
    }
    let len = c.s.sequential_len()?;
    c.s.limited += u64::from(len);
    Some(send_new(c, len, Cause::LimitedTransmit))
}

/// Outside recovery: what cwnd allows, and what a probe allows beyond it.
fn open(c: &mut Sender) -> Option<Sent> {
    // The usual answer, and the cheapest: there is a full segment to send, and cwnd has no room for
    // it.
    if c.wants.everywhere || c.s.cwr {
        return open_by_flight(c);
    }
    let end = c.s.snd_nxt + c.s.mss;
    let full = end <= c.s.written && end <= c.s.window_edge;
    if full && end - c.s.snd_una > c.s.cwnd && c.s.dupacks == 0 && !c.s.board.is_empty() {
        return None;
    }
    let new = full && c.s.snd_nxt == c.s.snd_max;
    let len = if new && !c.wants.segments { c.s.mss as u32 } else { sequential_len(c)? };
    let after = c.s.snd_nxt - c.s.snd_una + u64::from(len);
    if after <= c.s.cwnd {
        return Some(send_new(c, len, Cause::New));
    }
    // RFC 9293 section 3.8.6.2.1: cwnd smaller than a segment must not stop a connection for good.
    if c.s.board.is_empty() {
        return Some(send_new(c, len, Cause::New));
    }
    let allowance = c.allowance(false);
    if after <= c.s.cwnd.saturating_add(allowance) {
        c.s.limited += u64::from(len);
        return Some(send_new(c, len, Cause::LimitedTransmit));
    }
    None
}

/// The same where cwnd counts what is in flight: what SACK blocks report has made room.
fn open_by_flight(c: &mut Sender) -> Option<Sent> {
    let full = c.in_flight() + c.s.mss > c.s.cwnd && !c.s.board.is_empty();
    if full || c.turn == Turn::LostOnly {
        return None;
    }
    let len = sequential_len(c)?;
    let cause = by_room(c, len);
    Some(send_new(c, len, cause))
}

/// Why new data of this length goes for which there is room in flight: what SACK blocks report may
/// have made the room. FlightSize leaves that out (RFC 5681 section 3.2 step 2).
fn by_room(c: &mut Sender, len: u32) -> Cause {
    // A FIN on a full segment takes no room.
    let len = u64::from(len).min(c.s.mss);
    if c.s.flight() + len <= c.s.cwnd || c.s.board.is_empty() {
        return Cause::New;
    }
    c.s.limited += len;
    c.calm = false;
    Cause::LimitedTransmit
}

fn recovery(c: &mut Sender) -> Option<Sent> {
    let in_flight = c.regulated();
    // RFC 6675 section 5 step C: "If cwnd - pipe >= 1 SMSS".
    let room = c.s.cwnd.saturating_sub(in_flight) >= c.s.mss;
    // RFC 9293 section 3.8.6.2.1, as outside of recovery.
    if !room && !c.s.board.is_empty() {
        return None;
    }
    skip(c, |r| r.sacked);
    if matches!(c.turn, Turn::NewFirst | Turn::NewOnly) {
        if c.s.snd_nxt == c.s.snd_max
            && let Some(len) = new_in_turn(c)
        {
            let f_rto = c.s.phase == Phase::Loss;
            let cause = if f_rto { Cause::FRto } else { Cause::New };
            c.turn = Turn::NewOnly;
            return Some(send_new(c, len, cause));
        }
        if c.turn == Turn::NewOnly {
            return None;
        }
        c.turn = Turn::Any;
    }
    if c.turn == Turn::NothingAgain {
        return if c.s.snd_nxt == c.s.snd_max { sequential(c) } else { None };
    }
    // Not every selection would name the first unacknowledged segment again.
    let next = match c.s.board.head() {
        Some(r) if r.is_lost_again() && !c.wants.by_marks => {
            Some(Next::Retransmit { index: 0, counts: true })
        }
        _ => c.strategy.select.next(&c.s),
    };
    match next {
        Some(Next::Retransmit { index, counts }) => {
            let r = c.s.board.get(index)?;
            // Lost, retransmitted, and not on its way any more: that retransmission was lost too.
            let replaces_lost = counts && r.waits() && r.transmissions > 1;
            let judge = if r.lost { r.lost_by } else { Judge::Select };
            let why = Why { judge, replaces_lost };
            // Also beyond a window that has shrunk since (RFC 9293 section 3.8.6, MAY-7), unless
            // selection refits: it will not name it again.
            let cause = match c.s.phase {
                Phase::Loss => Cause::SlowStart,
                _ if core::mem::take(&mut c.first_waits) => Cause::FastRetransmit,
                _ => Cause::Recovery,
            };
            retransmit(c, index, cause, why, counts)
        }
        _ if c.turn == Turn::LostOnly => None,
        Some(Next::Sequential) => sequential(c).or_else(|| fill(c)),
        // The rest of a bundle may be too short for selection.
        None if c.wants.segments && c.s.snd_nxt == c.s.snd_max => sequential(c).or_else(|| fill(c)),
        None => fill(c),
    }
}

/// Bytes of the next segment of new data, where it goes before what is lost. After a timeout
/// Nagle's algorithm is off then (`tcp_xmit_recovery`).
fn new_in_turn(c: &mut Sender) -> Option<u32> {
    match c.s.phase {
        Phase::Loss if !c.wants.segments => c.s.unsent_len(),
        _ => new_len(c),
    }
}

/// Within recovery, what goes where there is no data to send.
fn fill(c: &mut Sender) -> Option<Sent> {
    let may_fill = core::mem::take(&mut c.may_fill);
    match c.strategy.fill.as_mut().filter(|_| may_fill)?.next(&c.s)? {
        Filler::Retransmit { index } => {
            c.s.board.get(index)?;
            retransmit(c, index, Cause::Filler, Why::default(), false)
        }
        Filler::HeaderOnly { position } => {
            on_transmit(c, Cause::Filler, 0);
            c.event(EventKind::Sent {
                seq: position,
                len: 0,
                cause: Cause::Filler,
                transmission: 0,
                detected_by: None,
            });
            Some(Sent::empty(c, position, Cause::Filler))
        }
    }
}

/// After a timeout: from `snd_nxt` on, without what is known to have arrived or to be on its way.
fn loss(c: &mut Sender) -> Option<Sent> {
    if c.uses_sacks_after_timeout() {
        skip(c, |r| r.sacked || r.retransmitted || !r.lost);
    }
    let len = c.s.sequential_len()?;
    let in_flight = c.flight_of_loss();
    // As above, cwnd smaller than a segment must not stop a connection.
    if in_flight > 0 && in_flight + u64::from(len) > c.s.cwnd {
        // The pipe leaves SACKed data out already, so that with SACK there is nothing more to
        // allow.
        let old = c.s.snd_nxt < c.s.snd_max;
        let allowance = if c.s.sack { 0 } else { c.allowance(old) };
        if allowance == 0 || in_flight + u64::from(len) > c.s.cwnd.saturating_add(allowance) {
            return None;
        }
        if old {
            return sequential(c);
        }
        c.s.limited += u64::from(len);
        return Some(send_new(c, len, Cause::LimitedTransmit));
    }
    sequential(c)
}

/// Moves `snd_nxt`, where it was set back, over what is not to be retransmitted.
fn skip(c: &mut Sender, skipped: impl Fn(&Record) -> bool) {
    while c.s.snd_nxt < c.s.snd_max {
        match c.s.board.get(c.s.board.find(c.s.snd_nxt)) {
            Some(r) if skipped(r) => c.s.snd_nxt = r.end(),
            _ => break,
        }
    }
}

/// The segment at `snd_nxt`: new data, or old data where `snd_nxt` was set back.
fn sequential(c: &mut Sender) -> Option<Sent> {
    if c.s.snd_nxt < c.s.snd_max {
        let index = c.s.board.find(c.s.snd_nxt);
        return retransmit(c, index, Cause::SlowStart, Why::default(), true);
    }
    let len = new_len(c)?;
    Some(send_new(c, len, Cause::New))
}

/// Bytes of the next segment of new data, if segmentation lets it leave.
fn new_len(c: &mut Sender) -> Option<u32> {
    let in_flight = if c.wants.segments { counted(c) } else { 0 };
    match &mut c.strategy.segmentation {
        None => c.s.new_len(),
        // Whatever a mechanism answers, no more goes than a segment, or than there is.
        Some(segmentation) => {
            let len = segmentation.next(&c.s, in_flight)?;
            let s = &c.s;
            let rest = s.written.min(s.window_edge).saturating_sub(s.snd_nxt);
            let rest = rest.min(s.most_from(s.snd_nxt)) as u32;
            Some(len.min(rest)).filter(|len| *len > 0)
        }
    }
}

/// Bytes of the segment that comes next in sequence; new data only if segmentation lets it leave.
fn sequential_len(c: &mut Sender) -> Option<u32> {
    if c.s.snd_nxt < c.s.snd_max { c.s.sequential_len() } else { new_len(c) }
}
