//! What numbers of packets (IPv4 identification) rule out.

use super::{Entry, Verdict};
use crate::connection::Kind;
use crate::sender::Sent;

/// Whether the sender numbers the packets of this connection one by one, as Linux does: at least
/// every second one follows the one before.
pub(super) fn are_counted<'a>(sent: impl Iterator<Item = &'a Sent> + Clone) -> bool {
    let step = |(a, b): (&Sent, &Sent)| Some(b.ip_id?.wrapping_sub(a.ip_id?));
    let next = sent.clone().zip(sent.clone().skip(1)).filter(|pair| step(*pair) == Some(1)).count();
    next > 0 && next >= sent.count() / 2
}

/// Takes back verdicts that the packets themselves rule out. `verdicts`: of each segment that was
/// seen.
///
/// - What looks like new data was not sent before if the numbers leave no packet that can have
///   carried it: behind the new data that was seen before, and ahead of this segment.
/// - Without numbers it was not sent before unless a timer sent it, or the new data just before it.
///   What an ACK lets out beyond all that was seen looks the same if it is new: only the window of
///   a candidate says that it is not, and that one is too large where an ACK did not reach the
///   sender. The silence before a timer is seen.
/// - What is known to be an original, and late, was not sent before.
pub(super) fn forbid(entries: &[Entry], verdicts: &mut [Option<Verdict>]) {
    let sent = || entries.iter().filter_map(Entry::sent);
    let counted = are_counted(sent());
    let (mut missing, mut by_timer) = (Missing::default(), false);
    let mut max = 0;
    let of_sender = entries.iter().filter_map(|entry| Some((entry, entry.sent()?)));
    for ((entry, sent), verdict) in of_sender.zip(verdicts) {
        let is_claim = verdict.is_some_and(|verdict| verdict.kind.is_some());
        if let Some(number) = sent.ip_id.filter(|_| counted) {
            missing.passed(number);
        }
        let forbidden = if sent.position >= max {
            by_timer =
                is_claim && (by_timer || verdict.is_some_and(|v| v.kind.is_some_and(is_timed)));
            let may = if counted { missing.carries(is_claim) } else { by_timer };
            is_claim && !may
        } else {
            matches!(entry, Entry::Late(_))
        };
        max = max.max(sent.end());
        if forbidden {
            *verdict = None;
        }
    }
}

/// A timer sends it, and no ACK.
const fn is_timed(kind: Kind) -> bool {
    matches!(kind, Kind::Timeout | Kind::BackedOffTimeout | Kind::TailLossProbe)
}

/// Packets that were not seen, by the numbers of those that were.
#[derive(Default)]
struct Missing {
    highest: Option<u16>,
    /// Behind the last new data; not known before there was any, and without numbers.
    behind: Option<u16>,
}

impl Missing {
    /// A packet with this number passes.
    fn passed(&mut self, number: u16) {
        let step = self.highest.map_or(1, |highest| number.wrapping_sub(highest));
        if step > u16::MAX / 2 {
            // One that was missing has come late.
            self.behind = self.behind.map(|n| n.saturating_sub(1));
        } else if step > 0 {
            self.behind = self.behind.map(|n| n.saturating_add(step - 1));
            self.highest = Some(number);
        }
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
mod tests {
    use super::super::tests::{MSS, seen};
    use super::super::trial::Says;
    use super::*;

    /// Segments in this order with these numbers, and which of the verdicts that all
    /// but the first were sent before, by a timer, are left.
    fn left(segments: &[u64], set: impl Fn(usize, &mut Sent)) -> Vec<u64> {
        let kinds: Vec<_> = (0..segments.len()).map(|n| (n > 0).then_some(Kind::Timeout)).collect();
        left_of(segments, &kinds, set)
    }

    /// The same with verdicts of these kinds.
    fn left_of(
        segments: &[u64],
        kinds: &[Option<Kind>],
        set: impl Fn(usize, &mut Sent),
    ) -> Vec<u64> {
        let mut entries: Vec<Entry> =
            segments.iter().enumerate().map(|(t, n)| seen(t as f64, *n)).collect();
        for (place, entry) in entries.iter_mut().enumerate() {
            if let Entry::Sent(sent) = entry {
                set(place, sent);
            }
        }
        left_of_entries(&entries, kinds)
    }

    fn left_of_entries(entries: &[Entry], kinds: &[Option<Kind>]) -> Vec<u64> {
        let verdict = |(sent, kind): (&Sent, &Option<Kind>)| {
            let (probability, doubt, says) = (0.9, 0.0, Says::default());
            Some(Verdict { sent: *sent, kind: *kind, probability, doubt, says })
        };
        let sent = entries.iter().filter_map(Entry::sent);
        let mut verdicts: Vec<_> = sent.zip(kinds).map(verdict).collect();
        forbid(entries, &mut verdicts);
        let claims = verdicts.iter().flatten().filter(|verdict| verdict.kind.is_some());
        claims.map(|verdict| verdict.sent.position / MSS).collect()
    }

    fn numbered(segments: &[u64], numbers: &[u16]) -> Vec<u64> {
        left(segments, |place, sent| sent.ip_id = Some(numbers[place]))
    }

    #[test]
    fn what_no_missing_packet_can_have_carried_was_not_sent_before() {
        assert_eq!(numbered(&[0, 1, 2, 3], &[65_534, 65_535, 0, 1]), []);
        // Each missing packet carried one segment at most.
        assert_eq!(numbered(&[0, 1, 2, 3], &[1, 3, 4, 5]), [1]);
        assert_eq!(numbered(&[0, 1, 2, 3], &[1, 4, 5, 6]), [1, 2]);
        // One that came late was not lost.
        assert_eq!(numbered(&[0, 1, 2, 3, 0, 4, 5, 6], &[1, 2, 3, 4, 6, 5, 7, 8]), [0]);
        // A duplicate has the number of its original.
        assert_eq!(numbered(&[0, 0, 1, 2, 3], &[1, 1, 2, 3, 4]), [0]);
        // Other numbers say nothing.
        assert_eq!(numbered(&[0, 1, 2, 3], &[7, 7, 7, 7]), [1, 2, 3]);
        assert_eq!(numbered(&[0, 1, 2, 3], &[7, 900, 20, 4]), [1, 2, 3]);
    }

    /// What an ACK may have let out as new data.
    #[test]
    fn without_numbers_it_takes_a_timer_to_know_what_was_lost_unseen() {
        let [none, timeout, slow_start] = [None, Some(Kind::Timeout), Some(Kind::SlowStart)];
        let recovery = Some(Kind::Recovery);
        let segments: Vec<u64> = (0..9).collect();
        let kinds =
            [none, slow_start, recovery, timeout, slow_start, recovery, none, slow_start, recovery];
        let plain = |kinds: &[Option<Kind>]| left_of(&segments, kinds, |_, _| {});
        assert_eq!(plain(&kinds), [3, 4, 5]);
        let first = |kind| plain(&[&[none, Some(kind)], &kinds[2..]].concat());
        for timer in [Kind::BackedOffTimeout, Kind::TailLossProbe] {
            assert_eq!(first(timer), [1, 2, 3, 4, 5]);
        }
        assert_eq!(first(Kind::FastRetransmit), [3, 4, 5]);
        // What fills a hole was sent again, and no timer of new data.
        let order = [0, 1, 3, 2, 4];
        let hole = [none, none, none, timeout, slow_start];
        assert_eq!(left_of(&order, &hole, |_, _| {}), [2]);
        let filled = [none, none, timeout, slow_start, slow_start];
        assert_eq!(left_of(&order, &filled, |_, _| {}), [3, 2, 4]);
        // With numbers, the missing ones know.
        let numbers = [1, 2, 4, 6, 7, 8, 9, 10, 11];
        let known = left_of(&segments, &kinds, |place, sent| sent.ip_id = Some(numbers[place]));
        assert_eq!(known, [2, 3]);
    }

    /// 1 comes behind 2, and the model knows that it was sent before it, or not.
    #[test]
    fn a_late_original_was_not_sent_before() {
        let [first, behind, filled] = [(1.0, 0), (2.0, 2), (3.0, 1)].map(|(t, n)| seen(t, n));
        let kinds = [None, None, Some(Kind::Recovery)];
        let late = Entry::Late(*filled.sent().expect("sent"));
        let all = [first, behind];
        assert_eq!(left_of_entries(&[&all[..], &[filled]].concat(), &kinds), [1]);
        assert_eq!(left_of_entries(&[&all[..], &[late]].concat(), &kinds), []);
    }
}
