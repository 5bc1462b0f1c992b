use super::*;

/// Timestamps and arrivals in milliseconds; when each segment was sent, to 0.01 ms, as what
/// clocks may run apart is less.
fn sent(first: Option<(u32, f64)>, segments: &[(u32, f64)]) -> Vec<f64> {
    let at = |ms: f64| Time((ms * 1e6).round() as u64);
    // Both wrap or begin somewhere.
    [1, u32::MAX - 20]
        .map(|base| {
            let mut clock = SendClock::default();
            if let Some((tsval, ms)) = first {
                clock.begin(base.wrapping_add(tsval), at(ms));
            }
            let sent =
                segments.iter().map(|&(tsval, ms)| clock.sent(base.wrapping_add(tsval), at(ms)));
            sent.map(|at| (at.0 as f64 / 1e4).round() / 100.0).collect::<Vec<_>>()
        })
        .into_iter()
        .reduce(|a, b| {
            assert_eq!(a, b);
            a
        })
        .unwrap()
}

/// A round trip of 50 ms. Three segments leave together, and the bottleneck takes 4 ms for
/// each: the second and the third were sent at the end of the tick at the latest.
#[test]
fn a_burst_that_waits() {
    let burst = [(50, 154.0), (50, 158.0), (50, 162.0)];
    assert_eq!(sent(Some((0, 100.0)), &burst), [154.0, 155.0, 155.0]);
}

/// Windows sends a SYN with no time, and then one that began when the machine did.
#[test]
fn a_clock_that_begins_with_data() {
    let mut clock = SendClock::default();
    clock.begin(0, Time::ZERO);
    // 3.2 s are most of 4.5 s; it counts tenths.
    for (tsval, ms) in [(3247, 4500), (3248, 4600), (3249, 4700)] {
        assert_eq!(clock.sent(tsval, Time::ZERO + Span::from_millis(ms)).0, ms * 1_000_000);
    }
    assert!(!clock.is_known());
}

/// The SYN is shorter than data and takes less time on its way: that is no queue.
#[test]
fn the_first_data_has_waited_for_nothing() {
    assert_eq!(sent(Some((0, 100.0)), &[(50, 174.0), (100, 224.0)]), [174.0, 224.0]);
}

/// A segment that comes sooner than all before it shows that these had waited.
#[test]
fn the_least_counts() {
    let segments = [(100, 210.0), (110, 215.0), (120, 230.0)];
    assert_eq!(sent(Some((0, 100.0)), &segments), [210.0, 215.0, 226.01]);
}

/// How long each of these segments has waited, in ms.
fn waited(segments: &[(u32, f64)]) -> Vec<f64> {
    let found = sent(Some((0, 100.0)), segments);
    let waits = segments.iter().zip(found).map(|((_, at), sent)| at - sent);
    waits.map(|ms| (ms * 100.0).round() / 100.0).collect()
}

/// The sender's clock loses half a millisecond in a second: after ten minutes that is no queue
/// of 300 ms. One that builds up within a millisecond is.
#[test]
fn clocks_run_apart() {
    let at = |ms: u32| 100.0 + f64::from(ms) * 1.0005;
    let mut segments: Vec<_> = (1..6000).map(|n| (n * 100, at(n * 100))).collect();
    segments.extend([(600_000, at(600_000)), (600_001, at(600_001) + 20.0)]);
    let waited = waited(&segments);
    let (last, others) = waited.split_last().unwrap();
    assert!(others.iter().all(|waited| *waited < 0.02));
    assert_eq!(*last, 18.99);
}

/// A clock in milliseconds that moves on every 10 or 15.6 ms. What was sent just before it does
/// looks late, and has not waited: this is known when the clock has moved on eight times, and
/// until then no more is claimed than one step. A queue of 30 ms is seen, less a step.
#[test]
fn a_clock_that_moves_on_by_several() {
    for (tick, known, queued) in [(10.0, 115, 17.95), (15.6, 180, 24.83)] {
        let stamp = |ms: f64| ((ms / tick).floor() * tick) as u32;
        let segment = |n: u32| (stamp(f64::from(n) * 0.7), 100.0 + f64::from(n) * 0.7);
        let mut segments: Vec<_> = (0..2000).map(segment).collect();
        let (tsval, at) = segment(2000);
        segments.push((tsval, at + 30.0));
        let waited = waited(&segments);
        assert!(waited[..known].iter().all(|waited| *waited < tick), "{tick}");
        assert!(waited[known..2000].iter().all(|waited| *waited == 0.0), "{tick}");
        assert_eq!(waited[2000], queued, "{tick}");
    }
}

/// The clock of the capture is set forward, or the sender's machine stands still for as long.
/// That looks like a queue until it has lasted for a second more than it added; where it is
/// longer than a link stands still, no queue is claimed at all. One that comes later is seen.
#[test]
fn a_clock_is_set() {
    for (by, looks_queued) in [(300, 1300), (3600, 4600), (6000, 0)] {
        let at = |ms: u32| 100.0 + f64::from(ms + if ms >= 10_000 { by } else { 0 });
        let mut segments: Vec<_> = (0..20_000).map(|ms| (ms, at(ms))).collect();
        segments.extend((20_000..20_100).map(|ms| (ms, at(ms) + f64::from(ms - 19_999))));
        let waited = waited(&segments);
        let queued = |ms: usize| waited[ms] > 0.0;
        assert_eq!((0..20_000).filter(|&ms| queued(ms)).count(), looks_queued, "{by}");
        assert!((10_000..10_000 + looks_queued).all(queued), "{by}");
        assert!((95.0..99.0).contains(&waited[20_099]), "{by}: {}", waited[20_099]);
    }
}

/// All of a window waits when a link stands still, and what its ACKs let go waits for nothing.
#[test]
fn a_window_waits() {
    let sent = [0, 1000, 2000, 3000, 5000, 6000];
    let at = |ms: u32| f64::from(ms + if ms == 3000 { 1900 } else { 100 });
    let segments: Vec<_> = sent.iter().flat_map(|&ms| [(ms, at(ms)); 20]).collect();
    let waited: Vec<_> = waited(&segments).iter().map(|ms| ms.round()).collect();
    let window = |n: usize| &waited[20 * n..20 * (n + 1)];
    assert_eq!([window(0), window(1), window(2)].concat(), [0.0; 60]);
    assert_eq!(window(3), [1798.0; 20]);
    assert_eq!([window(4), window(5)].concat(), [0.0; 40]);
}

/// A link stands still for 3 s when the connection is 2 s old, longer than that and more than
/// its clock has counted: what it held back was sent before, less a tick and 1.5 ms by which
/// clocks may have run apart. Less than a second after it has begun, the clock is not
/// known, and nothing is said.
#[test]
fn a_link_stands_still_for_most_of_the_time() {
    for (begin, queued) in [(2000, 2997.0), (900, 0.0)] {
        let at = |ms: u32| f64::from(ms + 100);
        let mut segments: Vec<_> = (0..begin).map(|ms| (ms, at(ms))).collect();
        segments.extend((begin..begin + 20).map(|ms| (ms, at(begin) + 3000.0)));
        let waited: Vec<_> = waited(&segments).iter().map(|ms| ms.floor()).collect();
        let (before, held) = waited.split_at(begin as usize);
        assert!(before.iter().all(|ms| *ms == 0.0), "{begin}");
        let expected = |n: u32| (queued - f64::from(n)).max(0.0);
        assert_eq!(held, (0..20).map(expected).collect::<Vec<_>>(), "{begin}");
    }
}

#[test]
fn any_time_is_taken() {
    let mut clock = SendClock::default();
    clock.begin(7, Time::ZERO);
    assert_eq!(clock.sent(8, Time(u64::MAX - 1)), Time(u64::MAX - 1));
}

/// Ticks of 10 ms, of 4 ms and of a microsecond say nothing, nor does a queue that is longer
/// than most of the connection so far.
#[test]
fn another_clock() {
    for (ticks, step) in [(10, 100.0), (25, 100.0), (100_000, 100.0), (0, 100.0)] {
        let segments: Vec<_> = (1..9).map(|n| (n * ticks, 100.0 + f64::from(n) * step)).collect();
        let arrived: Vec<f64> = segments.iter().map(|(_, at)| *at).collect();
        assert_eq!(sent(Some((0, 100.0)), &segments), arrived, "{ticks}");
    }
}
