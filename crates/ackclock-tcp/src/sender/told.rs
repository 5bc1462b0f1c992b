//! What news of a loss does, where the network tells a strategy what it has lost (`recovery/oracle.rs`).

use super::{Phase, Sender, ack};
use crate::axes::{AckSummary, Told};
use crate::event::{Cause, EventKind};

/// A transmission of the segment at `seq` is lost.
pub(super) fn on_lost(c: &mut Sender, seq: u64, transmission: u32, when: Told) {
    let index = c.s.board.find(seq);
    let Some(&r) = c.s.board.get(index).filter(|r| r.seq == seq && !r.sacked && transmission > 0) else { return };
    let since = u32::from(r.transmissions).checked_sub(transmission);
    // RFC 5681 section 4.3: for "the loss of a retransmission" the windows "MUST be lowered twice". One sent before they were
    // lowered for the first time was lost with the rest.
    if since == Some(0) && transmission > 1 && c.s.phase == Phase::Recovery && r.last_sent >= c.entered {
        c.second.get_or_insert((seq, transmission));
    }
    let before = c.s.board.pipe();
    match (c.told, when, since) {
        // Another one takes its place in the network; the windows learn of it later.
        (Told::AtOnce, Told::AtOnce, Some(0)) => {
            let cause = if transmission == 1 { Cause::FastRetransmit } else { Cause::LostRetransmission };
            c.urgent = Some((seq, cause));
            return;
        }
        (Told::AtOnce | Told::AfterRoundTrip, Told::AfterRoundTrip, Some(0)) if c.s.board.mark_lost(index) => {}
        (Told::AtOnce, Told::AfterRoundTrip, Some(1..)) => c.s.board.mark_replaced(index),
        _ => return,
    }
    let by = c.strategy.detect.name();
    c.event(EventKind::Lost { seq, len: r.len, transmission, by });
    respond(c, seq, transmission, before - c.s.board.pipe());
}

/// The windows respond to the loss, by which the pipe has fallen so many bytes.
fn respond(c: &mut Sender, seq: u64, transmission: u32, newly_lost: u64) {
    let a = AckSummary {
        ack: c.s.snd_una,
        prior_una: c.s.snd_una,
        prior_dupacks: c.s.dupacks,
        prior_flight: c.s.flight(),
        newly_lost,
        ..AckSummary::default()
    };
    let waits = newly_lost > 0;
    match c.s.phase {
        Phase::Open => enter(c, &a, waits.then_some(seq)),
        Phase::Recovery => {
            let lowers = c.second == Some((seq, transmission));
            if lowers {
                // By how much is the window law's to say, as it would be for a timeout in place of the news.
                let flight = c.flight_size();
                c.s.ssthresh = c.strategy.window.on_loss(&c.s, flight).min(c.s.ssthresh);
            }
            if waits && transmission > 1 && (lowers || seq == c.s.snd_una) {
                c.urgent = Some((seq, Cause::LostRetransmission));
            }
            let cwnd = c.strategy.regulate.on_ack(&c.s, &a);
            c.set_cwnd(cwnd);
        }
        // The slow start after a timeout goes by position.
        Phase::Loss => c.s.snd_nxt = c.s.snd_nxt.min(seq),
    }
}

/// A recovery has ended. What was told of data above its recovery point begins the next one at once, sent again already or not,
/// as RFC 6675 does for the first unacknowledged segment.
pub(super) fn on_leave(c: &mut Sender, a: &AckSummary) {
    if c.told == Told::Never || c.s.phase != Phase::Open || c.s.board.lost_bytes() == 0 {
        return;
    }
    let waiting = c.s.board.iter().find(|r| r.lost && !r.retransmitted).map(|r| r.seq);
    enter(c, a, waiting);
}

fn enter(c: &mut Sender, a: &AckSummary, first: Option<u64>) {
    (c.entered, c.second) = (c.s.now, None);
    ack::enter_recovery(c, a, false);
    c.urgent = first.map(|seq| (seq, Cause::FastRetransmit));
}
