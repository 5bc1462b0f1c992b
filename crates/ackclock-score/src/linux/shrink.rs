//! What of a scenario makes the difference: the smallest one that still shows it.

use std::io;

use ackclock_replay::Vector;

use super::record_all;
use super::scenario::Scenario;

/// Rounds of recordings before what was found is good enough.
const ROUNDS: usize = 40;
/// How many segments a mishap is worth.
const MISHAP: u64 = 10;

/// The smallest scenario found for which `differs` holds, and its recording: in each round
/// everything that is a little smaller is recorded, and the smallest one that differs is kept.
/// `None` if not even the scenario itself differs when it is recorded again.
///
/// # Errors
/// What setting up namespaces returns.
pub fn shrink(
    scenario: &Scenario,
    jobs: usize,
    differs: impl Fn(&Vector) -> bool,
) -> io::Result<Option<(Scenario, Vector)>> {
    let mut best = None;
    let mut round = vec![scenario.clone()];
    for _ in 0..ROUNDS {
        let recorded = record_all(&round, jobs)?;
        let found = round
            .into_iter()
            .zip(recorded)
            .filter_map(|(scenario, vector)| Some((scenario, vector.ok()?)))
            .filter(|(_, vector)| differs(vector))
            .min_by_key(|(scenario, _)| size(scenario));
        let Some(found) = found else { break };
        round = smaller(&found.0);
        best = Some(found);
    }
    Ok(best)
}

fn size(s: &Scenario) -> u64 {
    let mishaps = s.drop.len()
        + s.mark.len()
        + s.late.len()
        + s.twice.len()
        + s.drop_acks.len()
        + s.late_acks.len()
        + s.holds.len()
        + s.writes.len();
    mishaps as u64 * MISHAP + s.bytes() / s.payload()
}

/// All that are a little smaller: without one thing or half of the things that happen, or with less
/// data.
fn smaller(s: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    macro_rules! without {
        ($($list:ident)*) => {$(
            for list in shorter(&s.$list) {
                all.push(Scenario { $list: list, ..s.clone() });
            }
        )*};
    }
    without!(drop mark late twice drop_acks late_acks holds);
    if s.writes.len() > 1 {
        for writes in shorter(&s.writes) {
            all.push(Scenario { writes, ..s.clone() });
        }
    }
    let mss = s.payload();
    if let Some((last, before)) = s.writes.split_last() {
        for bytes in [last.1 / 2, last.1 * 3 / 4, last.1.saturating_sub(mss)] {
            let bytes = bytes / mss * mss;
            if bytes > 0 && bytes < last.1 {
                let writes = [before, &[(last.0, bytes)]].concat();
                all.push(Scenario { writes, ..s.clone() });
            }
        }
    }
    all
}

/// A list without one of its elements, or without one of its halves.
fn shorter<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> =
        (0..list.len()).map(|i| [&list[..i], &list[i + 1..]].concat()).collect();
    if list.len() > 3 {
        let (first, second) = list.split_at(list.len() / 2);
        all.extend([first.to_vec(), second.to_vec()]);
    }
    all
}
