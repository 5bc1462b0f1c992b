//! The verdicts of hypotheses in place of what the model of the sender had found.

use std::collections::{BTreeMap, BTreeSet};

use ackclock_tcp::{Cause, EventKind, Span, Time};

use super::division::Divided;
use super::numbers::are_missing;
use super::trial::Expiry;
use super::{Entry, Passed, Verdict, calm, recoveries, verdicts};
use crate::connection::{Kind, Retransmission, StallCause, Timeout};
use crate::lifetime::{Lifetime, Limit};
use crate::sender::{Found, Sent, Terms, expiry, insert_all};
use crate::standards::LEAST_RTO;
use crate::within::ByTime;

/// Tries hypotheses, if there is anything to explain, and takes their verdicts over.
pub(crate) fn rewrite(terms: Terms, passed: Passed<'_>, delay: Span, found: &mut Found) {
    let entries = passed.entries;
    // Times are known to a sixteenth of it (`script.rs`).
    let least = found.rtt.map_or(Span::ZERO, |rtt| Span(rtt.min.0 / 16 * 15));
    let divided = if found.retransmissions.is_empty() && found.stalls.is_empty() {
        if passed.all { calm(terms, passed, delay, found.end, least) } else { None }
    } else {
        let (verdicts, delay, wholes) = verdicts(terms, entries, delay);
        if !verdicts.is_empty() {
            take_over(&verdicts, terms, found);
            recoveries::rebuild(entries, delay, found);
        }
        // Where neither a segment nor a number says that anything was lost, silence alone does not.
        let lost = !found.retransmissions.is_empty()
            || found.lifetime.of(Limit::Recovery) > Span::ZERO
            || are_missing(entries.iter().filter_map(Entry::sent));
        let whole = if lost { wholes.any } else { wholes.calm };
        let whole = whole.filter(|_| passed.all);
        whole.and_then(|whole| whole.divided(terms, passed, found.end, least))
    };
    // A candidate writes what is shorter than a segment when that is seen, also where the numbers
    // of packets say that a timer has sent it again.
    let repairs =
        |d: &Divided| found.untold.is_empty() || d.lifetime.of(Limit::Recovery) > Span::ZERO;
    let divided = divided.filter(repairs);
    if let Some(divided) = divided.filter(|d| !never_was_full(d.full_window, passed, delay)) {
        divide(divided, terms, found);
    }
}

/// What limited the candidate that explains all, in place of what the model of the sender had
/// found.
fn divide(divided: Divided, terms: Terms, found: &mut Found) {
    let Divided { ends: [begin, end], mut lifetime, full_window } = divided;
    let before = begin.since(terms.start);
    let handshake = found.lifetime.of(Limit::Handshake).min(before);
    lifetime.add(Limit::Handshake, handshake);
    lifetime.add(Limit::Application, before - handshake);
    // A candidate writes when something is seen: it knows nothing of what waits for a closed window
    // until the end.
    let window = |lifetime: &Lifetime| lifetime.of(Limit::ReceiveWindow);
    let waits = window(&found.lifetime) - window(&lifetime);
    let waits = waits.min(lifetime.of(Limit::Application));
    lifetime.take(Limit::Application, waits);
    lifetime.add(Limit::ReceiveWindow, waits);
    // Of Nagle's algorithm it knows nothing: it writes small segments when they are seen, so that
    // all that was given is on its way meanwhile.
    let way = lifetime.of(Limit::Path) - lifetime.full();
    let nagle = found.lifetime.of(Limit::Nagle).min(way);
    lifetime.take(Limit::Path, nagle);
    lifetime.add(Limit::Nagle, nagle);
    lifetime.add_answering(found.lifetime.answering());
    lifetime.note_answer(found.lifetime.longest_answer());
    lifetime.add_unasked(found.lifetime.unasked());
    lifetime.add_closed(found.lifetime.closed());
    lifetime.add_closing(found.lifetime.closing());
    lifetime.add_growing(found.lifetime.growing());
    lifetime.add_shrunk(found.lifetime.shrunk());
    lifetime.add_filled(found.lifetime.filled());
    lifetime.add_kept(found.lifetime.kept());
    found.lifetime = lifetime;
    found.end = found.end.max(end);
    found.full_window = found.full_window.max(full_window);
}

/// Whether less than half of a window that a candidate filled was ever outstanding. What it has
/// sent and the capture has not seen yet waits in a queue, unless timestamps say when it was sent:
/// those of a millisecond tell half of a window from all of it.
fn never_was_full(window: u64, passed: Passed<'_>, delay: Span) -> bool {
    passed.timed && 2 * most_outstanding(passed.entries, delay) < window
}

/// The most that was outstanding when something was sent. ACKs reach the sender by `delay` later
/// than they pass.
fn most_outstanding(entries: &[Entry], delay: Span) -> u64 {
    let mut acks = entries.iter().filter_map(Entry::acked).peekable();
    let (mut una, mut most) = (0, 0);
    for sent in entries.iter().filter_map(Entry::sent) {
        while let Some(acked) = acks.next_if(|acked| acked.at + delay <= sent.at) {
            una = una.max(acked.ack);
        }
        most = most.max(sent.end().saturating_sub(una));
    }
    most
}

fn take_over(verdicts: &[Verdict], terms: Terms, found: &mut Found) {
    // Retransmissions with the timeouts that sent them, or may have.
    let mut all: Vec<(Retransmission, Option<Timeout>)> =
        found.retransmissions.drain(..).map(|r| (r, None)).collect();
    for timeout in found.timeouts.drain(..).chain(found.undecided.drain(..)) {
        if let Some(entry) = all.get_mut(timeout.retransmission) {
            entry.1 = Some(timeout);
        }
    }
    // What the model had said of those that verdicts are about, by frame and position.
    let mut was = BTreeMap::new();
    for verdict in verdicts {
        let Some(kind) = verdict.kind else { continue };
        let (frame, seq) = (verdict.sent.frame, verdict.sent.seq);
        let first = all.partition_point(|(r, _)| r.frame < frame);
        let mut of_frame = all[first..].iter().take_while(|(r, _)| r.frame == frame);
        let known = of_frame.position(|(r, _)| r.seq == seq).map(|place| first + place);
        let index = known.unwrap_or_else(|| {
            let at = all.partition_point(|(r, _)| r.frame <= frame);
            all.insert(at, (unseen_before(verdict, kind, terms), None));
            at
        });
        let (retransmission, timeout) = &mut all[index];
        // Where both timers are due at the same time, what follows tells them apart, which the
        // model of the sender goes by, and not how many candidates have probes.
        if verdict.by_either_timer && may_be_either(retransmission.kind) {
            continue;
        }
        // No candidate hears what routers say.
        if retransmission.kind == Kind::TooBig {
            continue;
        }
        was.insert((frame, retransmission.position), retransmission.kind);
        retransmission.kind = kind;
        retransmission.probability = Some(verdict.probability);
        if let Some(expiry) = &verdict.says.expiry {
            *timeout = Some(expired(retransmission, &verdict.sent, expiry, timeout.take()));
        }
    }
    // Without SACK, Tahoe's slow start follows a fast retransmit, too.
    if terms.sack {
        follow(all.iter_mut().map(|(r, _)| r), &was);
    }
    for (index, (retransmission, timeout)) in all.into_iter().enumerate() {
        if let Some(timeout) = timeout {
            let timeout = Timeout { retransmission: index, ..timeout };
            match retransmission.kind {
                Kind::Timeout | Kind::BackedOffTimeout => found.timeouts.push(timeout),
                Kind::ProbeOrTimeout => found.undecided.push(timeout),
                _ => {}
            }
        }
        found.retransmissions.push(retransmission);
    }
    explain_stalls(found);
    redraw(found);
}

/// Where a verdict makes a fast retransmit of a timeout, the slow start that follows is a recovery,
/// as far as no verdict is about it; and the other way round. `was`: what the model had said of
/// those that verdicts are about.
fn follow<'a>(all: impl Iterator<Item = &'a mut Retransmission>, was: &BTreeMap<(u64, u64), Kind>) {
    let (mut turned, mut last) = (None, Time::ZERO);
    for r in all {
        let soon = r.at.since(last) < LEAST_RTO;
        last = r.at;
        turned = match (was.get(&(r.frame, r.position)), turned.filter(|_| soon)) {
            (Some(was), _) if was.is_timeout() && r.kind == Kind::FastRetransmit => {
                Some((Kind::SlowStart, Kind::Recovery))
            }
            (Some(Kind::FastRetransmit), _) if r.kind.is_timeout() => {
                Some((Kind::Recovery, Kind::SlowStart))
            }
            (Some(_), Some((from, to))) if r.kind == to => Some((from, to)),
            (None, Some((from, to))) if r.kind == from => {
                r.kind = to;
                Some((from, to))
            }
            _ => None,
        };
    }
}

/// The model of the sender has taken it for what a tail loss probe sends, or the timer.
const fn may_be_either(kind: Kind) -> bool {
    matches!(kind, Kind::TailLossProbe | Kind::Timeout | Kind::ProbeOrTimeout)
}

/// The timer has expired as a candidate's did, and sent this retransmission; `was`: what the model
/// has of that, if anything.
fn expired(
    retransmission: &Retransmission,
    sent: &Sent,
    expiry: &Expiry,
    was: Option<Timeout>,
) -> Timeout {
    Timeout {
        at: sent.at,
        seq: sent.seq,
        position: sent.position,
        // Known once all retransmissions are.
        retransmission: 0,
        class: expiry.class,
        state: expiry.state,
        flight: expiry.flight,
        cwnd: expiry.cwnd,
        waited: expiry.waited,
        spurious: retransmission.spurious,
        passed: was.as_ref().map_or(Time::ZERO, |t| t.passed),
        episode: was.and_then(|t| t.episode),
    }
}

/// A retransmission of what was lost before the capture.
fn unseen_before(verdict: &Verdict, kind: Kind, terms: Terms) -> Retransmission {
    Retransmission::of(&verdict.sent, kind, verdict.says.transmission, terms.sight.lost())
}

/// The causes of stalls, by the timeouts and probes as they are now. Where nothing seemed to be
/// outstanding and a timer did expire, or a retransmission ended it, something had been lost before
/// the capture: that time was the application's, and is of recovery. In a closed window nothing
/// else may go out, whatever its probes look like.
fn explain_stalls(found: &mut Found) {
    let timeouts = ByTime::new(found.timeouts.iter().map(|timeout| timeout.at));
    let retransmissions = ByTime::new(found.retransmissions.iter().map(|r| r.at));
    let stalls = found.stalls.iter_mut();
    for stall in stalls.filter(|stall| stall.cause != StallCause::ZeroWindow) {
        let timeout = timeouts.within(stall).max();
        let sent =
            timeout.and_then(|i| found.retransmissions.get(found.timeouts[i].retransmission));
        let holds_up = sent.is_some_and(|r| r.len > 0);
        let mut in_it =
            retransmissions.within(stall).map(|place| found.retransmissions[place].kind);
        let again = in_it.clone().next().is_some();
        let probed = in_it.any(|kind| kind == Kind::TailLossProbe);
        let tried = |r: &Retransmission| r.probability.is_some() && r.len > 0;
        let ends = |r: &&Retransmission| r.frame == stall.frame && tried(r);
        let within = retransmissions.within(stall).map(|place| &found.retransmissions[place]);
        let ended_by = within.filter(ends).map(|r| r.kind).last();
        // Its time is recovery's already as far as the numbers of packets tell, or the handshake's.
        let told = stall.timeout.is_none();
        stall.timeout = timeout;
        // A lost FIN holds up nothing.
        let rest = found.untold.binary_search_by_key(&stall.end, |(end, _)| *end);
        let rest = rest.ok().map(|i| found.untold[i].1);
        let untold = match stall.cause {
            StallCause::Application if holds_up || ended_by.is_some() => {
                Some(rest.unwrap_or(stall.end.since(stall.start)))
            }
            _ if !holds_up => None,
            StallCause::Timeout(_) if told => rest,
            _ => None,
        };
        if let Some(span) = untold {
            let span = span.min(found.lifetime.of(Limit::Application));
            found.lifetime.take(Limit::Application, span);
            found.lifetime.add(Limit::Recovery, span);
        }
        stall.cause = match (timeout.and_then(|i| found.timeouts.get(i)), stall.cause) {
            (Some(timeout), _) => StallCause::Timeout(timeout.class),
            (None, cause @ StallCause::Timeout(_)) if told => cause,
            (None, StallCause::Timeout(_) | StallCause::ProbeOrTimeout) => {
                if probed {
                    StallCause::TailLossProbe
                } else {
                    StallCause::Recovery
                }
            }
            // What ended it had been sent before, so that the application had given it.
            (None, StallCause::Application) => match ended_by {
                Some(Kind::TailLossProbe) => StallCause::TailLossProbe,
                Some(Kind::ProbeOrTimeout) => StallCause::ProbeOrTimeout,
                Some(_) => StallCause::Recovery,
                None => StallCause::Application,
            },
            // What was taken for a probe is another retransmission.
            (None, StallCause::TailLossProbe) if again && !probed => StallCause::Recovery,
            (None, cause) => cause,
        };
    }
}

/// The events of a picture, by the retransmissions and timeouts as they are now.
fn redraw(found: &mut Found) {
    let Found { events, retransmissions, timeouts, .. } = found;
    let left: BTreeSet<_> = timeouts.iter().map(|t| (t.position, t.at)).collect();
    events.retain(|event| match event.kind {
        EventKind::TimedOut { seq, .. } => left.contains(&(seq, event.at)),
        _ => true,
    });
    let mut missing = BTreeMap::new();
    let changed = |r: &Retransmission| {
        r.probability.is_some() || matches!(r.kind, Kind::Recovery | Kind::SlowStart)
    };
    for (index, r) in retransmissions.iter().enumerate().filter(|(_, r)| changed(r)) {
        let first = events.partition_point(|event| event.at < r.at);
        let of_time = events.iter().skip(first).take_while(|event| event.at == r.at);
        let drawn = of_time.enumerate().find_map(|(after, event)| match event.kind {
            EventKind::Sent { seq, .. } if seq == r.position => Some(first + after),
            _ => None,
        });
        let Some(drawn) = drawn else { continue };
        let Some(event) = events.get_mut(drawn) else { continue };
        if let EventKind::Sent { cause, transmission, .. } = &mut event.kind {
            (*cause, *transmission) = (r.kind.cause().unwrap_or(Cause::Unknown), r.transmission);
        }
        let timeout = timeouts.binary_search_by_key(&index, |t| t.retransmission);
        let Ok(timeout) = timeout.map(|place| &timeouts[place]) else { continue };
        let new = expiry(timeout, event, timeout.waited);
        let is_of = |kind| matches!(kind, EventKind::TimedOut { seq, .. } if seq == r.position);
        let before = drawn.checked_sub(1).and_then(|before| events.get_mut(before));
        match before.filter(|before| before.at == r.at && is_of(before.kind)) {
            Some(old) => *old = new,
            None => {
                missing.insert(drawn, new);
            }
        }
    }
    insert_all(events, missing.into_iter().collect());
}

#[cfg(test)]
mod tests;
