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
fn left_of(segments: &[u64], kinds: &[Option<Kind>], set: impl Fn(usize, &mut Sent)) -> Vec<u64> {
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
        let (sent, kind, by_either_timer) = (*sent, *kind, false);
        Some(Verdict { sent, kind, probability, by_either_timer, doubt, says })
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

/// Segment 0 goes again, by a timer that is said to have expired before: then a packet is missing,
/// or it was seen.
#[test]
fn a_timer_that_expired_before_has_sent_a_packet() {
    let (none, backed_off) = (None, Some(Kind::BackedOffTimeout));
    let left = |segments: &[u64], numbers: &[u16]| {
        let kinds: Vec<_> = (1..=segments.len())
            .map(|n| if n < segments.len() { none } else { backed_off })
            .collect();
        left_of(segments, &kinds, |place, sent| sent.ip_id = Some(numbers[place]))
    };
    assert_eq!(left(&[0, 1, 2, 0], &[1, 2, 3, 4]), []);
    assert_eq!(left(&[0, 1, 2, 0], &[1, 2, 3, 5]), [0]);
    assert_eq!(left(&[0, 1, 2, 0, 0], &[1, 2, 3, 4, 5]), [0]);
    assert_eq!(left(&[0, 1, 2, 0], &[7, 7, 7, 7]), [0]);
}

/// The number of a segment alone tells that nothing is missing since the newest data, also where
/// numbers of ACKs lie between those of segments: what looks new is, and a timer has not expired
/// before unless its segment was seen.
#[test]
fn what_follows_the_newest_data_in_sight_is_no_repetition() {
    let kinds = |segments: &[u64], last| -> Vec<_> {
        (1..=segments.len()).map(|n| (n == segments.len()).then_some(last)).collect()
    };
    let left = |segments: &[u64], last, all_seen| {
        left_of(segments, &kinds(segments, last), |place, sent| {
            (sent.ip_id, sent.all_seen) = (Some(9 * place as u16), all_seen);
        })
    };
    for kind in [Kind::Timeout, Kind::BackedOffTimeout, Kind::TailLossProbe] {
        assert_eq!((left(&[0, 1], kind, true), left(&[0, 1], kind, false)), (vec![], vec![1]));
    }
    let backed_off = Kind::BackedOffTimeout;
    assert_eq!(left(&[0, 1, 1], backed_off, true), []);
    assert_eq!(left(&[0, 1, 1], backed_off, false), [1]);
    // The first one was seen; what went again before was another segment, or before new data.
    assert_eq!(left(&[0, 1, 1, 1], backed_off, true), [1]);
    assert_eq!(left(&[0, 1, 0, 1], backed_off, true), []);
    assert_eq!(left(&[0, 1, 1, 2, 1], backed_off, true), []);
    // A timer that expires for the first time has sent it.
    assert_eq!(left(&[0, 1, 1], Kind::Timeout, true), [1]);
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
