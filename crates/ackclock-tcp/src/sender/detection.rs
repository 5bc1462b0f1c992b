//! What is lost: detection is asked, and what it judges is marked on the scoreboard.

use super::machine::{Beyond, Sender, Urgent};
use super::one_timer;
use crate::event::{Cause, Event, EventKind};
use crate::recovery::detect::{Lost, Transmission};
use crate::recovery::retransmission::Tick;
use crate::scoreboard::{Judge, Record};
use crate::state::Phase;
use crate::summary::AckSummary;

/// What detection found.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    /// The first unacknowledged segment is lost, and retransmitted whatever the window says.
    pub head: bool,
    /// Segments are marked lost, for which a recovery may begin.
    pub any: bool,
    /// A retransmission is lost.
    pub retransmission: bool,
    /// Segments newly judged lost, those included whose retransmission is.
    pub segments: u32,
}

/// Asks detection on an ACK.
#[inline(always)]
pub(super) fn on_ack(c: &mut Sender, a: &mut AckSummary) -> Found {
    c.s.dupthresh = c.strategy.detect.dupthresh(&c.s, a);
    let lost = c.strategy.detect.on_ack(&c.s, a);
    if c.timers.serves_all {
        one_timer::wait_for_reordering(c);
    }
    if lost == Lost::Nothing {
        return Found::default();
    }
    let before = c.s.board.lost_bytes();
    let found = mark(c, lost);
    a.newly_lost = c.s.board.lost_bytes() - before;
    a.lost = found.segments;
    found
}

/// Marks what detection judged lost.
pub(super) fn mark(c: &mut Sender, lost: Lost) -> Found {
    match lost {
        Lost::Nothing => Found::default(),
        // The head is marked when recovery begins; a refusal must leave no trace.
        Lost::Head => Found { head: true, ..Found::default() },
        Lost::Below(edge) => {
            let segments = mark_below(c, edge);
            Found { any: is_unanswered(c), segments, ..Found::default() }
        }
        Lost::SentBefore(time, end) => {
            let (mut found, mut from) = (Found::default(), 0);
            let sent = (time, end.saturating_add(1));
            while let Some((index, &r)) = c.s.board.sent_before(sent, from) {
                // tcp_mark_skb_lost: a retransmission that an undo has left on its way stays so.
                let stays = r.retransmitted && !r.lost && !c.strategy.detect.judges_again();
                if stays {
                    c.s.board.mark_replaced(index);
                    report_lost(c, &r, Judge::Detect);
                } else {
                    lose(c, index, Judge::Detect);
                }
                c.s.board.mark_judged_by_time(index);
                set_back(c, r.seq);
                found.retransmission |= r.retransmitted && !stays;
                found.segments += 1;
                from = index + 1;
            }
            found.any = is_unanswered(c);
            found
        }
        Lost::Transmission { lost, again } => mark_transmission(c, lost, again),
        Lost::Standing => Found { any: true, ..Found::default() },
        Lost::Replace(t) => {
            if let Some((_, r)) = find(c, t)
                && u32::from(r.transmissions) == t.number
            {
                let replaces_lost = t.number > 1;
                let cause = if replaces_lost { Cause::Recovery } else { Cause::FastRetransmit };
                c.urgent = Some(Urgent { cause, replaces_lost, ..Urgent::fast_retransmit(t.seq) });
            }
            Found::default()
        }
    }
}

/// Whether the windows have not responded yet to what is marked lost. What was found lost above the
/// recovery point of an earlier recovery is a loss of the next window of data (RFC 5681 section
/// 4.3), also where that recovery has retransmitted it already. While a loss is being repaired, a
/// retransmission stands for its segment.
fn is_unanswered(c: &Sender) -> bool {
    let board = &c.s.board;
    match c.s.phase {
        Phase::Open => board.lost_bytes() > 0,
        // Here an ambiguity mechanism asks for more than that.
        Phase::Loss if c.wants.by_marks => board.lost_bytes() > 0,
        _ => board.head().is_some_and(|r| r.waits()),
    }
}

/// Every segment below `edge` that is not sacked.
fn mark_below(c: &mut Sender, edge: u64) -> u32 {
    let (events, s, on, by) = (&mut c.events, &mut c.s, c.config.events, c.strategy.detect.name());
    let (at, cwnd, ssthresh, snd_una, snd_nxt) = (s.now, s.cwnd, s.ssthresh, s.snd_una, s.snd_nxt);
    let (mut segments, rates) = (0, &mut c.rates);
    s.board.mark_lost_below(edge, |r| {
        segments += 1;
        if let Some(rates) = rates {
            rates.on_lost(r.seq, r.end());
        }
        if on {
            // The original is judged, also where it has been retransmitted already (rule 3 of RFC
            // 3517).
            let kind = EventKind::Lost { seq: r.seq, len: r.len, transmission: 1, by };
            events.push_back(Event { at, cwnd, ssthresh, snd_una, snd_nxt, kind });
        }
    });
    segments
}

/// The segment of a transmission, and where it stands in the scoreboard; `None` if it has arrived.
fn find(c: &Sender, t: Transmission) -> Option<(usize, Record)> {
    let index = c.s.board.find(t.seq);
    let &r = c.s.board.get(index)?;
    (r.seq == t.seq && !r.sacked).then_some((index, r))
}

/// One transmission of one segment, which may have been replaced since.
fn mark_transmission(c: &mut Sender, t: Transmission, again: bool) -> Found {
    let Some((index, r)) = find(c, t) else { return Found::default() };
    let Some(since) = u32::from(r.transmissions).checked_sub(t.number) else {
        return Found::default();
    };
    if since > 0 {
        c.s.board.mark_replaced(index);
        let by = c.strategy.detect.name();
        c.event(EventKind::Lost { seq: t.seq, len: r.len, transmission: t.number, by });
    } else if lose(c, index, Judge::Detect) {
        set_back(c, r.seq);
    } else {
        return Found::default();
    }
    if since == 0 && t.number > 1 && (again || index == 0) && c.s.phase == Phase::Recovery {
        replace_lost(c, index);
    }
    let segments = u32::from(since == 0);
    Found { head: index == 0 && since == 0, any: true, retransmission: again, segments }
}

/// The slow start after a timeout goes by position: it goes back to what is lost.
fn set_back(c: &mut Sender, seq: u64) {
    if c.s.phase == Phase::Loss && !c.wants.by_marks {
        c.s.snd_nxt = c.s.snd_nxt.min(seq);
    }
}

/// Marks segment `index` of the scoreboard lost, and reports it if that is news; whether it is.
pub(super) fn lose(c: &mut Sender, index: usize, judge: Judge) -> bool {
    let Some(&r) = c.s.board.get(index) else { return false };
    let news = c.s.board.mark_lost(index, judge);
    if news {
        report_lost(c, &r, judge);
    }
    news
}

/// The last transmission of a segment is judged lost.
fn report_lost(c: &mut Sender, r: &Record, judge: Judge) {
    if let Some(rates) = &mut c.rates {
        rates.on_lost(r.seq, r.end());
    }
    if c.config.events {
        let transmission = r.transmissions.into();
        let by = c.judged_by(judge).unwrap_or_default();
        c.event(EventKind::Lost { seq: r.seq, len: r.len, transmission, by });
    }
}

/// Within recovery: is a retransmission lost too?
pub(super) fn judge_retransmission(c: &mut Sender, a: &AckSummary, found: &mut Found) {
    let Some(retransmission) = &mut c.strategy.retransmission else { return };
    match retransmission.on_ack(&c.s, a) {
        Tick::Nothing => {}
        Tick::Lost => {
            lose(c, 0, Judge::Retransmission);
            (found.head, found.retransmission) = (true, true);
        }
        Tick::LostBefore(end) => {
            for index in 0..c.s.board.find(end) {
                let overtaken = |r: &Record| r.retransmitted && r.sent_before() < end;
                if c.s.board.get(index).is_some_and(overtaken)
                    && lose(c, index, Judge::Retransmission)
                {
                    found.head |= index == 0;
                    found.retransmission = true;
                }
            }
        }
        Tick::Mark => {
            c.beyond = Beyond::new(c.s.mss, Cause::Marker);
        }
        Tick::RoundTrip => {
            let cwnd = c.strategy.regulate.on_round_trip(&c.s);
            c.set_cwnd(cwnd);
        }
    }
}

/// A retransmission was lost within recovery: the response (RFC 5681 section 4.3), and if it was
/// that of the first unacknowledged segment, another one.
pub(super) fn lose_retransmission(c: &mut Sender, head: bool) {
    let windows = c.strategy.response.on_lost(&c.s, &mut *c.strategy.window);
    c.take(windows);
    if head {
        replace_lost(c, 0);
    }
}

/// Another retransmission of segment `index` goes out, whatever the window says.
fn replace_lost(c: &mut Sender, index: usize) {
    if let Some(r) = c.s.board.get(index) {
        let (seq, judge) = (r.seq, r.lost_by);
        c.urgent = Some(Urgent { seq, cause: Cause::Recovery, judge, replaces_lost: true });
    }
}
