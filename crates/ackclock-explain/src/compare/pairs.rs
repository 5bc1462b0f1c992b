//! Which connections are in both captures.

use std::collections::HashMap;
use std::hash::Hash;

use super::conversations::{Conversation, Conversations};

/// The connections of two captures.
#[derive(Default)]
pub(super) struct Pairs<'a> {
    /// In both, and known from their beginning on in both; in the order of the first capture.
    pub whole: Vec<[&'a Conversation; 2]>,
    /// In both, and a SYN is missing in one of them, or memory was full.
    pub left_out: u64,
    /// In both, and in neither of them the SYN was answered by a SYN.
    pub unanswered: Vec<[&'a Conversation; 2]>,
    /// In one alone.
    pub alone: [u64; 2],
    /// SYNs of these without an answer.
    pub unheard: [u64; 2],
}

impl<'a> Pairs<'a> {
    /// Connections are the same if both ends chose the same numbers: addresses and ports may be
    /// translated in between. If a SYN is missing, addresses and ports have to be the same.
    pub fn of(captures: [&'a Conversations; 2]) -> Pairs<'a> {
        let mut open = captures.map(|conversations| conversations.all.iter().collect());
        let ends = |c: &Conversation| (c.client, c.server);
        let isns = |c: &Conversation| Some((c.isns[0]?, c.isns[1]?));
        let mut found = Vec::new();
        // Simulated connections may all begin with the same numbers.
        take(&mut open, &mut found, false, |c| Some((isns(c)?, ends(c))));
        take(&mut open, &mut found, true, isns);
        take(&mut open, &mut found, false, |c| Some((c.isns[0]?, ends(c))));
        take(&mut open, &mut found, true, |c| c.isns[0]);
        take(&mut open, &mut found, false, |c| {
            Some((c.client.min(c.server), c.client.max(c.server)))
        });
        let unheard = open.each_ref().map(|alone| {
            // Whose client goes on has an answer, which is not in the capture.
            let silent = |c: &&&Conversation| c.sent[0].is_empty();
            let unanswered = alone.iter().filter(|c| matches!(c.isns, [Some(_), None]));
            let unanswered = unanswered.filter(silent);
            unanswered.map(|c| c.opened[0]).sum()
        });
        let alone = open.map(|alone| alone.len() as u64);
        let mut pairs = Pairs { alone, unheard, ..Pairs::default() };
        for pair in found {
            if pair.iter().all(|c| c.is_whole()) {
                pairs.whole.push(pair);
            } else if pair.iter().all(|c| matches!(c.isns, [Some(_), None])) {
                pairs.unanswered.push(pair);
            } else {
                pairs.left_out += 1;
            }
        }
        pairs.whole.sort_by_key(|pair| pair[0].start);
        pairs
    }
}

/// Moves connections with the same key from `open` to `found`. If they are to be `unique`, there
/// may be no other with this key in either.
fn take<'a, K: Eq + Hash>(
    open: &mut [Vec<&'a Conversation>; 2],
    found: &mut Vec<[&'a Conversation; 2]>,
    unique: bool,
    key: impl Fn(&Conversation) -> Option<K>,
) {
    let [first, second] = open;
    // Of each key, how many the first has, and which the second has.
    let mut by_key: HashMap<K, (usize, Vec<usize>)> = HashMap::new();
    for (place, other) in second.iter().enumerate() {
        key(other).into_iter().for_each(|key| by_key.entry(key).or_default().1.push(place));
    }
    for one in first.iter() {
        key(one).and_then(|key| by_key.get_mut(&key)).into_iter().for_each(|same| same.0 += 1);
    }
    let mut taken = vec![false; second.len()];
    first.retain(|one| {
        let Some((times, places)) = key(one).and_then(|key| by_key.get_mut(&key)) else {
            return true;
        };
        if unique && (*times, places.len()) != (1, 1) {
            return true;
        }
        let Some(next) = places.iter().position(|place| may_be_same(one, second[*place])) else {
            return true;
        };
        let place = places.remove(next);
        taken[place] = true;
        found.push([one, second[place]]);
        false
    });
    let mut taken = taken.into_iter();
    second.retain(|_| taken.next() != Some(true));
}

/// Whether no number that both know differs.
fn may_be_same(one: &Conversation, other: &Conversation) -> bool {
    one.isns.iter().zip(&other.isns).all(|(a, b)| a.is_none() || b.is_none() || a == b)
}
