//! Why packets were lost, and how long they waited, in words.

use ackclock_tcp::Span;
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{Flow, Limit, LossCause};

use super::words::{rate, size, time};
use crate::explained::Found;

/// A queue is worth a word from this median delay on: interactive use feels it.
const LONG: Span = Span::from_millis(20);

/// What explains the losses of a connection's sender, if anything does.
pub(crate) fn losses(found: &Found) -> Option<String> {
    of(found.flow(found.sender()))
}

/// The same of what an end sent.
pub(super) fn of(flow: &Flow) -> Option<String> {
    Some(match flow.losses.cause? {
        LossCause::Policer { rate_bps, burst } => {
            let burst = burst.map_or(String::new(), |burst| format!(", burst {}", size(burst)));
            format!("its losses fit a policer: {}{burst}", rate(rate_bps))
        }
        LossCause::DropTail { delay, size: holds } => {
            let holds = holds.map_or(String::new(), |holds| {
                format!(", with {} of this connection", size(holds))
            });
            format!("its losses fit a queue that overflows: {} when it is full{holds}", time(delay))
        }
        LossCause::Random { rate, run } => format!(
            "its losses fit random loss: {:.1} % of segments, {run:.1} in a row, with neither a full \
             queue nor a policer",
            100.0 * rate
        ),
        LossCause::PathMtu { passed, lost } => {
            let told =
                if flow.asked_shorter.is_some() { "" } else { ", and of which no router tells" };
            format!(
                "its losses fit a path MTU that is too small{told}: packets of {passed} bytes came \
                 through, none of {lost} did"
            )
        }
    })
}

/// How long packets of a connection's sender wait in queues, if that is at least as long as the
/// shortest round trip. Of ACKs that the receiver may have delayed nobody knows.
pub(crate) fn queueing(found: &Found) -> Option<String> {
    let (waits, median) = (waits(found)?, found.flow(found.sender()).rtt?.median);
    let (waits, median) = (time(waits), time(median));
    Some(format!("queueing takes {waits} of a round trip of {median} (bufferbloat)"))
}

/// For how long, in the same cases. Over another route nobody knows, nor where the clock of the
/// capture counts in longer steps than the shortest round trip takes, nor where it shows how late
/// the receiver acknowledges. Where it may show that, a path that was seldom full had no queue.
pub(super) fn waits(found: &Found) -> Option<Span> {
    let from = found.sender();
    let flow = found.flow(from);
    let of = |limit| flow.lifetime.of(limit);
    let whole = of(Limit::Path) + of(Limit::ReceiveWindow);
    let full = flow.lifetime.full() + flow.lifetime.filled();
    let was_full = full > Span(whole.0 / 2);
    let told = |rtt: &RoundTrip| {
        !flow.rerouted
            && !found.measures_receiver(from)
            && (was_full || !found.may_measure_receiver(from))
            && rtt.min > Span::ZERO
            && rtt.delayable.saturating_mul(2) < rtt.samples
    };
    let rtt = flow.rtt.filter(told)?;
    let waits = rtt.median - rtt.min;
    (waits >= LONG && waits >= rtt.min).then_some(waits)
}

/// What to do about it, on the way from `sender` to `receiver`.
pub(super) fn advice(
    cause: LossCause,
    rtt: Option<RoundTrip>,
    sender: &str,
    receiver: &str,
) -> String {
    let least = rtt.map_or(Span::ZERO, |rtt| rtt.min);
    let what = match cause {
        LossCause::Policer { rate_bps, burst } => {
            let burst = burst.map_or(String::new(), |burst| format!(" of {}", size(burst)));
            format!(
                "a policer drops what exceeds {}; shape or pace below that rate, or raise its \
                 burst{burst}",
                rate(rate_bps)
            )
        }
        // Less than the quarter of a round trip has no room for what a window sends at once.
        LossCause::DropTail { delay, .. } if delay < LONG && delay.0 < least.0 / 4 => {
            format!("a queue overflows that holds {}; give it room, or pace (fq)", time(delay))
        }
        LossCause::DropTail { delay, .. } => format!(
            "a queue overflows that delays by {}; manage it (fq_codel, CAKE), or give it less room",
            time(delay)
        ),
        LossCause::Random { rate, .. } => format!(
            "{:.1} % of the segments are lost at random; repair the link, or use a congestion \
             control that does not take each loss for congestion (bbr)",
            100.0 * rate
        ),
        LossCause::PathMtu { lost, .. } => format!(
            "packets of {lost} bytes do not come through, shorter ones do; let ICMP through, or \
             lower the MTU or the MSS: the sender finds that out by itself, but only after timeouts"
        ),
    };
    format!("{sender} to {receiver}: {what}")
}

/// Of causes with this name on one way, that with the largest number says how bad it is.
pub(super) fn number(cause: LossCause) -> f64 {
    match cause {
        // A rate that suits the slowest suits all.
        LossCause::Policer { rate_bps, .. } => -rate_bps,
        LossCause::DropTail { delay, .. } => delay.secs_f64(),
        LossCause::Random { rate, .. } => rate,
        // Those that are longer do not come through either.
        LossCause::PathMtu { lost, .. } => -f64::from(lost),
    }
}

#[cfg(test)]
mod tests;
