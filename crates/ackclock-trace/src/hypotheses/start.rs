//! Where candidates begin: with the connection, or at a quiet moment within it.

use ackclock_tcp::{Span, Time};

use super::Entry;
use super::numbers::are_counted;
use crate::sender::{Opening, Sent, Terms};

/// Initial windows in use (RFC 5681, RFC 3390, RFC 6928).
pub(super) const INITIAL_WINDOWS: [u32; 4] = [2, 3, 4, 10];

/// So many ACKs before the last one that advanced, candidates begin anew: enough for them to
/// measure round trips, and few enough to know what is outstanding.
const ACKS_BEFORE: usize = 8;
/// How often they do at most in a connection.
const MOST_POINTS: usize = 32;
/// Segments that an outage loses at most: candidates that begin with it send all of them at once.
const MOST_LOST: u64 = 512;

/// Where candidates begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Start {
    /// Between the capture and the sender and back.
    pub delay: Span,
    /// The first entry, and the position of its first byte, if they begin within the connection.
    pub resumed: Option<(usize, u64)>,
    /// They begin with an outage.
    pub outage: Option<Outage>,
    /// The initial window that the delay was learned with, in segments, if it was.
    pub window: Option<u32>,
}

/// All that was outstanding was lost before the capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outage {
    /// When the sender got the last ACK before it.
    pub at: Time,
    /// In segments.
    pub outstanding: u32,
}

/// Outages that the numbers of packets prove. What ends one looks like new data, and the next
/// segment shows a hole behind it. If fewer packets are missing between both than fill the hole, it
/// was sent before, and so was what ended the outage. `delay`: as in [`Start`].
pub(super) fn outages(mss: u32, entries: &[Entry], delay: Span) -> Vec<Start> {
    let places = || entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.sent()?)));
    if !are_counted(places().map(|(_, sent)| sent)) {
        return Vec::new();
    }
    let (mut all, mut max) = (Vec::new(), 0);
    for ((place, first), (_, next)) in places().zip(places().skip(1)) {
        let is_new = first.position == max && first.position > 0;
        max = max.max(first.end());
        let needed = next.position.saturating_sub(max).div_ceil(u64::from(mss.max(1)));
        let step = first.ip_id.zip(next.ip_id).map(|(a, b)| b.wrapping_sub(a));
        let proven = is_new && step.is_some_and(|step| step > 0 && u64::from(step) <= needed);
        if !proven || needed >= MOST_LOST {
            continue;
        }
        // All before it was acknowledged when it went out.
        let mut acks = entries[..place].iter().filter_map(Entry::acked);
        let all_before = acks.find(|a| a.ack >= first.position).map(|a| a.at + delay);
        if let Some(at) = all_before.filter(|at| *at <= first.at) {
            let outage = Outage { at, outstanding: needed as u32 + 1 };
            let resumed = Some((place, first.position));
            all.push(Start { delay, resumed, outage: Some(outage), window: None });
        }
    }
    all.truncate(MOST_POINTS);
    all
}

/// Where candidates begin with the connection. If nothing has measured the `delay` between the
/// capture and the sender, the first ACK has let out the first segment after the initial window; so
/// the delay follows from each initial window in use.
pub(super) fn beginnings(terms: Terms, entries: &[Entry], delay: Span) -> Vec<Start> {
    if terms.opening == Opening::Unseen {
        return Vec::new();
    }
    if delay > Span::ZERO {
        return vec![Start { delay, resumed: None, outage: None, window: None }];
    }
    let Some(first) = entries.iter().filter_map(Entry::acked).find(|a| a.ack > 0) else {
        return Vec::new();
    };
    let after = |window: u32| {
        let end = u64::from(window) * u64::from(terms.mss);
        let next = entries.iter().filter_map(Entry::sent).find(|s| s.position >= end)?;
        let delay = next.at.since(first.at);
        let window = Some(window);
        (delay > Span::ZERO).then_some(Start { delay, resumed: None, outage: None, window })
    };
    [1].into_iter().chain(INITIAL_WINDOWS).filter_map(after).collect()
}

/// Moments within a connection at which nothing is being repaired, found as its segments go by.
pub(super) struct Points<'a> {
    entries: &'a [Entry],
    delay: Span,
    /// New segments that went out at such moments: entry and position.
    quiet: Vec<(usize, u64)>,
    /// What was acknowledged, step by step.
    acked: Vec<u64>,
    /// When the sender got the last of these.
    acked_at: Time,
    /// The next entry that may be an ACK which has not reached the sender yet.
    next: usize,
    /// The ACK that has reached the sender last had SACK blocks, or was a duplicate.
    disorder: bool,
    /// Nothing is quiet before all up to here is acknowledged.
    repaired: u64,
    /// Position after all that was seen.
    max: u64,
    /// The entry at which candidates began last.
    used: Option<usize>,
    /// How often they began.
    points: usize,
}

impl<'a> Points<'a> {
    pub fn new(entries: &'a [Entry], delay: Span) -> Points<'a> {
        Points {
            entries,
            delay,
            quiet: Vec::new(),
            acked: Vec::new(),
            acked_at: Time::ZERO,
            next: 0,
            disorder: false,
            repaired: 0,
            max: 0,
            used: None,
            points: 0,
        }
    }

    /// `sent` is the next segment, of entry `at`. Where candidates may begin that explain it, if
    /// there is anything to explain, and that is not `known`.
    pub fn before(&mut self, at: usize, sent: &Sent, known: bool) -> Option<Start> {
        self.arrive(sent.at);
        let una = self.acked.last().copied().unwrap_or(0);
        let all_acked = self.max > 0 && una >= self.max;
        let grain = Span(self.delay.0 / 8).max(Span::from_millis(2));
        let (again, hole) = (sent.position < self.max, sent.position > self.max);
        let looks_odd = again || hole || all_acked && sent.at.since(self.acked_at) > grain;
        self.max = self.max.max(sent.end());
        if again {
            self.repaired = self.max;
        }
        if !looks_odd && !self.disorder && una >= self.repaired {
            self.quiet.push((at, sent.position));
        }
        if known || !looks_odd || self.points >= MOST_POINTS {
            return None;
        }
        let early = self.acked.iter().rev().nth(ACKS_BEFORE).copied().unwrap_or(0);
        let point = self.quiet.iter().rfind(|(_, position)| *position <= early)?;
        if self.used.is_some_and(|used| used >= point.0) {
            return None;
        }
        self.used = Some(point.0);
        self.points += 1;
        Some(Start { delay: self.delay, resumed: Some(*point), outage: None, window: None })
    }

    /// The ACKs that have reached the sender by `now`.
    fn arrive(&mut self, now: Time) {
        while let Some(entry) = self.entries.get(self.next)
            && entry.at() + self.delay <= now
        {
            self.next += 1;
            let Some(acked) = entry.acked() else { continue };
            let una = self.acked.last().copied().unwrap_or(0);
            if acked.ack > una {
                self.acked.push(acked.ack);
                self.acked_at = acked.at + self.delay;
                self.disorder = acked.sacks > 0;
            } else if acked.ack == una && una > 0 {
                self.disorder = true;
            }
        }
    }
}
