//! When ACKs reached the sender, as what came later shows it.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time};

use super::heard::Heard;
use crate::hypotheses::Entry;

/// An ACK may be later than usual by so much, and by half of the way: a kernel has ticks of up to
/// 10 ms, and a radio link waits as long.
const JITTER: Span = Span::from_millis(10);

/// An ACK has not reached the sender before what echoes an older one was sent, and has when it is
/// echoed. If it was to be there much earlier, by the usual `delay` after it passed, what is sent
/// next is what it has let go, if anything is left to acknowledge; else that was written by then.
pub(super) fn ack_times(entries: &mut [Entry], delay: Span) {
    let (mut heard, mut waiting) = (Heard::default(), VecDeque::new());
    let (mut not_by, mut last, mut max) = (Time::ZERO, Time::ZERO, 0);
    let noise = JITTER.max(Span(delay.0 / 2));
    for index in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(index);
        let sent = match rest.first_mut() {
            Some(Entry::Sent(sent)) => *sent,
            Some(Entry::Acked(acked)) => {
                heard.passes(acked);
                waiting.push_back(index);
                continue;
            }
            _ => continue,
        };
        let before_it = max;
        max = max.max(sent.end());
        let Some(echo) = sent.tsecr else { continue };
        heard.learn(echo, waiting.iter().filter_map(|at| before.get(*at)?.acked()));
        while let Some(Entry::Acked(next)) = waiting.front().and_then(|at| before.get_mut(*at)) {
            let due = next.at + delay;
            let has = heard.has(next, echo);
            if !has.unwrap_or(due <= sent.at) {
                if has.is_some() {
                    not_by = sent.at;
                    if max > before_it {
                        heard.goes_on(sent.at.since(due));
                    }
                }
                break;
            }
            let at = match has {
                Some(_) if not_by.since(due) <= noise => due.min(sent.at),
                Some(_) if next.ack < before_it => sent.at,
                Some(_) => sent.at.min(not_by + noise),
                None => due,
            };
            last = last.max(at);
            next.at = Time(last.0.saturating_sub(delay.0));
            heard.reached(next);
            waiting.pop_front();
        }
    }
    // Those that nothing echoes came later than all that was sent, if at all.
    if let Some(Entry::Acked(next)) = waiting.front().and_then(|at| entries.get(*at))
        && not_by.since(next.at + delay) > noise
        && heard.is_told()
    {
        for at in waiting {
            if let Some(Entry::Acked(next)) = entries.get_mut(at) {
                next.at = next.at.max(Time((not_by + noise).0.saturating_sub(delay.0)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
