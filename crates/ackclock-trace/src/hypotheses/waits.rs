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
mod tests {
    use super::super::Entry;
    use super::super::tests::{ack, seen};
    use super::*;

    /// An ACK of segment 1 reaches the sender at 152 ms; 137 ms later it sends segment 2, and then
    /// 3, 210 ms after an ACK of that. The round trip was 50 ms to 52 ms.
    #[test]
    fn waits_are_round_and_without_those_of_most_senders() {
        let all = [
            seen(100.0, 0),
            seen(100.1, 1),
            ack(102.0, 2, &[]),
            seen(289.0, 2),
            ack(289.0, 3, &[]),
            seen(549.0, 3),
            // An ACK has let this go.
            ack(549.0, 4, &[]),
            seen(600.0, 4),
        ];
        let [delay, grain] = [50, 3].map(Span::from_millis);
        let sent = || all.iter().filter_map(Entry::sent);
        let acks = || all.iter().filter_map(Entry::acked);
        let (whole, beside) = waits(sent, acks, delay, delay, grain);
        // With the grain 140 and 213 ms whole, 90 and 163 ms beside the round trip, both a little
        // less. 200 ms is tried anyway.
        assert_eq!(whole, [Span::from_millis(100)]);
        assert_eq!(beside, [80, 150].map(Span::from_millis));
        assert_eq!(round(Span::from_millis(99)), Span::from_millis(90));
        assert_eq!(round(Span::from_millis(449)), Span::from_millis(400));
        assert_eq!(round(Span::from_millis(599)), Span::from_millis(500));
    }
}
