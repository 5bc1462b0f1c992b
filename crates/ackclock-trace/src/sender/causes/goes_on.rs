//! Retransmissions that go on with a repair of which the capture does not show what began it, or
//! shows what ended it too early.

use ackclock_tcp::Time;

use crate::connection::Kind;
use crate::sender::input::{Opening, Sent};
use crate::sender::recovery::LossRecovery;
use crate::sender::stream::Stream;
use crate::sender::stream::timers::nearly;
use crate::standards::LEAST_RTO;

/// Whether a retransmission was sent earlier than it seems: the ACK of its bytes would have reached
/// the sender by now. It has waited in a queue before the capture, as in a delay spike.
pub fn waited_before_capture(sent: &Sent, stream: &Stream) -> bool {
    !stream.terms.at_sender() && stream.outstanding.is_acked(sent.end())
}

/// The same of a connection that is too young for any timer to have expired, if its beginning was
/// seen.
pub fn is_too_early(sent: &Sent, stream: &Stream) -> bool {
    let Stream { terms, timers, .. } = stream;
    let young = || timers.is_early(sent.at.since(terms.start));
    waited_before_capture(sent, stream) && terms.opening == Opening::Seen && young()
}

/// Whether the slow start after a timeout goes on with it. No timer expires sooner once more.
pub fn follows_timer(sent: &Sent, recovery: &LossRecovery) -> bool {
    timer_before(sent, recovery).is_some_and(|last| sent.at.since(last) < LEAST_RTO)
}

/// Whether a recovery goes on with it. The ACKs that end it were seen while this waited in a queue.
/// Without SACK only some senders do that. What went twice in a row was sent by the timer.
pub fn follows_recovery(sent: &Sent, stream: &Stream, recovery: &LossRecovery) -> bool {
    let LossRecovery { phases, retransmissions, .. } = recovery;
    let repairs = |kind| matches!(kind, Kind::FastRetransmit | Kind::Recovery);
    waited_before_capture(sent, stream)
        && sent.end() <= phases.recovery_point()
        && (stream.terms.sack || phases.goes_on() && !phases.slow_starts)
        && !retransmissions.repeats()
        && behind_one(sent, recovery, repairs).is_some_and(|last| sent.at.since(last) < LEAST_RTO)
}

/// When the last retransmission went out, if it was a timeout's and this is behind it.
fn timer_before(sent: &Sent, recovery: &LossRecovery) -> Option<Time> {
    let repairs = |kind| matches!(kind, Kind::Timeout | Kind::BackedOffTimeout | Kind::SlowStart);
    behind_one(sent, recovery, repairs)
}

/// When the last retransmission went out, if it was of such a kind and this is behind it.
fn behind_one(sent: &Sent, recovery: &LossRecovery, of: fn(Kind) -> bool) -> Option<Time> {
    let last = recovery.retransmissions.last();
    last.filter(|last| of(last.kind) && last.position < sent.position).map(|last| last.at)
}

/// Whether the sender goes on with the slow start after a timeout, up to what was outstanding then
/// (RFC 5681 section 3.1), while the ACK of this segment waits for it behind others.
pub fn lags_behind_acks(sent: &Sent, stream: &Stream, recovery: &LossRecovery) -> bool {
    stream.terms.at_sender()
        && stream.outstanding.is_acked(sent.end())
        && sent.end() <= recovery.phases.recovery_point()
        && timer_before(sent, recovery).is_some()
}

/// Whether the last ACK answers a timer's retransmission that is not in the capture: it ends a
/// silence of nearly a timeout, and this goes out at once, though nothing else accounts for it. The
/// least timeout is meant: the ACK has just measured a round trip that was none.
pub fn follows_unseen_timer(sent: &Sent, stream: &Stream, recovery: &LossRecovery) -> bool {
    let Stream { terms, moments, timers, .. } = stream;
    let last_sent = moments.newest().max(recovery.retransmissions.last_at());
    let silence = moments.ack_gap().min(moments.last_ack().since(last_sent));
    terms.at_sender() && moments.on_ack(sent.at) && silence >= nearly(timers.min_rtt() + LEAST_RTO)
}
