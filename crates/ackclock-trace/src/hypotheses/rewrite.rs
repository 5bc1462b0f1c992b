//! The verdicts of hypotheses in place of what the model of the sender had found.

use ackclock_tcp::Span;

use super::{Entry, Verdict, verdicts};
use crate::connection::{Kind, Retransmission, StallCause, Timeout};
use crate::sender::{Found, Terms};

/// Tries hypotheses, if there is anything to explain, and takes their verdicts over.
pub(crate) fn rewrite(terms: Terms, entries: &[Entry], delay: Span, found: &mut Found) {
    if found.retransmissions.is_empty() && found.stalls.is_empty() {
        return;
    }
    let verdicts = verdicts(terms, entries, delay);
    if verdicts.is_empty() {
        return;
    }
    take_over(&verdicts, terms, found);
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
    for verdict in verdicts {
        let Some(kind) = verdict.kind else { continue };
        let known = all
            .iter()
            .position(|(r, _)| r.frame == verdict.sent.frame && r.seq == verdict.sent.seq);
        let index = known.unwrap_or_else(|| {
            let at = all.partition_point(|(r, _)| r.frame <= verdict.sent.frame);
            all.insert(at, (unseen_before(verdict, kind, terms), None));
            at
        });
        let (retransmission, timeout) = &mut all[index];
        retransmission.kind = kind;
        retransmission.probability = Some(verdict.probability);
        if let Some(expiry) = &verdict.says.expiry {
            let (class, state) = (expiry.class, expiry.state);
            let (flight, cwnd, waited) = (expiry.flight, expiry.cwnd, expiry.waited);
            let was = timeout.take();
            let sent = &verdict.sent;
            let (at, seq, position) = (sent.at, sent.seq, sent.position);
            let (spurious, episode) = (retransmission.spurious, was.and_then(|t| t.episode));
            *timeout = Some(Timeout {
                at,
                seq,
                position,
                retransmission: index,
                class,
                state,
                flight,
                cwnd,
                waited,
                spurious,
                episode,
            });
        }
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
}

/// A retransmission of what was lost before the capture.
fn unseen_before(verdict: &Verdict, kind: Kind, terms: Terms) -> Retransmission {
    let sent = &verdict.sent;
    Retransmission {
        frame: sent.frame,
        at: sent.at,
        seq: sent.seq,
        position: sent.position,
        len: sent.payload(),
        kind,
        probability: None,
        spurious: None,
        known: false,
        lost: terms.sight.lost(),
        transmission: verdict.says.transmission,
    }
}

/// The causes of stalls, by the timeouts and probes as they are now.
fn explain_stalls(found: &mut Found) {
    for stall in &mut found.stalls {
        let within = |at| stall.start < at && at <= stall.end;
        let timeout = found.timeouts.iter().position(|timeout| within(timeout.at));
        let is_probe = |r: &Retransmission| within(r.at) && r.kind == Kind::TailLossProbe;
        stall.timeout = timeout;
        stall.cause = match (timeout.and_then(|i| found.timeouts.get(i)), stall.cause) {
            (Some(timeout), _) => StallCause::Timeout(timeout.class),
            (None, StallCause::Timeout(_) | StallCause::ProbeOrTimeout) => {
                match found.retransmissions.iter().any(is_probe) {
                    true => StallCause::TailLossProbe,
                    false => StallCause::Recovery,
                }
            }
            (None, cause) => cause,
        };
    }
}
