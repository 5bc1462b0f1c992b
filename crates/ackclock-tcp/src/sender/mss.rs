//! A change of the path's MTU.
//!
//! RFC 1191 section 6.4 and RFC 8201 section 5.4: what was too big is retransmitted at once,
//! without a change of cwnd. Both would send one segment only until ACKs arrive ("trigger the
//! slow-start mechanism"), with a cwnd that does not change; as common stacks do, everything goes
//! out at once that cwnd has room for. cwnd keeps its bytes; with a window law that counts segments
//! it keeps their number if they become smaller.

use alloc::boxed::Box;

use super::emit::{self, Sent};
use super::machine::{Beyond, Sender, Turn};
use super::{pacing, plain};
use crate::buffers::Buffers;
use crate::event::{Cause, EventKind};
use crate::recovery::linux::{current_ssthresh, most_emulated};
use crate::state::Phase;
use crate::time::Time;

/// Segments that follow a probe of the path's MTU at once, or soon: they show whether it is lost.
const FOLLOWING: u64 = 3;

/// The segment of [`Sender::poll_probe`], with what `tcp_mtu_probe` asks for: nothing is missing,
/// and data, window and cwnd have room for segments that follow (RFC 4821 section 7.4).
pub(super) fn poll_probe(c: &mut Sender, len: u32) -> Option<Option<Sent>> {
    let s = &c.s;
    let bytes = u64::from(len);
    let room = bytes + FOLLOWING * s.mss;
    let calm = s.sack && plain::is_calm(c) && s.board.sacked_bytes() == 0;
    let end = s.snd_nxt + room;
    if !calm || bytes <= s.mss || end > s.written || room > s.window() {
        return None;
    }
    // What is outstanding makes room.
    if end > s.window_edge || c.in_flight() + bytes > s.cwnd {
        return Some(None);
    }
    let holds = pacing::holds(c);
    (!holds).then(|| Some(emit::send_new(c, len, Cause::New)))
}

pub(super) fn set(c: &mut Sender, mss: u32) {
    c.config.mss = mss.max(1);
    let before = bound(c);
    if c.strategy.window.counts_segments() {
        keep_segments(c, before.max(c.s.mss));
    }
    let lowered = c.s.mss < before;
    if lowered {
        keep_buffers(c, before);
    }
    let mss = c.s.mss as u32;
    // A probe that is lost lowers nothing.
    let by_icmp = c.wants.by_marks && lowered;
    // Linux cuts only what goes again (tcp_simple_retransmit, tcp_fragment).
    let fin = c.s.joined_fin();
    let lost = match c.wants.refits {
        true => c.s.board.give_up(mss, |r| r.len_without(fin)),
        false => c.s.board.cut(mss),
    };
    if lost > 0 {
        go_back(c, by_icmp);
    }
    // Without either nothing would ever let out what was written before.
    let waits = !c.s.board.is_empty() || c.timers.persist_at != Time::NEVER;
    if by_icmp && waits {
        // tcp_simple_retransmit: ICMP releases nothing else. A probe of the window stays due.
        (c.turn, c.no_xmit) = (Turn::LostOnly, true);
    } else {
        // The window may have had room for a smaller segment, which pacing held back.
        c.arm_persist();
    }
    c.event(EventKind::MssChanged { mss, lost });
}

/// The receiver's largest window has grown: where it bounded segments, they change with it, and so
/// do windows that count them (`tcp_ack_update_window`, `tcp_sync_mss`).
#[cold]
pub(super) fn follow_window(c: &mut Sender) {
    c.calm = false;
    let before = bound(c);
    if c.s.mss != before {
        keep_buffers(c, before);
        keep_segments(c, before);
        c.event(EventKind::MssChanged { mss: c.s.mss as u32, lost: 0 });
    }
}

/// What was written for segments of another size lies in buffers of that.
fn keep_buffers(c: &mut Sender, size: u64) {
    if c.wants.keeps_buffers && c.s.written > c.s.snd_max {
        let (sent, written) = (c.s.snd_max, c.s.written);
        c.s.buffers.get_or_insert_with(|| Box::new(Buffers::new(sent, written, size)));
    }
}

/// Takes the size of segments that path and window law have room for. Returns the one before.
fn bound(c: &mut Sender) -> u64 {
    let mss = c.config.segment_bytes(c.s.max_window, &*c.strategy.window);
    c.s.initial_window = c.config.initial_window_bytes(mss, &*c.strategy.window);
    core::mem::replace(&mut c.s.mss, mss)
}

/// A law that counts segments keeps their number where they become smaller, as in Linux: "units
/// changed and effective cwnd/ssthresh really reduced now" (`tcp_simple_retransmit`). Where they
/// become larger the bytes stay (`tcp_mtup_probe_success`).
/// `of` is what one of them had.
fn keep_segments(c: &mut Sender, of: u64) {
    let mss = c.s.mss;
    let segments = |bytes: u64| match bytes {
        u64::MAX => bytes,
        bytes => (bytes / of).max(1).saturating_mul(mss),
    };
    c.set_cwnd(segments(c.s.cwnd));
    c.s.ssthresh = segments(c.s.ssthresh);
    if let Some(saved) = &mut c.saved {
        (saved.cwnd, saved.ssthresh) = (segments(saved.cwnd), segments(saved.ssthresh));
    }
}

/// As after a timeout, what is lost goes out in sequence, but within the windows that there are.
fn go_back(c: &mut Sender, by_icmp: bool) {
    c.s.emulated = c.s.emulated.min(most_emulated(&c.s));
    let keeps_cwnd = c.strategy.window.counts_segments() || c.wants.rates;
    if (c.s.phase == Phase::Recovery || c.s.cwr) && !keeps_cwnd {
        // Within recovery cwnd may be inflated, or follow the pipe, and in CWR it is still on its
        // way down; the response to the loss or the mark stands. Linux's laws keep cwnd as it is
        // ("Don't muck with the congestion window here").
        c.set_cwnd(c.s.ssthresh);
    }
    if c.s.phase != Phase::Loss {
        // tcp_simple_retransmit: `undo_marker` and `prior_ssthresh` are 0.
        c.strategy.undo.iter_mut().for_each(|undo| undo.forget());
        if c.wants.by_marks && c.s.phase == Phase::Open {
            c.s.ssthresh = current_ssthresh(&c.s);
        }
        c.strategy.window.on_too_big(&c.s);
        c.strategy.detect.on_too_big();
    }
    // tcp_non_congestion_loss_retransmit: after a timeout `high_seq` stays.
    if !(c.wants.by_marks && c.s.phase == Phase::Loss) {
        c.s.recover = c.s.snd_max;
    }
    (c.s.phase, c.s.cwr) = (Phase::Loss, false);
    c.turn = Turn::Any;
    if !c.wants.by_marks {
        c.s.snd_nxt = c.s.snd_una;
    }
    (c.s.dupacks, c.s.assumed_dupacks, c.s.limited) = (0, 0, 0);
    // What the timer has retransmitted is still due, in its new size.
    let by_timer = [Cause::Timeout, Cause::BackedOffTimeout];
    c.urgent = c.urgent.filter(|urgent| by_timer.contains(&urgent.cause));
    c.beyond = Beyond::NONE;
    // What an earlier response judged lost may not have been; this is.
    c.saved = None;
    // tcp_xmit_retransmit_queue starts the timer anew with the head, if that goes.
    if !by_icmp {
        c.start_rto();
    }
}
