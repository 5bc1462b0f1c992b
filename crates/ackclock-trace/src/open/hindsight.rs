//! When things were sent, and when ACKs reached the sender, as what came later shows it.

use std::collections::VecDeque;

use ackclock_tcp::{Span, Time, Timestamps};

use super::heard::Heard;
use super::send_clock::{DRIFT, SET, SendClock, milliseconds};
use crate::hypotheses::Entry;
use crate::sender::{Sent, TICK};

/// An ACK may be later than usual by so much, and by half of the way: a kernel has ticks of up to
/// 10 ms, and a radio link waits as long.
const JITTER: Span = Span::from_millis(10);

/// Data that was much later, by its timestamp, than what came before it and after it has waited on
/// its way to the capture. [`SendClock`] cannot know that yet as long as it may be a clock that was
/// set. Two segments in a row have to say so: the clock of the capture may be wrong about one.
pub(super) fn send_times(entries: &mut [Entry], clock: &SendClock) {
    let stamped = |entry: &Entry| entry.sent().and_then(|sent| Some((sent.tsval?, sent.at)));
    let Some((first, since)) = entries.iter().find_map(stamped) else { return };
    let late = |sent: &Sent| {
        let counted = TICK.times(Timestamps::ticks_since(first, sent.tsval?).into());
        let now = sent.at.since(since);
        (counted <= milliseconds(now)[1]).then(|| (now.0 as i64, now.0 as i64 - counted.0 as i64))
    };
    // How late each was, and the least of those before it.
    let mut before = i64::MAX;
    let mut all: Vec<(&mut Sent, [i64; 3])> = Vec::new();
    for sent in entries.iter_mut().filter_map(Entry::in_time_mut) {
        if let Some((now, late)) = late(sent) {
            all.push((sent, [now, late, before]));
            before = before.min(late);
        }
    }
    // How late what came after was at the least, and when that was; and how late the next one was.
    let (mut least, mut next) = (None::<(i64, i64)>, None::<i64>);
    for (sent, [now, late, before]) in all.into_iter().rev() {
        // Clocks run apart: by so much it may have been later all the same.
        let usual = least.map_or(late, |(least, then)| least + (then - now) / DRIFT as i64);
        let waited = Span((late - usual).max(0) as u64) - clock.unknown();
        if waited >= SET && before <= usual + waited.0 as i64 / 4 {
            sent.at = Time(sent.at.0.saturating_sub(waited.0));
        }
        if let Some(both) = next.replace(late).map(|next| next.max(late))
            && least.is_none_or(|_| both <= usual)
        {
            least = Some((both, now));
        }
    }
}

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
