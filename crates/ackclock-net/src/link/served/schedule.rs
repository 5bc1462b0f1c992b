//! What a link that varies is like at a time.

use crate::config::LinkConfig;
use crate::queue::Limit;
use crate::varying::{Change, InOutage, Outage};

/// The changes and outages of a link.
#[derive(Debug)]
pub(super) struct Schedule {
    rate: u64,
    delay: u64,
    changes: Vec<Change>,
    outages: Vec<Outage>,
}

/// When something that began at `at` and repeats has last begun by `now`, if it has.
fn last(at: u64, every: Option<u64>, now: u64) -> Option<u64> {
    let since = now.checked_sub(at)?;
    Some(every.map_or(at, |every| now - since % every.max(1)))
}

/// When it begins next after `now`.
fn next(at: u64, every: Option<u64>, now: u64) -> u64 {
    match (last(at, every, now), every) {
        (None, _) => at,
        (Some(last), Some(every)) => last.saturating_add(every.max(1)),
        (Some(_), None) => u64::MAX,
    }
}

impl Change {
    fn period(&self) -> Option<u64> {
        self.every.map(|every| every.0)
    }
}

impl Outage {
    fn period(&self) -> Option<u64> {
        self.every.map(|every| every.0)
    }

    /// When it ends, if it is on at `now`.
    fn ends(&self, now: u64) -> Option<u64> {
        let began = last(self.from.0, self.period(), now)?;
        Some(began.saturating_add(self.lasts.0)).filter(|&end| end > now)
    }
}

impl Schedule {
    pub(super) fn new(config: &LinkConfig) -> Schedule {
        Schedule {
            rate: config.rate.max(1),
            delay: config.delay.0,
            changes: config.varying.changes.clone(),
            outages: config.varying.outages.clone(),
        }
    }

    /// The number of the change that is in force at `now` among those that set something.
    fn in_force<T>(&self, now: u64, sets: impl Fn(&Change) -> Option<T>) -> Option<(usize, T)> {
        let set = self.changes.iter().enumerate().filter_map(|(i, change)| {
            Some((last(change.at.0, change.period(), now)?, i, sets(change)?))
        });
        set.max_by_key(|&(began, i, _)| (began, i)).map(|(_, i, value)| (i, value))
    }

    /// The propagation delay at `now`, and whether packets then overtake others.
    pub(super) fn delay(&self, now: u64) -> (u64, bool) {
        let change = self.in_force(now, |change| Some((change.delay?.0, change.overtake)));
        change.map_or((self.delay, false), |(_, set)| set)
    }

    /// The number of the change whose loss models are in force at `now`.
    pub(super) fn losses(&self, now: u64) -> Option<usize> {
        self.in_force(now, |change| change.loss.as_ref().map(|_| ())).map(|(i, ())| i)
    }

    /// How much a drop-tail queue holds at `now`, if a change set it.
    pub(super) fn limit(&self, now: u64) -> Option<Limit> {
        self.in_force(now, |change| change.limit).map(|(_, limit)| limit)
    }

    /// Whether an outage is on at `now`.
    pub(super) fn is_out(&self, now: u64) -> bool {
        self.outages.iter().any(|outage| outage.ends(now).is_some())
    }

    /// Whether an outage is on at `now` that drops what comes.
    pub(super) fn drops(&self, now: u64) -> bool {
        self.dropping().any(|outage| outage.ends(now).is_some())
    }

    /// When an outage that drops what waits begins next after `now`.
    pub(super) fn next_drop(&self, now: u64) -> u64 {
        let begin = |outage: &Outage| next(outage.from.0, outage.period(), now);
        self.dropping().map(begin).min().unwrap_or(u64::MAX)
    }

    fn dropping(&self) -> impl Iterator<Item = &Outage> {
        self.outages.iter().filter(|outage| outage.queued == InOutage::Drop)
    }

    /// The rate at `now`, and until when it stays.
    fn rate(&self, now: u64) -> (u64, u64) {
        let changes = self.changes.iter().filter(|change| change.rate.is_some());
        let changes = changes.map(|change| next(change.at.0, change.period(), now));
        let begins = self.outages.iter().map(|outage| next(outage.from.0, outage.period(), now));
        let out = self.outages.iter().filter_map(|outage| outage.ends(now)).max();
        if let Some(end) = out {
            return (0, end);
        }
        let until = changes.chain(begins).min().unwrap_or(u64::MAX);
        (self.in_force(now, |change| change.rate).map_or(self.rate, |(_, rate)| rate), until)
    }

    /// When `bytes` have been sent whose transmission begins at `start`, to the nearest nanosecond.
    pub(super) fn finish(&self, start: u64, bytes: u64) -> u64 {
        let mut left = u128::from(bytes) * 8_000_000_000;
        let mut now = start;
        loop {
            let (rate, until) = self.rate(now);
            let rate = u128::from(rate);
            // The rate is 0 in an outage.
            if let Some(takes) = (left + rate / 2).checked_div(rate) {
                let end = now.saturating_add(u64::try_from(takes).unwrap_or(u64::MAX));
                if end <= until {
                    return end;
                }
                left = left.saturating_sub(rate * u128::from(until - now));
            }
            if until == u64::MAX {
                return u64::MAX;
            }
            now = until;
        }
    }
}
