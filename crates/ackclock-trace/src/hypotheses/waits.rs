//! Least intervals that the sender's retransmission timer may have, learned from what was waited.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use crate::sender::{Acked, Sent};
use crate::standards::LEAST_RTOS;

/// Most least intervals of a timer that are tried, the shortest ones.
const MOST_WAITS: usize = 4;

/// The least intervals of timers that may have ended silence: what was waited since an ACK
/// advanced, and that without the round trip, as the sender has measured it. In round numbers,
/// since people choose them.
pub(super) fn waits<'a, S, A>(
    sent: impl Fn() -> S,
    acks: impl Fn() -> A,
    delay: Span,
    trip: Span,
    grain: Span,
) -> (Vec<Span>, Vec<Span>)
where
    S: Iterator<Item = &'a Sent>,
    A: Iterator<Item = &'a Acked>,
{
    let (mut whole, mut beside) = (Vec::new(), Vec::new());
    let (mut una, mut advanced, mut last, mut srtt) = (0, Time::NEVER, Time::ZERO, trip);
    let mut waiting = acks().peekable();
    let mut outstanding: VecDeque<(u64, Time)> = VecDeque::new();
    let mut max = 0;
    for s in sent() {
        while let Some(a) = waiting.next_if(|a| a.at + delay <= s.at) {
            last = last.max(a.at + delay);
            if a.ack <= una {
                continue;
            }
            (una, advanced) = (a.ack, a.at + delay);
            while let Some(&(end, at)) = outstanding.front().filter(|(end, _)| *end <= una) {
                outstanding.pop_front();
                if end == una {
                    // RFC 6298 section 2.3.
                    srtt = Span(srtt.0 - srtt.0 / 8 + advanced.since(at).0 / 8);
                }
            }
        }
        let waited = s.at.since(advanced);
        if s.at.since(last) > grain.times(2) && waited > trip {
            whole.push(round(waited + grain));
            beside.push(round(Span((waited + grain).0.saturating_sub(srtt.0))));
        }
        last = last.max(s.at);
        if s.position >= max {
            outstanding.push_back((s.end(), s.at));
            max = s.end();
        }
    }
    let least = |mut all: Vec<Span>| {
        all.sort_unstable();
        all.dedup();
        all.retain(|wait| *wait > Span::ZERO && !LEAST_RTOS.contains(wait));
        all.truncate(MOST_WAITS);
        all
    };
    (least(whole), least(beside))
}

/// The next round number below.
fn round(wait: Span) -> Span {
    let step = match wait.0 / 1_000_000 {
        0..100 => 10,
        100..500 => 50,
        _ => 100,
    };
    let step = Span::from_millis(step).0;
    Span(wait.0 / step * step)
}

#[cfg(test)]
mod tests;
