use super::*;

#[test]
fn a_deadline_moved_later_costs_nothing_and_one_moved_earlier_another_entry() {
    let mut timers = Timers::default();
    let mut scheduled = [Time::NEVER; 2];
    timers.schedule(0, Time(50), &mut scheduled[0]);
    timers.schedule(0, Time(70), &mut scheduled[0]);
    assert_eq!((timers.heap.len(), timers.next(), scheduled[0]), (1, Time(50), Time(50)));
    timers.schedule(1, Time(40), &mut scheduled[1]);
    timers.schedule(0, Time(30), &mut scheduled[0]);
    assert_eq!((timers.heap.len(), timers.next(), timers.pop(Time(29))), (3, Time(30), None));
    assert_eq!(timers.pop(Time(40)), Some((Time(30), 0)));
    assert_eq!((timers.pop(Time(40)), timers.pop(Time(40))), (Some((Time(40), 1)), None));
    // The first entry of slot 0 was passed over.
    timers.prune(2, |_| Time::NEVER);
    assert_eq!((timers.heap.len(), timers.next()), (0, Time::NEVER));
}

#[test]
fn entries_that_were_passed_over_do_not_pile_up() {
    let mut timers = Timers::default();
    let mut scheduled = Time::NEVER;
    for at in (0..10_000).rev() {
        timers.schedule(0, Time(at), &mut scheduled);
        timers.prune(1, |_| scheduled);
        assert!(timers.heap.len() <= 68);
    }
    assert_eq!(timers.next(), Time(0));
}
