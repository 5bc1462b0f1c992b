//! What an ACK says: its acknowledgment number, window and SACK blocks are applied to the state and
//! the scoreboard, and summed up once.

use super::machine::Sender;
use super::mss;
use crate::event::SackRanges;
use crate::scoreboard::{Acked, Record, Scoreboard};
use crate::segment::{SackBlock, Segment, Timestamps};
use crate::seq::Seq;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// The SACK blocks of an ACK as stream positions, without those that say nothing about this
/// connection.
#[derive(Default)]
pub(super) struct Ranges {
    pub ranges: SackRanges,
    pub count: usize,
    /// The first of them is a D-SACK (RFC 2883).
    pub dsack: bool,
}

/// Applies the facts that the ACK carries and sums them up.
pub(super) fn apply(c: &mut Sender, segment: &Segment, a: &mut AckSummary, ranges: &mut Ranges) {
    let ack = a.ack;
    let prior_edge = c.s.window_edge;
    a.moved = moves(c, segment, ack) || segment.wnd == 0;
    if a.moved || !narrows(c, segment, ack) {
        take_window(c, segment, ack);
    }
    if !segment.sack.is_empty() {
        read_blocks(c, segment, ack, ranges);
        if ranges.dsack {
            note_dsack(c, ranges.ranges[0], a);
        }
    }
    let (mut acked, mut reported) = (Acked::default(), Reported::default());
    if ack > c.s.snd_una {
        acked = advance(c, a, &mut reported);
    }
    a.delivered += a.dsack_segments;
    if ranges.count > 0 && c.s.sack {
        let before = c.s.board.sacked_segments();
        let mut sacked = Reported::default();
        enter_sacks(c, a, ranges, &mut sacked);
        a.delivered += c.s.board.sacked_segments() - before;
        reported.sacked = sacked.first;
        reported.last = sacked.last.or(reported.last);
    }
    a.unchanged = ack == a.prior_una
        && c.s.window_edge == prior_edge
        && segment.len == 0
        && !segment.flags.fin();
    a.duplicate = if c.s.sack {
        // What a receiver sends for a segment out of order always has SACK news.
        a.newly_sacked > 0 && (a.newly_acked == 0 || c.strategy.detect.counts_advances())
    } else {
        a.unchanged && !c.s.board.is_empty()
    };
    if a.newly_acked > 0 {
        (c.s.dupacks, c.s.assumed_dupacks) = (0, 0);
        time_acked(c, a, &acked, &reported);
    } else if reported.sacked.is_some() && c.wants.samples_sacks && ack == a.prior_una {
        time_sacked(c, a, &acked, &reported);
    }
    if a.duplicate {
        c.s.dupacks += 1;
    }
}

/// Takes off the scoreboard what the ACK newly acknowledges.
#[inline(always)]
fn advance(c: &mut Sender, a: &mut AckSummary, reported: &mut Reported) -> Acked {
    let s = &mut c.s;
    let acked = s.board.ack_to(a.ack, |r| {
        if c.wants.observed {
            reported.note(r, c.wants.takes_forgotten, &mut a.original);
        }
        if c.wants.deliveries {
            c.strategy.detect.on_delivered(r, s.now);
        }
        if let Some(rates) = &mut c.rates {
            rates.on_delivered(r);
        }
    });
    (s.snd_una, s.advanced) = (a.ack, s.now);
    s.snd_nxt = s.snd_nxt.max(a.ack);
    if s.closed && a.ack == s.written {
        s.board.release();
    }
    a.newly_acked = acked.bytes;
    a.delivered = acked.segments;
    a.sacked_before = acked.sacked_before;
    a.retransmission_acked = acked.retransmission;
    (a.last_sent, a.cut) = (acked.last_sent, acked.cut);
    acked
}

/// Takes a round-trip sample of what was newly acknowledged, and restarts the retransmission timer.
#[inline(always)]
fn time_acked(c: &mut Sender, a: &mut AckSummary, acked: &Acked, reported: &Reported) {
    let sample =
        if c.wants.samples_sacks { reported.sample(c, a, acked) } else { sample(c, a, acked) };
    take(c, a, sample);
    // Linux's tcp_clean_rtx_queue: no part of a segment sets the timer (FLAG_SET_XMIT_TIMER).
    if a.acks_a_segment() || !c.wants.samples_sacks {
        restart(c);
    }
}

/// The same where the ACK only reports by SACK; no ACK does that others have overtaken. The timer
/// starts anew only if what was SACKed was sent before the head was last sent. Otherwise a timeout
/// could be put off for ever.
#[inline(always)]
fn time_sacked(c: &mut Sender, a: &mut AckSummary, acked: &Acked, reported: &Reported) {
    let sample = reported.sample(c, a, acked);
    take(c, a, sample);
    if c.s.board.head().is_some_and(|head| sample < Some(head.last_sent)) {
        c.restart_rto();
    }
}

/// To Linux no duplicate makes the window smaller, unless it closes it (`tcp_may_update_window`).
fn narrows(c: &Sender, segment: &Segment, ack: u64) -> bool {
    let window = u64::from(segment.wnd) << c.config.wscale;
    let bare = segment.len == 0 && !segment.flags.fin();
    c.wants.by_marks && bare && ack == c.s.snd_una && ack + window < c.s.window_edge
}

/// The sequence number is a new one ([`AckSummary::moved`]). What carries data that sets SND.WL1
/// lies below the next ACK without.
pub(super) fn moves(c: &mut Sender, segment: &Segment, ack: u64) -> bool {
    if segment.len > 0 || segment.flags.fin() {
        c.moved |= segment.seq.ahead_of(c.wl1) > 0 || ack > c.s.snd_una;
        return false;
    }
    let moves = c.moved && ack >= c.s.snd_una && segment.seq.ahead_of(c.wl1) > 0;
    c.moved &= !moves;
    moves
}

/// A D-SACK reports this range.
#[cold]
fn note_dsack(c: &mut Sender, (left, right): (u64, u64), a: &mut AckSummary) {
    a.dsack = Some((left, right));
    // `total_retrans` counts SYNs, too, and also where they were spurious.
    let syns = if c.wants.by_marks { c.config.syn_retransmissions } else { 0 };
    let retransmissions = c.stats.retransmissions + u64::from(syns);
    a.dsack_segments = duplicates(&mut c.dsacked, retransmissions, right - left, &c.s);
    if c.wants.observed {
        (a.dsack_again, a.dsack_late) = again_within(&c.s.board, (left, right));
    }
}

/// RFC 9293 section 3.10.7.4: the window that a segment offers counts unless the segment is old.
/// One that acknowledges more than any before is not old, whatever its sequence number; without
/// that, a single forged one from far ahead would keep the window from moving.
#[inline(always)]
pub(super) fn take_window(c: &mut Sender, segment: &Segment, ack: u64) {
    let s = &mut c.s;
    let newer = segment.seq.ahead_of(c.wl1) >= 0;
    if ack > s.snd_una || (ack == s.snd_una && newer) {
        // An empty segment may lie beyond all that the peer will ever send (Lin & Kung section
        // 6.5). Then no later window would be taken.
        if segment.len > 0 {
            c.wl1 = segment.seq;
        }
        let window = u64::from(segment.wnd) << c.config.wscale;
        s.window_edge = ack + window;
        if window > s.max_window {
            s.max_window = window;
            if s.mss < u64::from(c.config.mss) {
                mss::follow_window(c);
            }
        }
    }
}

/// Send times of segments that an ACK reports for the first time and that were sent once.
#[derive(Clone, Copy, Default)]
struct Reported {
    first: Option<Time>,
    last: Option<Time>,
    /// The first of those that SACK blocks report.
    sacked: Option<Time>,
}

impl Reported {
    fn note(&mut self, r: &Record, takes_forgotten: bool, original: &mut Option<(u64, u64)>) {
        if r.transmissions == 1 {
            self.first.get_or_insert(r.last_sent);
            self.last = Some(r.last_sent);
            let counts = !r.forgotten || takes_forgotten;
            if counts && original.is_none_or(|(seq, _)| r.seq < seq) {
                *original = Some((r.seq, r.end()));
            }
        }
    }

    /// When the segment was sent that gives the sample, as Linux chooses it (`tcp_ack_update_rtt`):
    /// the first that is acknowledged and was not SACKed before, unless a retransmission is
    /// acknowledged too; else the first SACKed one; else the one of the timestamp, if a segment is
    /// acknowledged in full (`FLAG_ACKED`).
    fn sample(&self, c: &Sender, a: &mut AckSummary, acked: &Acked) -> Option<Time> {
        let clean = self.first.filter(|_| acked.retransmission.is_none());
        let by_time = clean.or(self.sacked);
        let latest = if clean.is_some() || self.sacked.is_some() { self.last } else { None };
        let echo = a.rcv_tsecr().filter(|_| a.acks_a_segment());
        let sent = by_time.or_else(|| echoed(c.s.now, echo?));
        a.rtt_latest = latest.or(sent).map(|sent| c.s.now.since(sent));
        sent
    }
}

/// An ACK advanced `snd_una`: when the segment was sent that gives a sample (RFC 6298 section 3).
fn sample(c: &Sender, a: &mut AckSummary, acked: &Acked) -> Option<Time> {
    let sent = match a.ts_echo {
        // RFC 6298 section 3: an echoed timestamp is unambiguous even for a retransmission. One
        // from before the segment was first sent (the clock ticks once a millisecond) is none of
        // ours.
        Some(ecr) if acked.retransmission.is_some() => echoed(c.s.now, ecr).filter(|&sent| {
            acked.first_sent.is_some_and(|first| sent + Span::from_millis(1) > first)
        }),
        // Karn's rule (RFC 6298 section 3).
        _ if acked.retransmission.is_some() => None,
        _ => acked.first_sent,
    };
    a.rtt_latest = sent.map(|sent| c.s.now.since(sent));
    sent
}

/// When the segment was sent whose timestamp is echoed now. The clock ticks once a millisecond: no
/// round trip is shorter than what it can tell (Linux `tcp_rtt_tsopt_us`).
fn echoed(now: Time, ecr: u32) -> Option<Time> {
    let ms = Timestamps::ticks_since(ecr, now.timestamp()).max(1);
    now.0.checked_sub(Span::from_millis(u64::from(ms)).0).map(Time)
}

#[inline(always)]
pub(super) fn take(c: &mut Sender, a: &mut AckSummary, sent: Option<Time>) {
    if let Some(sent) = sent {
        let rtt = c.s.now.since(sent);
        a.rtt = Some(rtt);
        c.stats.rtt_samples += 1;
        c.stats.rtt_sum = c.stats.rtt_sum + rtt;
        c.stats.round_trip(rtt);
        if let Some(estimates) = c.strategy.timer.on_sample(&c.s, sent) {
            c.take_estimates(estimates);
        }
    }
}

/// RFC 6298 sections 5.2 and 5.3.
#[inline(always)]
pub(super) fn restart(c: &mut Sender) {
    if c.s.board.is_empty() {
        c.timers.rto_at = Time::NEVER;
    } else if c.timers.serves_all || c.s.phase != Phase::Recovery {
        // Within recovery, selection decides about partial ACKs; but one timer for all is set once
        // the ACK has been dealt with.
        c.restart_rto();
    }
}

/// Reads the SACK blocks, relative to what was acknowledged before this ACK.
fn read_blocks(c: &Sender, segment: &Segment, ack: u64, out: &mut Ranges) {
    let range = |b: &SackBlock| {
        let position = |q: Seq| q.position(c.config.isn, c.s.snd_una);
        Some((position(b.left)?, position(b.right)?))
    };
    let blocks = segment.sack.as_slice();
    for (i, block) in blocks.iter().enumerate() {
        // Empty, inverted or of data never sent: not a report of this connection.
        let Some((left, right)) = range(block).filter(|&(l, r)| l < r && r <= c.s.snd_max) else {
            continue;
        };
        // RFC 2883 section 4: a D-SACK block stands first, and lies below the ACK or within the
        // second block.
        if i == 0 {
            let second = blocks.get(1).and_then(range);
            out.dsack = right <= ack || second.is_some_and(|(l, r)| l <= left && right <= r);
        }
        out.ranges[out.count] = (left, right);
        out.count += 1;
    }
}

/// Enters the SACK blocks into the scoreboard.
fn enter_sacks(c: &mut Sender, a: &mut AckSummary, blocks: &Ranges, reported: &mut Reported) {
    let s = &mut c.s;
    let mut ranges = blocks.ranges;
    if blocks.dsack {
        ranges[0] = (0, 0);
    }
    for block in ranges.iter_mut().take(blocks.count) {
        // tcp_is_sackblock_valid: to Linux one that holds the first byte makes no sense.
        if c.wants.by_marks && block.0 <= s.snd_una {
            *block = (0, 0);
        }
    }
    let apart = c.wants.by_marks && (s.board.sacked_segments() > 0 || a.sacked_before > 0);
    for &(left, right) in ranges.iter().take(blocks.count) {
        let report = |r: &Record| {
            if c.wants.observed {
                reported.note(r, c.wants.takes_forgotten, &mut a.original);
            }
            if c.wants.deliveries {
                c.strategy.detect.on_delivered(r, s.now);
            }
            if let Some(rates) = &mut c.rates {
                rates.on_delivered(r);
            }
        };
        a.newly_sacked += match apart {
            true => s.board.sack_apart(left, right, report),
            false => s.board.sack(left, right, report),
        };
        a.sacked_to = a.sacked_to.max(right);
    }
    s.board.remember(ranges);
}

/// How many outstanding segments within a range have been retransmitted, and where the first of
/// them that was SACKed begins. Asked before anything is taken off the scoreboard, since a D-SACK
/// may report what the ACK acknowledges.
fn again_within(board: &Scoreboard, (left, right): (u64, u64)) -> (u32, Option<u64>) {
    let (mut segments, mut late) = (0, None);
    let (mut run_end, mut run_again) = (0, false);
    for index in board.find(left).. {
        let Some(r) = board.get(index).filter(|r| r.end() <= right) else { break };
        if r.seq < left {
            continue;
        }
        if r.sacked && index >= run_end {
            (run_end, run_again) = sacked_run(board, index);
        }
        if r.transmissions > 1 || (r.sacked && run_again) {
            segments += 1;
            late = late.or(r.sacked.then_some(r.seq));
        }
    }
    (segments, late)
}

/// Where the run of SACKed segments with this one ends, and whether Linux takes all of them as
/// retransmitted: it joins each with the one before if that is as long, and what it knows of both
/// (`tcp_shift_skb_data`, `tcp_shifted_skb`).
fn sacked_run(board: &Scoreboard, index: usize) -> (usize, bool) {
    let len = board.get(index).map(|r| r.len);
    let sacked = |index: usize| board.get(index).filter(|r| r.sacked && Some(r.len) == len);
    let before = (0..index).rev().take_while(|&i| sacked(i).is_some()).count();
    let (mut end, mut again) = (index - before + 1, false);
    while let Some(r) = sacked(end) {
        again |= r.transmissions > 1;
        end += 1;
    }
    (end, again)
}

/// Segments that a D-SACK of so many bytes reports. More of them than were retransmitted are not
/// all ours: such a D-SACK counts none, and one that no window had room for is not even remembered
/// (Linux's `tcp_dsack_seen`).
fn duplicates(dsacked: &mut u64, retransmissions: u64, bytes: u64, s: &State) -> u32 {
    if bytes > s.max_window {
        return 0;
    }
    let segments = bytes.div_ceil(s.mss).max(1);
    *dsacked = dsacked.saturating_add(segments);
    let ours = *dsacked <= retransmissions;
    if ours { u32::try_from(segments).unwrap_or(u32::MAX) } else { 0 }
}
