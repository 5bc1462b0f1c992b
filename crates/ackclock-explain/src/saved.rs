//! Replays timeouts: what would have avoided them.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

use ackclock_run::in_parallel;

use crate::error::Error;
use crate::explained::{End, Explained, Saved};
use crate::replay::{Sender, replay};

/// The most timeouts that are replayed of a set of captures: those for which was waited longest.
const MOST: usize = 400;

/// Finds out what would have avoided the timeouts, on `jobs` threads (0: one per processor).
///
/// # Errors
/// [`Error::Usage`] if there can be no such threads.
pub fn save(explained: &mut Explained, jobs: u16) -> Result<(), Error> {
    let mut candidates: Vec<(usize, End, usize)> = Vec::new();
    let counted: HashSet<usize> = explained.counted().map(|found| found.number).collect();
    for (index, found) in explained.connections.iter().enumerate() {
        if !counted.contains(&found.number) {
            continue;
        }
        for (end, timeout, t) in found.timeouts() {
            if t.episode.is_some() {
                candidates.push((index, end, timeout));
            }
        }
    }
    let flow = |index: usize, end| {
        let found: &crate::Found = &explained.connections[index];
        found.flow(end)
    };
    let timeout =
        |&(index, end, timeout): &(usize, End, usize)| &flow(index, end).timeouts[timeout];
    explained.replayable = candidates.len();
    candidates.sort_by_key(|c| std::cmp::Reverse(timeout(c).waited));
    candidates.truncate(MOST);
    explained.replayed = candidates.len();
    candidates.sort_unstable();
    let senders = senders(explained);
    let sender = |&(index, end, _): &(usize, End, usize)| {
        let found: &crate::Found = &explained.connections[index];
        senders.get(&found.address(end)).copied().unwrap_or_default()
    };
    let longest = |&(index, end, _): &(usize, End, usize)| flow(index, end).rtt.map(|rtt| rtt.p99);
    let rescues = in_parallel(&candidates, jobs, |c| Ok(replay(timeout(c), sender(c), longest(c))));
    let rescues = rescues.map_err(|e| Error::Usage(format!("--jobs: {e}")))?;
    for ((index, from, timeout), by) in candidates.into_iter().zip(rescues) {
        explained.connections[index].saved.push(Saved { from, timeout, by });
    }
    Ok(())
}

/// What all connections of a host tell of it as a sender.
fn senders(explained: &Explained) -> BTreeMap<IpAddr, Sender> {
    let mut all: BTreeMap<IpAddr, Sender> = BTreeMap::new();
    for found in &explained.connections {
        for (end, flow) in found.flows() {
            all.entry(found.address(end)).or_default().add(flow.ways.probes);
        }
    }
    all
}

#[cfg(test)]
mod tests;
