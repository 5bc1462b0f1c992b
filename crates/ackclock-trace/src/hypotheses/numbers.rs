//! What numbers of packets (IPv4 identification) rule out.

use std::collections::BTreeSet;

use super::{Entry, Verdict};
use crate::connection::Kind;
use crate::sender::Sent;

/// By how much each number is above the one before, where both are known.
fn steps<'a>(sent: impl Iterator<Item = &'a Sent> + Clone) -> impl Iterator<Item = u16> {
    let step = |(a, b): (&Sent, &Sent)| Some(b.ip_id?.wrapping_sub(a.ip_id?));
    sent.clone().zip(sent.skip(1)).filter_map(step)
}

/// Whether the sender numbers the packets of this connection one by one, as Linux does: at least
/// every second one follows the one before.
pub(super) fn are_counted<'a>(sent: impl Iterator<Item = &'a Sent> + Clone) -> bool {
    let next = steps(sent.clone()).filter(|step| *step == 1).count();
    next > 0 && next >= sent.count() / 2
}

/// Whether packets are missing between the segments that were seen, by their numbers.
pub(super) fn are_missing<'a>(sent: impl Iterator<Item = &'a Sent> + Clone) -> bool {
    are_counted(sent.clone()) && sent.skip(1).any(|sent| sent.skipped > 0)
}

/// Takes back verdicts that the packets themselves rule out. `verdicts`: of each segment that was
/// seen.
///
/// - What looks like new data was not sent before if the numbers leave no packet that can have
///   carried it: behind the new data that was seen before, and ahead of this segment. So it is,
///   too, where the number of this one alone says that nothing is missing between both.
/// - Without numbers it was not sent before unless a timer sent it, or the new data just before it.
///   What an ACK lets out beyond all that was seen looks the same if it is new: only the window of
///   a candidate says that it is not, and that one is too large where an ACK did not reach the
///   sender. The silence before a timer is seen.
/// - A timer had not expired before and sent the same, if that was not seen, and no number is
///   missing before this one, or behind the new data that was seen before.
/// - What is known to be an original, and late, was not sent before.
pub(super) fn forbid(entries: &[Entry], verdicts: &mut [Option<Verdict>]) {
    let sent = || entries.iter().filter_map(Entry::sent);
    let counted = are_counted(sent());
    let (mut missing, mut by_timer) = (Missing::default(), false);
    let (mut max, mut last, mut again) = (0, None, BTreeSet::new());
    let of_sender = entries.iter().filter_map(|entry| Some((entry, entry.sent()?)));
    for ((entry, sent), verdict) in of_sender.zip(verdicts) {
        let kind = verdict.and_then(|verdict| verdict.kind);
        let mut is_next = false;
        if let Some(number) = sent.ip_id.filter(|_| counted) {
            is_next = missing.passed(number);
        }
        let is_other = last.replace(sent.position) != Some(sent.position);
        let forbidden = if sent.position >= max {
            let is_claim = kind.is_some() && !sent.all_seen;
            by_timer = is_claim && (by_timer || kind.is_some_and(Kind::is_by_timer));
            let may = if counted { missing.carries(is_claim) } else { by_timer };
            kind.is_some() && !(is_claim && may)
        } else {
            let is_first =
                if sent.all_seen { !again.contains(&sent.position) } else { is_next && is_other };
            is_first && kind == Some(Kind::BackedOffTimeout) || matches!(entry, Entry::Late(_))
        };
        if sent.end() > max {
            max = sent.end();
            again.clear();
        } else {
            again.insert(sent.position);
        }
        if forbidden {
            *verdict = None;
        }
    }
}

/// Packets that were not seen, by the numbers of those that were.
#[derive(Default)]
struct Missing {
    highest: Option<u16>,
    /// Behind the last new data; not known before there was any, and without numbers.
    behind: Option<u16>,
}

impl Missing {
    /// A packet with this number passes. Returns whether it has the next one.
    fn passed(&mut self, number: u16) -> bool {
        let step = self.highest.map_or(1, |highest| number.wrapping_sub(highest));
        if step > u16::MAX / 2 {
            // One that was missing has come late.
            self.behind = self.behind.map(|n| n.saturating_sub(1));
        } else if step > 0 {
            self.behind = self.behind.map(|n| n.saturating_add(step - 1));
            self.highest = Some(number);
        }
        step == 1
    }

    /// What looks like new data has passed, `again` if it is said to have been sent before. Returns
    /// whether there may be a packet that carried it then.
    fn carries(&mut self, again: bool) -> bool {
        let may = again && self.behind != Some(0);
        self.behind = match may {
            true => self.behind.map(|n| n - 1),
            false => self.highest.map(|_| 0),
        };
        may
    }
}

#[cfg(test)]
mod tests;
