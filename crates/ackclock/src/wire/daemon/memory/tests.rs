use super::{Budget, CONNECTION, least};

#[test]
fn connections_and_their_buffers_share_what_there_is() {
    // Of 2 GiB 16 MiB are the process's, and 48 MiB for 2,048 that are not taken.
    let all = 2 << 30;
    let queue = all - (64 << 20);
    let kept = 10_000 * CONNECTION;
    let expected = Budget { all, queue, kept, connections: 10_000, waiting: 1024 };
    assert_eq!(Budget::new(all, 10_000, 1), expected);
    let (all, queue) = (176 << 20, 136 << 20);
    let expected = Budget { all, queue, kept: 68 << 20, connections: 2901, waiting: 512 };
    assert_eq!(Budget::new(all, 10_000, 1), expected);
    let expected = Budget { all: 0, queue: 0, kept: 0, connections: 1, waiting: 1 };
    assert_eq!(Budget::new(0, 10, 1), expected);
    // Each further queue takes 3 MiB.
    let (all, queue) = ((176 + 9) << 20, 34 << 20);
    let expected = Budget { all, queue, kept: 17 << 20, connections: 2900, waiting: 128 };
    assert_eq!(Budget::new(all, 10_000, 4), expected);
    assert_eq!([1, 4].map(least), [32 << 20, 41 << 20]);
    // Each keeps memory for its part of few connections.
    assert_eq!(Budget::new(2 << 30, 1000, 4).kept, 250 * CONNECTION);
}

/// However much their buffers hold: what is kept for each, and that, is never more than there is.
#[test]
fn no_connection_is_taken_for_which_there_is_no_room() {
    let budget = Budget::new(32 << 20, 10_000, 1);
    assert!(budget.has_room(0, usize::MAX / 2, 1));
    for held in (0..budget.queue).step_by(1 << 16) {
        let taken = (1..).find(|&taken| !budget.has_room(taken, held, 1)).unwrap();
        assert!(taken == 1 || taken * CONNECTION + held <= budget.queue, "{taken} {held}");
        assert!(taken > 1 || 2 * CONNECTION + held > budget.queue, "{taken} {held}");
    }
    // Buffers that take all that they may leave as many places as half of it has.
    let half = (1..).find(|&taken| !budget.has_room(taken, budget.buffers(0), 1)).unwrap();
    assert_eq!(half, budget.queue / 2 / CONNECTION);
    assert_eq!((budget.buffers(half), budget.buffers(1 << 20)), (budget.buffers(0), 0));
}

/// One that held much leaves room for many: no other one has to go for them.
#[test]
fn what_one_gives_back_may_be_room_for_several() {
    let budget = Budget::new(32 << 20, 10_000, 1);
    let held = budget.queue - 100 * CONNECTION;
    assert!(!budget.has_room(100, held, 1));
    let after = |held| [9, 10].map(|more| budget.has_room(99, held, more));
    assert_eq!(after(held - 8 * CONNECTION), [true, false]);
}
