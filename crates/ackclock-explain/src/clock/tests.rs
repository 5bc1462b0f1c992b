use super::*;

/// Times in milliseconds, frames from 1 on.
fn looked_at(times: impl IntoIterator<Item = u64>) -> [(u64, u64, u64); 2] {
    let mut clock = Clock::default();
    for (i, ms) in times.into_iter().enumerate() {
        clock.frame(i as u64 + 1, Time(1_700_000_000_000_000_000 + ms * 1_000_000));
    }
    let (set_back, out_of_order) = clock.end();
    [set_back, out_of_order].map(|b| (b.times, b.frame, b.by.0 / 1_000_000))
}

const NONE: (u64, u64, u64) = (0, 0, 0);

#[test]
fn in_order() {
    assert_eq!(looked_at([0, 5, 5, 900]), [NONE, NONE]);
}

/// It goes on from there, past where it was or not; and goes back again.
#[test]
fn a_clock_that_is_set_back() {
    let forth = |from: u64| (from..from + 100).step_by(5);
    for next in [40, 0] {
        let times = forth(1000).chain(forth(1055 + next - 40)).chain(forth(1300));
        let [set_back, out_of_order] = looked_at(times);
        assert_eq!((set_back, out_of_order), ((1, 21, 40 + 40 - next), NONE));
    }
    let times = forth(5000).chain(forth(3000)).chain(forth(1000));
    assert_eq!(looked_at(times), [(1, 21, 2095), NONE]);
}

/// Frames that were kept back: time goes on where it was.
#[test]
fn frames_out_of_order() {
    assert_eq!(looked_at([0, 50, 60, 20, 30, 70, 65, 80]), [NONE, (3, 4, 40)]);
    // In order among themselves, but the clock is where it would be without them.
    let late = [0, 500].into_iter().chain((100..120).step_by(2)).chain([501, 502]);
    assert_eq!(looked_at(late), [NONE, (10, 3, 400)]);
    // The same without a jump, since others are about as late.
    let late = [0, 130].into_iter().chain((100..120).step_by(2)).chain([121, 131, 111, 132]);
    assert_eq!(looked_at(late), [NONE, (12, 3, 30)]);
    // At the end too few to tell.
    assert_eq!(looked_at([0, 500, 100, 110]), [NONE, (2, 3, 400)]);
    // Queues.
    assert_eq!(looked_at([100, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100]), [NONE, (9, 2, 9)]);
}
