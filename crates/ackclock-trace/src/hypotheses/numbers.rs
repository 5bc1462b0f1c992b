//! What the numbers of packets (IPv4 identification) say of packets that were not seen.

use super::{Entry, Verdict};
use crate::sender::Sent;

/// Whether the sender numbers the packets of this connection one by one, as Linux does: at least
/// every second one follows the one before.
pub(super) fn are_counted<'a>(sent: impl Iterator<Item = &'a Sent> + Clone) -> bool {
    let step = |(a, b): (&Sent, &Sent)| Some(b.ip_id?.wrapping_sub(a.ip_id?));
    let next = sent.clone().zip(sent.clone().skip(1)).filter(|pair| step(*pair) == Some(1)).count();
    next > 0 && next >= sent.count() / 2
}

/// Takes back each verdict that what looks like new data was sent before, if the numbers leave no
/// packet that can have carried it: it went out behind the new data that was seen before, and ahead
/// of this segment. `verdicts`: of each segment that was seen.
pub(super) fn forbid(entries: &[Entry], verdicts: &mut [Option<Verdict>]) {
    let sent = || entries.iter().filter_map(Entry::sent);
    if !are_counted(sent()) {
        return;
    }
    // Packets that are missing behind the last new data; not known before there was any.
    let mut missing = None;
    let (mut highest, mut max): (Option<u16>, u64) = (None, 0);
    for (sent, verdict) in sent().zip(verdicts) {
        let Some(number) = sent.ip_id else { return };
        let step = highest.map_or(1, |highest| number.wrapping_sub(highest));
        if step > u16::MAX / 2 {
            // One that was missing has come late.
            missing = missing.map(|n: u16| n.saturating_sub(1));
        } else if step > 0 {
            missing = missing.map(|n: u16| n.saturating_add(step - 1));
            highest = Some(number);
        }
        let looks_new = sent.position >= max;
        max = max.max(sent.end());
        if !looks_new {
            continue;
        }
        let is_claim = verdict.is_some_and(|verdict| verdict.kind.is_some());
        missing = match missing {
            Some(0) if is_claim => {
                *verdict = None;
                Some(0)
            }
            _ if is_claim => missing.map(|n| n - 1),
            _ => Some(0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::seen;
    use super::super::trial::Says;
    use super::*;
    use crate::connection::Kind;

    /// Segments in this order with these numbers, and which of the verdicts that all but the first
    /// were sent before are left.
    fn left(segments: &[u64], numbers: &[u16]) -> Vec<u64> {
        let mut entries: Vec<Entry> =
            segments.iter().enumerate().map(|(t, n)| seen(t as f64, *n)).collect();
        for (entry, number) in entries.iter_mut().zip(numbers) {
            if let Entry::Sent(sent) = entry {
                sent.ip_id = Some(*number);
            }
        }
        let verdict = |(index, sent): (usize, &Sent)| Verdict {
            sent: *sent,
            kind: (index > 0).then_some(Kind::SlowStart),
            probability: 0.9,
            doubt: 0.0,
            says: Says::default(),
        };
        let sent = entries.iter().filter_map(Entry::sent);
        let mut verdicts: Vec<_> = sent.enumerate().map(|s| Some(verdict(s))).collect();
        forbid(&entries, &mut verdicts);
        let claims = verdicts.iter().flatten().filter(|verdict| verdict.kind.is_some());
        claims.map(|verdict| verdict.sent.position / super::super::tests::MSS).collect()
    }

    #[test]
    fn what_no_missing_packet_can_have_carried_was_not_sent_before() {
        assert_eq!(left(&[0, 1, 2, 3], &[65_534, 65_535, 0, 1]), []);
        // Each missing packet carried one segment at most.
        assert_eq!(left(&[0, 1, 2, 3], &[1, 3, 4, 5]), [1]);
        assert_eq!(left(&[0, 1, 2, 3], &[1, 4, 5, 6]), [1, 2]);
        // One that came late was not lost.
        assert_eq!(left(&[0, 1, 2, 4, 3, 5, 6], &[1, 2, 3, 5, 4, 6, 7]), [4, 3]);
        assert_eq!(left(&[0, 1, 2, 3, 0, 4, 5, 6], &[1, 2, 3, 4, 6, 5, 7, 8]), [0]);
        // A duplicate has the number of its original.
        assert_eq!(left(&[0, 0, 1, 2, 3], &[1, 1, 2, 3, 4]), [0]);
        // Other numbers say nothing.
        assert_eq!(left(&[0, 1, 2, 3], &[7, 7, 7, 7]), [1, 2, 3]);
        assert_eq!(left(&[0, 1, 2, 3], &[7, 900, 20, 4]), [1, 2, 3]);
    }
}
