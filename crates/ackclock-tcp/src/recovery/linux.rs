//! What several of Linux's mechanisms ask alike.

use crate::state::{Phase, State};
use crate::time::{Span, Time};
use crate::wire::DEFAULT_MSS;

/// A tick of the kernel's clock: `HZ` is 250, as most distributions configure it.
pub(crate) const JIFFY: Span = Span::from_millis(4);

/// `tcp_jiffies32`.
pub(crate) fn jiffies(s: &State, t: Time) -> u64 {
    t.ticks(JIFFY, s.tick_phase)
}

/// `usecs_to_jiffies`: rounded up.
pub(crate) fn to_jiffies(span: Span) -> u64 {
    span.0.div_ceil(JIFFY.0)
}

/// When a timer set now for so long expires: the wait counts whole ticks (`usecs_to_jiffies`) from
/// the last tick on (`jiffies + when`, `inet_csk_reset_xmit_timer`), and a tick more, so that none
/// expires early (`calc_index` of `kernel/time/timer.c`). From 63 ticks on Linux's wheel of timers
/// rounds up to 8 ticks and more, by a phase that no segment shows: that is left out.
pub(crate) fn expiry(now: Time, tick_phase: Span, wait: Span) -> Time {
    now.next_tick(JIFFY, tick_phase) + JIFFY.times(to_jiffies(wait))
}

/// Ticks in a second (`HZ`).
pub(crate) const HZ: u64 = 1_000_000_000 / JIFFY.0;

/// `TCP_TIMEOUT_MIN_US`: what Linux adds to timers that would be too short.
pub(crate) const TIMEOUT_MIN: Span = Span::from_millis(2);

/// `TCP_RTO_MIN`.
pub(crate) const RTO_MIN: Span = Span::from_millis(200);

/// `TCP_INIT_CWND`, in segments.
pub(crate) const INIT_CWND: u64 = 10;

/// `bbr_min_tso_rate`: 1.2 Mbit/s, in bytes a second.
pub(crate) const MIN_TSO_RATE: u64 = 150_000;

/// `sk_gso_max_size`: `GSO_LEGACY_MAX_SIZE` without the room for headers (`MAX_TCP_HEADER`).
pub(crate) const GSO_MAX_SIZE: u64 = 65_536 - 321;

/// `tcp_bound_to_half_wnd`: at most half of the largest window that was ever offered, unless that
/// is tiny.
pub(crate) fn bound_to_half_window(size: u64, max_window: u64) -> u64 {
    let tiny = max_window <= u64::from(DEFAULT_MSS);
    let cutoff = if tiny { max_window } else { max_window / 2 };
    if cutoff == 0 { size } else { size.min(cutoff.max(LEAST_SIZE)) }
}

/// What a segment may have of `TCP_MIN_MSS` beside its header.
const LEAST_SIZE: u64 = 48;

/// `tcp_current_ssthresh` outside of recovery.
pub(crate) fn current_ssthresh(s: &State) -> u64 {
    if s.cwr {
        return s.ssthresh;
    }
    let cwnd = s.cwnd / s.mss;
    s.ssthresh.max(((cwnd >> 1) + (cwnd >> 2)) * s.mss)
}

/// `tcp_limit_reno_sacked`: without SACK, duplicates stand for so many outstanding segments at
/// most, since at least one is a hole.
pub(crate) fn most_emulated(s: &State) -> u32 {
    let outstanding = s.board.len() as u32;
    outstanding - s.board.lost_segments().max(1).min(outstanding)
}

/// `tcp_any_retrans_done`.
pub(crate) fn any_retransmitted(s: &State) -> bool {
    s.board.retransmitted_segments() > 0 || s.board.head().is_some_and(|r| r.transmissions > 1)
}

/// Whether the timer has expired before with nothing acknowledged since (`icsk_retransmits`). What
/// it sends into a window that the receiver has closed does not count (`tcp_retransmit_timer`).
pub(crate) fn retransmits(s: &State) -> bool {
    s.timed_out == Some(s.snd_una) && s.window_edge > s.snd_una
}

/// Whether a timeout lowers the windows (`tcp_enter_loss`): not if that happened before in this
/// window of data, by a recovery, an ECN-Echo or by a timeout with nothing acknowledged since.
pub(crate) fn lowers_on_timeout(s: &State) -> bool {
    match s.phase {
        Phase::Open => !s.cwr || s.cwr_point <= s.snd_una,
        _ if s.recover <= s.snd_una => true,
        Phase::Recovery => false,
        Phase::Loss => !retransmits(s),
    }
}

/// `sk_pacing_shift`: a bundle holds what the path takes in about a millisecond.
pub(crate) const PACING_SHIFT: u32 = 10;

/// `tcp_update_pacing_rate`, in bytes a second.
pub(crate) fn pacing_rate(s: &State) -> u64 {
    let cwnd = s.cwnd / s.mss;
    let percent = if cwnd < s.ssthresh / s.mss / 2 { 200 } else { 120 };
    let segments = cwnd.max(s.board.len() as u64);
    (s.mss * percent).saturating_mul(segments.saturating_mul(10_000)) / s.srtt.micros().max(1)
}
