//! What an ACK does: one pass that summarises it, then each axis in turn decides, and the connection acts.

use super::{Phase, Sender, told};
use crate::axes::{AckSummary, Lost, Tick, Told, Verdict};
use crate::event::{Cause, EventKind, SackRanges};
use crate::scoreboard::{Acked, Record};
use crate::segment::Segment;
use crate::time::{Span, Time};

pub(super) fn on_segment(c: &mut Sender, segment: &Segment) {
    c.stats.acks += 1;
    // RFC 9293 section 3.10.7.4: an ACK for something not yet sent is dropped; one below SND.UNA is a duplicate to ignore,
    // though its SACK blocks still say what has arrived.
    let Some(ack) = segment.ack.position(c.config.isn, c.s.snd_una) else { return };
    if ack > c.s.snd_max {
        return;
    }
    let mut a = AckSummary {
        ack,
        prior_dupacks: c.s.dupacks,
        prior_una: c.s.snd_una,
        prior_flight: c.s.flight(),
        ts_echo: segment.timestamps.filter(|_| c.config.timestamps).map(|t| t.ecr),
        ..AckSummary::default()
    };
    let flight = c.flight_size();
    let mut ranges = Ranges::default();
    apply(c, segment, &mut a, &mut ranges);
    let first_event = c.events.len();
    c.event(EventKind::Acked {
        ack,
        dupacks: c.s.dupacks,
        newly_acked: a.newly_acked,
        newly_sacked: a.newly_sacked,
        window_edge: c.s.window_edge,
        sack: ranges.ranges,
        sacks: ranges.count as u8,
        dsack: a.dsack.is_some(),
    });
    if a.newly_acked > 0 || a.duplicate || a.newly_sacked > 0 || a.dsack.is_some() {
        respond(c, &mut a);
    }
    let mut repaired = false;
    for probe in &mut c.strategy.probes {
        repaired |= probe.on_ack(&c.s, &a);
    }
    if repaired {
        respond_to_repaired(c, flight);
    }
    // The event of the ACK shows the windows that it left behind.
    if let Some(event) = c.events.get_mut(first_event) {
        event.cwnd = c.s.cwnd;
        event.ssthresh = c.s.ssthresh;
        event.snd_nxt = c.s.snd_nxt;
    }
    c.arm_persist();
}

/// The SACK blocks of an ACK as stream positions, those left out that say nothing about this connection.
#[derive(Default)]
struct Ranges {
    ranges: SackRanges,
    count: usize,
}

/// Applies the facts that the ACK carries and sums them up.
fn apply(c: &mut Sender, segment: &Segment, a: &mut AckSummary, ranges: &mut Ranges) {
    let (s, ack) = (&mut c.s, a.ack);
    let prior_edge = s.window_edge;
    // RFC 9293 section 3.10.7.4: an old segment does not set the window. One that acknowledges more than any before is not old,
    // whatever its sequence number; without that, a single forged one from far ahead would keep the window from moving.
    let newer = segment.seq.0.wrapping_sub(c.wl1.0) as i32 >= 0;
    if ack > s.snd_una || (ack == s.snd_una && newer) {
        c.wl1 = segment.seq;
        let window = u64::from(segment.wnd) << c.config.wscale.min(14);
        s.window_edge = ack + window;
        s.max_window = s.max_window.max(window);
    }
    let mut acked = Acked::default();
    if ack > s.snd_una {
        acked = s.board.ack_to(ack, |r| {
            if c.watched {
                c.strategy.detect.on_delivered(r, s.now);
            }
        });
        s.snd_una = ack;
        s.snd_nxt = s.snd_nxt.max(ack);
        if s.closed && ack == s.written {
            s.board.release();
        }
        a.newly_acked = acked.bytes;
        a.sacked_before = acked.sacked_before;
        a.retransmission_acked = acked.retransmission;
        a.last_sent = acked.last_sent;
    }
    if !segment.sack.is_empty() {
        read_sacks(c, segment, a, ranges);
    }
    a.unchanged = ack == a.prior_una && c.s.window_edge == prior_edge && segment.len == 0 && !segment.flags.fin;
    a.duplicate = if c.s.sack {
        // What a receiver sends for a segment out of order always has SACK news.
        a.newly_sacked > 0 && (a.newly_acked == 0 || c.strategy.detect.counts_advances())
    } else {
        a.unchanged && !c.s.board.is_empty()
    };
    if a.newly_acked > 0 {
        (c.s.dupacks, c.s.carried) = (0, 0);
        on_advance(c, a, acked);
    }
    if a.duplicate {
        c.s.dupacks += 1;
    }
}

/// An ACK advanced `snd_una`: samples the round trip and restarts the timer (RFC 6298 sections 3, 5.2 and 5.3).
fn on_advance(c: &mut Sender, a: &mut AckSummary, acked: Acked) {
    let echoed = match a.ts_echo {
        // RFC 7323 section 4.1: an echoed timestamp is unambiguous even for a retransmission. One from before the segment
        // was first sent (the clock ticks once a millisecond) is none of ours.
        Some(ecr) if acked.retransmission.is_some() => {
            let ms = c.s.now.timestamp().wrapping_sub(ecr);
            let sent = c.s.now.0.checked_sub(Span::from_millis(u64::from(ms)).0).map(Time);
            sent.filter(|&sent| acked.first_sent.is_some_and(|first| sent + Span::from_millis(1) > first))
        }
        // Karn's rule (RFC 6298 section 3).
        _ if acked.retransmission.is_some() => None,
        _ => acked.first_sent,
    };
    if let Some(sent) = echoed {
        let rtt = c.s.now.since(sent);
        a.rtt = Some(rtt);
        c.stats.rtt_samples += 1;
        c.stats.rtt_sum = c.stats.rtt_sum + rtt;
        if c.strategy.timer.on_sample(&c.s, sent) {
            c.take_estimates();
        }
    }
    if c.s.board.is_empty() {
        c.timers.rto_at = Time::NEVER;
    } else if c.s.phase != Phase::Recovery {
        // Within recovery, selection decides about partial ACKs.
        c.start_rto();
    }
}

/// Enters the SACK blocks into the scoreboard.
fn read_sacks(c: &mut Sender, segment: &Segment, a: &mut AckSummary, out: &mut Ranges) {
    let s = &mut c.s;
    let mut walked = SackRanges::default();
    for (i, block) in segment.sack.as_slice().iter().enumerate() {
        let (Some(left), Some(right)) =
            (block.left.position(c.config.isn, s.snd_una), block.right.position(c.config.isn, s.snd_una))
        else {
            continue;
        };
        // Empty, inverted or of data never sent: not a report of this connection.
        if left >= right || right > s.snd_max {
            continue;
        }
        out.ranges[out.count] = (left, right);
        out.count += 1;
        // RFC 2883 section 4: a D-SACK block stands first, and lies below the ACK or within the second block.
        if i == 0 {
            let second = segment.sack.as_slice().get(1);
            let within = second.is_some_and(|b| {
                let position = |q: crate::seq::Seq| q.position(c.config.isn, s.snd_una);
                position(b.left).is_some_and(|l| l <= left) && position(b.right).is_some_and(|r| right <= r)
            });
            if right <= a.ack || within {
                a.dsack = Some((left, right));
                continue;
            }
        }
        if s.sack {
            a.newly_sacked += s.board.sack(left, right, |r| {
                if c.watched {
                    c.strategy.detect.on_delivered(r, s.now);
                }
            });
            a.sacked_to = a.sacked_to.max(right);
            walked[i] = (left, right);
        }
    }
    if s.sack {
        s.board.remember(walked);
    }
}

/// The axes decide in turn: undo, detection, retransmission lost, then windows.
fn respond(c: &mut Sender, a: &mut AckSummary) {
    let settled = judge_undo(c, a);
    if a.newly_acked > 0 {
        c.strategy.ambiguity.on_advance(&c.s, a);
    }
    match c.s.phase {
        Phase::Open => {
            if a.newly_acked > 0 {
                on_advance_open(c, a, settled);
            }
            detect(c, a);
        }
        Phase::Recovery => {
            if c.strategy.select.ends(&c.s, a) {
                leave_recovery(c, a);
                // What was found lost above the recovery point may begin the next one at once.
                detect(c, a);
                told::on_leave(c, a);
            } else {
                let found = judge_loss(c, a);
                within_recovery(c, a, found);
            }
        }
        Phase::Loss => {
            if a.newly_acked > 0 {
                if c.s.snd_una >= c.s.recover {
                    c.s.phase = Phase::Open;
                    c.s.snd_nxt = c.s.snd_max;
                    c.event(EventKind::RecoveryLeft { by_timeout: false, cwnd_before: c.s.cwnd });
                }
                on_advance_open(c, a, settled);
            }
            detect(c, a);
        }
    }
}

/// The first verdict on a response counts. Returns whether cwnd is settled for this ACK.
fn judge_undo(c: &mut Sender, a: &AckSummary) -> bool {
    // What the network tells is lost is lost, and no timer would find it again.
    if c.told != Told::Never {
        return false;
    }
    for i in 0..c.strategy.undo.len() {
        let verdict = c.strategy.undo[i].on_ack(&c.s, a);
        let by = c.strategy.undo[i].name();
        let settled = c.undo(verdict, by, a);
        if !matches!(verdict, Verdict::Open | Verdict::Retime { .. }) {
            return settled;
        }
    }
    false
}

/// New data acknowledged outside recovery: the window grows, unless cwnd is settled.
fn on_advance_open(c: &mut Sender, a: &AckSummary, settled: bool) {
    if !settled {
        grow(c, a);
    }
    if !c.strategy.probes.is_empty() {
        let counted = c.strategy.probes.iter_mut().map(|p| p.on_advance(&c.s, a)).max().unwrap_or(0);
        c.s.dupacks += counted;
        // What cwnd has grown by is no longer sent beyond it.
        let beyond = c.s.flight().saturating_sub(c.s.cwnd);
        c.s.limited = if counted > 0 { c.s.limited.saturating_sub(a.newly_acked).min(beyond) } else { 0 };
    }
}

fn grow(c: &mut Sender, a: &AckSummary) {
    let cwnd = c.strategy.window.on_ack(&c.s, a).min(c.config.max_cwnd.unwrap_or(u64::MAX));
    c.set_cwnd(cwnd);
    if c.strategy.window.ends_slow_start(&c.s) {
        c.s.ssthresh = c.s.cwnd;
    }
}

pub(super) enum Detection<'a> {
    OnAck(&'a AckSummary),
    OnDeadline,
}

/// What detection found.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    /// The first unacknowledged segment is lost. Outside recovery it is the one sent first, so that nothing is lost
    /// before it.
    pub head: bool,
    /// A retransmission is lost.
    pub retransmission: bool,
}

/// Runs detection and marks what it judged lost.
pub(super) fn mark(c: &mut Sender, on: Detection<'_>) -> Found {
    let lost = match on {
        Detection::OnAck(a) => {
            c.s.dupthresh = c.strategy.detect.dupthresh(&c.s, a);
            c.strategy.detect.on_ack(&c.s, a)
        }
        Detection::OnDeadline => c.strategy.detect.on_deadline(&c.s),
    };
    match lost {
        Lost::Nothing => Found::default(),
        // The head is marked when recovery begins; a refusal must leave no trace.
        Lost::Head => Found { head: true, retransmission: false },
        Lost::Below(edge) => {
            let (events, s, on, by) = (&mut c.events, &mut c.s, c.config.events, c.strategy.detect.name());
            let (at, cwnd, ssthresh, snd_una, snd_nxt) = (s.now, s.cwnd, s.ssthresh, s.snd_una, s.snd_nxt);
            s.board.mark_lost_below(edge, |r| {
                if on {
                    // The original is judged, also where it has been sent again already (rule 3 of RFC 3517).
                    let kind = EventKind::Lost { seq: r.seq, len: r.len, transmission: 1, by };
                    events.push_back(crate::event::Event { at, cwnd, ssthresh, snd_una, snd_nxt, kind });
                }
            });
            // Section 5 step 2 of RFC 6675 asks IsLost (HighACK + 1), whatever an earlier recovery sent again; while a
            // loss is being repaired a retransmission stands for its segment.
            let head = c.s.board.head().is_some_and(|r| r.lost && !(r.retransmitted && c.s.recovering()));
            Found { head, retransmission: false }
        }
        Lost::SentBefore(time, end) => {
            let mut found = Found::default();
            for index in 0..c.s.board.len() {
                let Some(&r) = c.s.board.get(index) else { break };
                if r.first_sent > time {
                    break;
                }
                let before = r.last_sent < time || (r.last_sent == time && r.end() <= end);
                if before && lose(c, index, c.strategy.detect.name()) {
                    found.retransmission |= r.retransmitted;
                    // The slow start after a timeout goes by position.
                    if c.s.phase == Phase::Loss {
                        c.s.snd_nxt = c.s.snd_nxt.min(r.seq);
                    }
                }
            }
            found.head = c.s.board.head().is_some_and(|r| r.lost && !r.retransmitted);
            found
        }
    }
}

fn judge_loss(c: &mut Sender, a: &mut AckSummary) -> Found {
    let before = c.s.board.lost_bytes();
    let found = mark(c, Detection::OnAck(a));
    a.newly_lost = c.s.board.lost_bytes() - before;
    found
}

fn detect(c: &mut Sender, a: &mut AckSummary) {
    let found = judge_loss(c, a);
    if found.head && c.strategy.ambiguity.admits(&c.s, a) {
        enter_recovery(c, a, true);
    }
}

/// RFC 5681 section 3.2 steps 2 and 3, RFC 6582 section 3.2 step 2, RFC 6675 section 5 step 4. `head` tells whether the first
/// unacknowledged segment is what is lost.
pub(super) fn enter_recovery(c: &mut Sender, a: &AckSummary, head: bool) {
    let flight = c.flight_size();
    c.save(false);
    c.stats.recoveries += 1;
    c.s.recover = c.s.snd_max;
    c.s.ssthresh = c.strategy.window.on_loss(&c.s, flight);
    c.s.limited = 0;
    let by = c.strategy.detect.name();
    if head {
        lose(c, 0, by);
        c.urgent = Some((c.s.snd_una, Cause::FastRetransmit));
    }
    let pipe = c.s.board.pipe();
    if c.strategy.select.goes_back() {
        c.s.phase = Phase::Loss;
        c.s.snd_nxt = c.s.snd_una;
        c.s.board.mark_all_lost(Time::NEVER);
        let cwnd = c.strategy.window.on_go_back(&c.s);
        c.set_cwnd(cwnd);
    } else {
        c.s.phase = Phase::Recovery;
        c.strategy.select.on_enter(&c.s);
        let cwnd = c.strategy.regulate.on_enter(&c.s, a);
        c.set_cwnd(cwnd);
        if let Some(retransmission) = &mut c.strategy.retransmission {
            retransmission.on_enter(&c.s);
        }
        c.strategy.response.on_enter();
        if let Some(fill) = &mut c.strategy.fill {
            fill.on_enter(&c.s);
        }
    }
    // It takes the place of a probe.
    c.probe = 0;
    c.event(EventKind::RecoveryEntered { recover: c.s.recover, flight, pipe, by });
}

/// RFC 8985 section 7.4.2: "a congestion control response equivalent to a fast recovery", with nothing left to send again. What
/// is halved is what was outstanding when the ACK came.
fn respond_to_repaired(c: &mut Sender, flight: u64) {
    c.save(false);
    c.s.ssthresh = c.strategy.window.on_loss(&c.s, flight);
    c.set_cwnd(c.s.ssthresh);
}

fn within_recovery(c: &mut Sender, a: &mut AckSummary, mut found: Found) {
    let urgent = c.strategy.select.on_ack(&c.s, a);
    if urgent.restart_timer {
        c.start_rto();
    }
    if urgent.retransmit_head {
        lose(c, 0, "partial-ack");
        c.urgent = Some((c.s.snd_una, Cause::PartialAck));
    }
    judge_retransmission(c, a, &mut found);
    a.retransmission_lost = found.retransmission;
    if found.retransmission {
        lose_retransmission(c, found.head);
    }
    // A filler draws a duplicate as the retransmission does: both on one ACK would feed each other without end.
    c.may_fill = c.urgent.is_none();
    let cwnd = c.strategy.regulate.on_ack(&c.s, a);
    c.set_cwnd(cwnd);
    // A marked segment is there to draw an ACK where nothing else does.
    if c.urgent.is_some() || c.s.cwnd.saturating_sub(c.strategy.regulate.in_flight(&c.s)) >= c.s.mss {
        c.probe = 0;
    }
}

fn judge_retransmission(c: &mut Sender, a: &AckSummary, found: &mut Found) {
    let Some(retransmission) = &mut c.strategy.retransmission else { return };
    match retransmission.on_ack(&c.s, a) {
        Tick::Nothing => {}
        Tick::Lost => {
            let by = retransmission.name();
            lose(c, 0, by);
            (found.head, found.retransmission) = (true, true);
        }
        Tick::LostBefore(end) => {
            let by = retransmission.name();
            for index in 0..c.s.board.find(end) {
                let overtaken = |r: &Record| r.retransmitted && r.sent_before() < end;
                if c.s.board.get(index).is_some_and(overtaken) && lose(c, index, by) {
                    found.head |= index == 0;
                    found.retransmission = true;
                }
            }
        }
        Tick::Mark => c.probe = c.s.mss,
        Tick::RoundTrip => {
            let cwnd = c.strategy.regulate.on_round_trip(&c.s);
            c.set_cwnd(cwnd);
        }
    }
}

/// A retransmission was lost within recovery: the response (RFC 5681 section 4.3), and if it was that of the first
/// unacknowledged segment, another one whatever the window says.
pub(super) fn lose_retransmission(c: &mut Sender, head: bool) {
    let windows = c.strategy.response.on_lost(&c.s);
    c.s.ssthresh = windows.ssthresh;
    c.set_cwnd(windows.cwnd);
    if head {
        c.urgent = Some((c.s.snd_una, Cause::LostRetransmission));
    }
}

/// Marks segment `index` of the scoreboard lost, and tells of it if that is news; whether it is.
fn lose(c: &mut Sender, index: usize, by: &'static str) -> bool {
    let Some(&r) = c.s.board.get(index) else { return false };
    let news = c.s.board.mark_lost(index);
    if news {
        c.event(EventKind::Lost { seq: r.seq, len: r.len, transmission: r.transmissions.into(), by });
    }
    news
}

fn leave_recovery(c: &mut Sender, a: &AckSummary) {
    let cwnd_before = c.s.cwnd;
    let cwnd = c.strategy.regulate.on_exit(&c.s, a);
    let cwnd = c.strategy.response.on_exit(&c.s, cwnd);
    c.set_cwnd(cwnd);
    // A recovery that began after a timeout may leave data still to be sent again.
    c.s.phase = if c.s.snd_nxt < c.s.snd_max { Phase::Loss } else { Phase::Open };
    c.urgent = None;
    c.s.limited = 0;
    let counted = c.strategy.probes.iter_mut().map(|p| p.on_exit(&c.s, a)).max().unwrap_or(0);
    // The counter is set, not raised: with SACK the ACK that ends recovery may be a duplicate in itself.
    if counted > c.s.dupacks {
        c.s.carried = counted - c.s.dupacks;
        c.s.dupacks = counted;
        c.probe = c.s.mss;
    }
    if !c.s.board.is_empty() {
        c.start_rto();
    }
    c.event(EventKind::RecoveryLeft { by_timeout: false, cwnd_before });
}
