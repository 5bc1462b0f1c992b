//! What sending a segment does: to the scoreboard, to timers, and to the mechanisms that see it.

use alloc::boxed::Box;

use super::machine::Sender;
use super::{Transmit, by_rate, ecn, one_timer};
use crate::buffers::Buffers;
use crate::event::{Cause, EventKind};
use crate::recovery::segmentation::Outgoing;
use crate::scoreboard::Judge;
use crate::segment::{Ecn, Flags, Segment, Timestamps};
use crate::seq::Seq;
use crate::state::Phase;
use crate::time::Time;

/// A segment that is sent, before its header is written. What decides on it hands no more than this
/// on, so that the header is put together once, where it goes ([`Sent::transmit`]).
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// As in [`Transmit`].
    pub position: u64,
    pub seq: Seq,
    pub len: u32,
    pub transmission: u32,
    pub cause: Cause,
    pub psh: bool,
    pub ecn: Ecn,
}

impl Sent {
    /// The segment of the stream that begins at `position`.
    #[inline(always)]
    pub fn new(c: &Sender, position: u64, len: u32, cause: Cause) -> Sent {
        let seq = Seq::at(c.config.isn, position);
        Sent { position, seq, len, transmission: 1, cause, psh: false, ecn: Ecn::NONE }
    }

    /// A segment without data at `position`.
    pub fn empty(c: &Sender, position: u64, cause: Cause) -> Sent {
        Sent { transmission: 0, ..Sent::new(c, position, 0, cause) }
    }

    /// With its header.
    #[inline(always)]
    pub fn transmit(self, c: &Sender) -> Transmit {
        let Sent { position, seq, len, transmission, cause, psh, ecn } = self;
        let timestamps = c.config.timestamps;
        let segment = Segment {
            seq,
            ack: c.config.remote_seq,
            len,
            wnd: u16::MAX,
            flags: Flags::new(psh, false),
            ecn,
            timestamps: timestamps.then(|| Timestamps { val: c.s.now.timestamp(), ecr: 0 }),
            ..Segment::default()
        };
        Transmit { segment, position, cause, transmission }
    }
}

/// Why a segment is retransmitted, besides its cause.
#[derive(Clone, Copy, Default)]
pub(super) struct Why {
    /// Who found it lost.
    pub judge: Judge,
    /// It takes the place of a retransmission that was lost.
    pub replaces_lost: bool,
}

/// What counts against cwnd, in whatever phase.
pub(super) fn counted(c: &Sender) -> u64 {
    if c.s.phase == Phase::Recovery || c.s.cwr { c.regulated() } else { c.in_flight() }
}

pub(super) fn send_new(c: &mut Sender, len: u32, cause: Cause) -> Sent {
    let (seq, first) = (c.s.snd_nxt, c.s.board.is_empty());
    if c.wants.measures && c.s.snd_max > 0 && c.in_flight() == 0 {
        c.strategy.window.on_start(&c.s, c.s.now.since(c.last_sent));
    }
    if c.wants.rates && c.s.snd_max > 0 && c.in_flight() == 0 {
        by_rate::on_start(c);
    }
    // tcp_write_wakeup does not validate cwnd.
    c.sent_new |= cause != Cause::WindowProbe;
    c.s.board.push(seq, len, c.s.now);
    c.s.snd_nxt += u64::from(len);
    c.s.snd_max = c.s.snd_nxt;
    if c.s.buffers.is_some() {
        leave_buffer(c, cause);
    }
    // tcp_minshall_update.
    if u64::from(len) < c.s.mss {
        c.s.short_end = c.s.snd_max;
    }
    if c.wants.times {
        c.strategy.timer.on_new(&c.s, c.s.snd_max);
    }
    let mut sent = sent(c, seq, len, cause, 1, Judge::Nobody);
    if c.config.ecn {
        sent.ecn = ecn::of_new(c, cause, len);
    }
    // A tail loss probe has set the timer already, and none follows a window probe
    // (tcp_write_wakeup).
    if c.timers.serves_all && !matches!(cause, Cause::TailLossProbe | Cause::WindowProbe) {
        one_timer::after_new(c, first);
    }
    sent
}

/// What is sent next comes from the next buffer, or from what a window probe has left of one.
#[cold]
fn leave_buffer(c: &mut Sender, cause: Cause) {
    if c.s.buffers.as_mut().is_some_and(|buffers| !buffers.sent(c.s.snd_max, c.s.mss)) {
        c.s.buffers = None;
    }
    if cause != Cause::WindowProbe {
        fill(c);
    }
}

/// After an ACK or a write: the buffer that is sent next is filled.
#[inline(always)]
pub(super) fn fill_buffer(c: &mut Sender) {
    if c.s.buffers.is_some() {
        fill(c);
    }
}

/// The same where cwnd has room for it (`tcp_write_xmit`).
#[cold]
fn fill(c: &mut Sender) {
    if counted(c) + c.s.mss <= c.s.cwnd
        && let Some(buffers) = &mut c.s.buffers
    {
        buffers.grow(c.s.snd_max, c.s.mss);
    }
}

/// Cuts segment `index`, or joins it with what follows, so that it fits the window, SMSS and `most`
/// (`__tcp_retransmit_skb`, `tcp_retrans_try_collapse`); whether it may go. The first
/// unacknowledged one goes into a closed window too, as its probe.
fn refit(c: &mut Sender, index: usize, most: u32) -> bool {
    let Some(r) = c.s.board.get(index) else { return true };
    let room = c.s.window_edge.saturating_sub(r.seq);
    let whole = c.s.most_from(r.seq);
    if room == 0 {
        if index == 0 && c.wants.refits && u64::from(r.len) > whole {
            c.s.board.split(index, whole as u32);
        }
        return index == 0;
    }
    let most = room.min(whole).min(u64::from(most)) as u32;
    if r.len > most {
        c.s.board.split(index, most);
    } else if c.wants.refits && u64::from(r.len) < c.s.mss {
        // tcp_collapse_retrans, tcp_adjust_pcount: without SACK, duplicates stand for fewer.
        let joined = c.s.board.join(index, most);
        c.s.emulated = c.s.emulated.saturating_sub(joined);
    }
    true
}

pub(super) fn retransmit(
    c: &mut Sender,
    index: usize,
    cause: Cause,
    why: Why,
    counts: bool,
) -> Option<Sent> {
    let short = c.short_head.filter(|_| index == 0);
    if (c.wants.refits || short.is_some()) && !refit(c, index, short.unwrap_or(u32::MAX)) {
        return None;
    }
    if index == 0 {
        c.short_head = None;
    }
    (c.first_waits, c.quiet) = (false, false);
    let now = c.s.now;
    c.s.now = c.stale.unwrap_or(now);
    c.s.board.on_retransmit(index, c.s.now, counts);
    let (seq, len, transmissions) = match c.s.board.get(index) {
        Some(r) => (r.seq, r.len, u32::from(r.transmissions)),
        None => (c.s.snd_una, 0, 0),
    };
    for undo in &mut c.strategy.undo {
        undo.on_retransmit(&c.s, seq, len);
    }
    c.s.now = now;
    // Where `snd_nxt` was set back, what goes out there moves it on, whatever the phase and the
    // cause.
    if seq <= c.s.snd_nxt {
        c.s.snd_nxt = c.s.snd_nxt.max(seq + u64::from(len));
    }
    c.stats.retransmissions += 1;
    c.stats.fast_retransmissions += u64::from(cause == Cause::FastRetransmit);
    c.last_retransmission = Some(c.s.now);
    if c.timers.serves_all && index == 0 {
        one_timer::after_head(c);
    } else if c.strategy.timer.restarts_on(cause, why.replaces_lost) {
        c.start_rto();
    }
    Some(sent(c, seq, len, cause, transmissions, why.judge))
}

#[inline(always)]
fn sent(c: &mut Sender, seq: u64, len: u32, cause: Cause, transmission: u32, judge: Judge) -> Sent {
    c.stats.segments_sent += 1;
    c.stats.bytes_sent += u64::from(len);
    c.last_sent = c.s.now;
    // RFC 6298 section 5.1.
    if c.timers.rto_at == Time::NEVER {
        c.start_rto();
    }
    if c.s.phase == Phase::Recovery {
        on_transmit(c, cause, u64::from(len));
    } else if c.s.cwr {
        ecn::on_transmit(c, cause, u64::from(len));
    }
    if c.config.events {
        let detected_by = c.judged_by(judge);
        c.event(EventKind::Sent { seq, len, cause, transmission, detected_by });
    }
    if let Some(rates) = &mut c.rates {
        let first = transmission == 1 && c.s.board.len() == 1;
        rates.on_sent(&c.s, seq, seq + u64::from(len), first);
    }
    if c.wants.paces
        && let Some(pacing) = &mut c.strategy.pacing
    {
        pacing.on_sent(&c.s, len);
    }
    // In Linux a FIN alone has none.
    let mut psh = seq + u64::from(len) == c.s.written && c.s.joined_fin() != Some(seq);
    if c.wants.segments {
        let in_flight = counted(c);
        let now = Outgoing { seq, len, first: transmission == 1, cause, in_flight };
        psh |= c.strategy.segmentation.as_mut().is_some_and(|s| s.on_sent(&c.s, now));
    }
    Sent { transmission, psh, ..Sent::new(c, seq, len, cause) }
}

/// Shows the mechanisms of recovery what was sent.
pub(super) fn on_transmit(c: &mut Sender, cause: Cause, len: u64) {
    let cwnd = c.strategy.regulate.on_transmit(&c.s, cause, len);
    c.set_cwnd(cwnd);
    c.strategy.select.on_transmit(&c.s, cause);
    if let Some(retransmission) = &mut c.strategy.retransmission {
        retransmission.on_transmit(&c.s, cause);
    }
}

/// A segment without data just below the window, which every receiver answers with an ACK (RFC 9293
/// section 3.10.7.4: an unacceptable segment draws one). A window open by less than a segment is
/// filled instead.
pub(super) fn window_probe(c: &mut Sender) -> Option<Sent> {
    c.window_probe = false;
    let (from, written, mss) = (c.s.snd_nxt, c.s.written, c.s.mss);
    let end = c.s.buffers.as_ref().map_or(written, |buffers| buffers.head());
    let room = c.s.window_edge.min(end).saturating_sub(from).min(mss);
    if room > 0 && c.s.board.is_empty() {
        // tcp_write_wakeup: what is left of the segment stays a buffer.
        if c.wants.keeps_buffers && room < mss && written > from + mss {
            c.s.buffers.get_or_insert_with(|| Box::new(Buffers::new(from, written, mss)));
        }
        let sent = send_new(c, room as u32, Cause::WindowProbe);
        c.arm_persist();
        one_timer::wait_for_window(c);
        return Some(sent);
    }
    c.arm_persist();
    one_timer::wait_for_window(c);
    let probe = Sent::empty(c, c.s.snd_una, Cause::WindowProbe);
    Some(Sent { seq: probe.seq - 1, ..probe })
}
