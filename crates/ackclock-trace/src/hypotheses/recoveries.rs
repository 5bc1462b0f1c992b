//! Recoveries by the retransmissions and timeouts as verdicts have left them, and their events.

use std::mem;

use ackclock_tcp::{Span, Time};

use super::Entry;
use crate::connection::{Kind, Recovery, Retransmission, Timeout};
use crate::sender::{Found, draw_recoveries};

/// Finds the recoveries anew. What the model of the sender had found stays where it agrees, and
/// behind the last of `entries`. `delay`: as in [`super::verdicts`]; where it is not known, nobody
/// can say when an ACK ended a recovery, and all stay as they are.
pub(super) fn rebuild(entries: &[Entry], delay: Span, found: &mut Found) {
    let Some(last) = entries.last().map(Entry::at).filter(|_| delay > Span::ZERO) else { return };
    let mut of_model = mem::take(&mut found.recoveries);
    let behind = of_model.split_off(of_model.partition_point(|old| old.start <= last));
    let all = walk(entries, delay, &found.retransmissions, &found.timeouts);
    let is_timeout = |at: Time| found.timeouts.iter().any(|timeout| timeout.at == at);
    let agrees = |new: &Recovery, old: &Recovery| {
        let found = |r: &Recovery| (r.retransmissions, r.by_timeout);
        old.start == new.start
            && (found(old) == found(new) || new.end.is_none())
            && (!old.by_timeout || old.end.is_some_and(is_timeout))
    };
    let known = |new: Recovery| *of_model.iter().find(|old| agrees(&new, old)).unwrap_or(&new);
    found.recoveries = all.into_iter().take_while(|new| new.start <= last).map(known).collect();
    found.recoveries.extend(behind);
    draw_recoveries(&found.recoveries, &mut found.events);
}

/// A recovery that goes on, with its recovery point, and when that was acknowledged.
struct Open {
    recovery: Recovery,
    recover: u64,
    over: Option<Time>,
}

/// What has gone on up to some moment of the sender.
struct Walk<'a> {
    entries: Vec<(Time, &'a Entry)>,
    next: usize,
    una: u64,
    max: u64,
    open: Option<Open>,
    all: Vec<Recovery>,
}

fn walk(
    entries: &[Entry],
    delay: Span,
    retransmissions: &[Retransmission],
    timeouts: &[Timeout],
) -> Vec<Recovery> {
    let at = |entry: &Entry| entry.at() + if entry.acked().is_some() { delay } else { Span::ZERO };
    let mut entries: Vec<(Time, &Entry)> = entries.iter().map(|e| (at(e), e)).collect();
    // An ACK that comes at the same time was there before.
    entries.sort_by_key(|(at, entry)| (*at, entry.sent().is_some()));
    let mut walk = Walk { entries, next: 0, una: 0, max: 0, open: None, all: Vec::new() };
    for (index, r) in retransmissions.iter().enumerate() {
        walk.until(r.at, r.frame);
        let timed_out = timeouts.binary_search_by_key(&index, |t| t.retransmission).is_ok();
        match r.kind {
            _ if timed_out => walk.close(Some(r.at), true),
            Kind::FastRetransmit => walk.begin(r),
            Kind::Recovery => walk.go_on(r),
            _ => {}
        }
    }
    walk.until(Time::NEVER, u64::MAX);
    walk.close(None, false);
    walk.all
}

impl Walk<'_> {
    /// Takes in what was before the packet of this frame.
    fn until(&mut self, now: Time, frame: u64) {
        while let Some(&(at, entry)) = self.entries.get(self.next)
            && at <= now
        {
            match entry {
                Entry::Sent(sent) | Entry::Late(sent) if at == now && sent.frame >= frame => break,
                Entry::Sent(sent) | Entry::Late(sent) => self.max = self.max.max(sent.end()),
                Entry::Acked(acked) => self.una = self.una.max(acked.ack),
            }
            self.next += 1;
            if let Some(open) = self.open.as_mut().filter(|open| self.una >= open.recover) {
                open.over.get_or_insert(at);
            }
        }
    }

    fn begin(&mut self, r: &Retransmission) {
        self.close(Some(r.at), false);
        let recovery = Recovery {
            start: r.at,
            end: None,
            by_timeout: false,
            flight: self.max.saturating_sub(self.una),
            retransmissions: 1,
            spurious: r.spurious.is_some(),
        };
        let recover = self.max.max(end(r));
        self.open = Some(Open { recovery, recover, over: None });
    }

    /// A retransmission that is not the first one of its recovery, unless that was lost before the
    /// capture. What ended the flight may have been lost there, too: then more belongs to the
    /// recovery than was seen when it began.
    fn go_on(&mut self, r: &Retransmission) {
        let is_new = |open: &Open| open.over.is_some() && r.position < self.max;
        let Some(open) = self.open.as_mut().filter(|open| !is_new(open)) else {
            return self.begin(r);
        };
        (open.recover, open.over) = (open.recover.max(end(r)), None);
        open.recovery.retransmissions += 1;
        open.recovery.spurious &= r.spurious.is_some();
    }

    fn close(&mut self, at: Option<Time>, by_timeout: bool) {
        let Some(Open { recovery, over, .. }) = self.open.take() else { return };
        let by_timeout = by_timeout && over.is_none();
        self.all.push(Recovery { end: over.or(at), by_timeout, ..recovery });
    }
}

fn end(r: &Retransmission) -> u64 {
    r.position + u64::from(r.len)
}

#[cfg(test)]
mod tests;
