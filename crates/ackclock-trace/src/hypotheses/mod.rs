//! Why a segment was retransmitted, where the capture was taken away from the sender: by hypotheses.
//!
//! There, nobody sees what was lost before the capture, nor when exactly a segment was sent. But the
//! ACKs that pass are those that the sender gets. So candidates of the engine ([`candidates`]) are
//! put through them ([`script`]), and what they send is compared with what was seen ([`trial`]). A
//! candidate that agrees with it, up to a segment and for some segments after it, says why it was
//! sent; more of them that agree give probabilities.

mod candidates;
mod rewrite;
mod script;
#[cfg(test)]
mod tests;
mod trial;

use ackclock_tcp::Span;

use self::candidates::candidates;
pub(crate) use self::rewrite::rewrite;
use self::script::Script;
use self::trial::{Says, run};
use crate::connection::Kind;
use crate::sender::{Acked, Sent, Terms};

/// How many packets of one way are kept at most. Of a longer connection, the rest is explained
/// without hypotheses.
pub(crate) const MOST: usize = 2048;

/// How many segments are compared at most, over all candidates; the commonest of these come first.
const MOST_WORK: usize = 1 << 20;

/// Initial windows in use (RFC 5681, RFC 3390, RFC 6928).
const INITIAL_WINDOWS: [u32; 4] = [2, 3, 4, 10];
/// Segments after one that a candidate has to agree with, too.
const AHEAD: usize = 24;
/// A candidate that costs more up to there does not agree.
const AGREES: f32 = 14.0;
/// And so much more for each segment before.
const PATIENCE: f32 = 0.3;
/// A candidate is given up that costs so much more than the best one so far.
const HOPELESS: f32 = 24.0;
/// Costs are divided by this, so that probabilities come out as measured.
const TEMPERATURE: f32 = 1.5;

/// A packet as a hypothesis needs it: in order of the capture, ACKs with the time at which they
/// passed it.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Sent(Sent),
    Acked(Acked),
}

impl Entry {
    fn sent(&self) -> Option<&Sent> {
        if let Entry::Sent(sent) = self { Some(sent) } else { None }
    }

    fn acked(&self) -> Option<&Acked> {
        if let Entry::Acked(acked) = self { Some(acked) } else { None }
    }
}

/// What is most probable of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub sent: Sent,
    /// `None` of a first transmission.
    pub kind: Option<Kind>,
    pub probability: f64,
    says: Says,
}

/// Whether there is any use in keeping what passes. At the sender there is nothing to guess, and
/// without the round trip of a handshake nothing says when the sender begins, nor with which timer.
pub(crate) fn may_try(terms: &Terms) -> bool {
    !terms.at_sender() && terms.handshake_rtt.is_some()
}

/// Of each segment that was seen and that any hypothesis accounts for.
pub(crate) fn verdicts(terms: Terms, entries: &[Entry], delay: Span) -> Vec<Verdict> {
    if delay == Span::ZERO {
        // Without the time between the capture and the sender nothing can be compared.
        return Vec::new();
    }
    let Some(plain) = Script::new(terms, entries, delay, false) else { return Vec::new() };
    let pauses = plain.pauses;
    let mut scripts = vec![(0.0, plain)];
    if pauses > 0.0
        && let Some(paused) = Script::new(terms, entries, delay, true)
    {
        scripts.push((pauses, paused));
    }
    let all = tried(&scripts, terms.sack);
    let longest = all.iter().map(Vec::len).max().unwrap_or(0);
    let sent = entries.iter().filter_map(Entry::sent).enumerate();
    // The last segments have fewer ahead of them.
    let until = |index: usize| (index + AHEAD).min(longest.saturating_sub(1));
    sent.filter_map(|(index, sent)| verdict(sent, index, until(index), &all)).collect()
}

/// What each candidate says of each segment, as far as it was not given up.
fn tried(scripts: &[(f32, Script)], sack: bool) -> Vec<Vec<Says>> {
    let mut all: Vec<Vec<Says>> = Vec::new();
    let mut work = 0;
    for &(base, ref script) in scripts {
        let mut least = AGREES + PATIENCE * script.segments as f32;
        let first = script.first_flight.max(1);
        let larger = |w: &u32| *w > first && *w as usize <= script.segments.max(2);
        for window in [first].into_iter().chain(INITIAL_WINDOWS.into_iter().filter(larger)) {
            for candidate in candidates(sack) {
                let phases = if candidate.ticks { &script.phases[..] } else { &[Span::ZERO] };
                for phase in phases {
                    if work > MOST_WORK {
                        return all;
                    }
                    let mut says = run(script, candidate, window, *phase, least + HOPELESS - base);
                    says.iter_mut().for_each(|says| says.cost += base);
                    if says.len() == script.segments {
                        least = least.min(says.last().map_or(0.0, |says| says.cost));
                    }
                    work += says.len();
                    all.push(says);
                }
            }
        }
    }
    all
}

/// What is most probable of a segment, by the candidates that agree as far as to segment `until`.
fn verdict(sent: &Sent, index: usize, until: usize, all: &[Vec<Says>]) -> Option<Verdict> {
    let agreed = |says: &Vec<Says>| Some((says.get(until)?.cost, *says.get(index)?));
    let agreeing: Vec<(f32, Says)> = all.iter().filter_map(agreed).collect();
    let least = agreeing.iter().map(|(cost, _)| *cost).reduce(f32::min)?;
    if least > AGREES + PATIENCE * index as f32 {
        return None;
    }
    let (mut sum, mut kinds) = (0.0, [0.0_f64; Kind::ALL.len() + 1]);
    let place = |kind: Option<Kind>| {
        Kind::ALL.iter().position(|k| Some(*k) == kind).unwrap_or(Kind::ALL.len())
    };
    for (cost, says) in &agreeing {
        let weight = f64::from((least - cost) / TEMPERATURE).exp();
        sum += weight;
        kinds[place(says.kind)] += weight;
    }
    let (most, weight) = kinds.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let kind = Kind::ALL.get(most).copied();
    let of_kind = agreeing.iter().filter(|(_, says)| says.kind == kind);
    let (_, says) = of_kind.min_by(|a, b| a.0.total_cmp(&b.0))?;
    // To a thousandth, so that it is the same on every machine.
    let probability = (1000.0 * weight / sum).round() / 1000.0;
    Some(Verdict { sent: *sent, kind, probability, says: *says })
}
