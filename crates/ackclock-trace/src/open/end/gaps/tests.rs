use super::*;

const HOLE: Range<u64> = 1000..3000;

/// Behind [`HOLE`] the packet with the number 9 was seen. What happened then?
fn prove(then: impl Fn(&mut Gaps)) -> bool {
    let mut gaps = Gaps::default();
    gaps.opens(HOLE, 9);
    then(&mut gaps);
    gaps.prove()
}

#[test]
fn all_of_a_hole_has_to_come_again() {
    assert!(prove(|gaps| gaps.again(HOLE, 10)));
    assert!(prove(|gaps| gaps.again(500..3500, 10)));
    let halves = |gaps: &mut Gaps| {
        gaps.again(1000..2000, 10);
        gaps.again(2000..3000, 11);
    };
    assert!(prove(halves));
    assert!(!prove(|gaps| gaps.again(1000..2000, 10)));
    assert!(!prove(|gaps| gaps.again(2000..3000, 10)));
}

/// The numbers begin anew behind 65535.
#[test]
fn what_was_only_late_has_an_earlier_number() {
    assert!(!prove(|gaps| gaps.again(HOLE, 7)));
    let wraps = |behind: u16, number: u16| {
        let mut gaps = Gaps::default();
        gaps.opens(HOLE, behind);
        gaps.again(HOLE, number);
        gaps.prove()
    };
    assert_eq!((wraps(65_535, 0), wraps(0, 65_535)), (true, false));
}

/// The capture has dropped what was acknowledged and did not come again.
#[test]
fn what_was_not_lost_proves_nothing() {
    let again = |gaps: &mut Gaps| gaps.again(1000..2000, 10);
    let acked = |ack: u64| {
        prove(|gaps| {
            again(gaps);
            gaps.acked(ack);
            gaps.again(2000..3000, 11);
        })
    };
    assert_eq!([2000, 2001].map(acked), [true, false]);
}

/// What becomes of one hole.
#[derive(Clone, Copy)]
enum Fate {
    Refilled,
    /// What is behind it comes again, too.
    Swept,
    Dropped,
}

/// More holes have to come again than the capture has dropped. Once it has dropped one, those count
/// that come again alone.
#[test]
fn most_decide() {
    use Fate::{Dropped, Refilled, Swept};
    let holes = |fates: &[Fate]| {
        prove(|gaps| {
            gaps.again(HOLE, 7);
            for fate in fates {
                gaps.opens(HOLE, 9);
                match fate {
                    Refilled => gaps.again(HOLE, 10),
                    Swept => [HOLE, 3000..5000].into_iter().for_each(|sent| gaps.again(sent, 10)),
                    Dropped => {}
                }
                gaps.acked(5000);
            }
        })
    };
    let proofs = [
        &[][..],
        &[Refilled],
        &[Refilled, Dropped],
        &[Refilled, Dropped, Refilled],
        &[Swept],
        &[Swept, Swept, Dropped],
        &[Swept, Swept, Dropped, Refilled, Refilled],
    ];
    assert_eq!(proofs.map(holes), [false, true, false, true, true, false, true]);
}

/// The first retransmission of a part may be lost before the capture, too. That is no hole that the
/// capture has dropped.
#[test]
fn a_part_that_comes_again_was_not_dropped() {
    let dropped = |parts: &[Range<u64>]| {
        !prove(|gaps| {
            parts.iter().for_each(|part| gaps.again(part.clone(), 10));
            gaps.acked(5000);
            gaps.opens(6000..7000, 20);
            gaps.again(6000..7000, 21);
        })
    };
    assert!(dropped(&[]));
    for part in [1000..2000, 2000..3000, 1500..2500] {
        assert!(!dropped(&[part]));
    }
    assert!(prove(|gaps| [2000..3000, 1000..2000].into_iter().for_each(|p| gaps.again(p, 10))));
}

/// What came again counts once, however often it goes.
#[test]
fn a_hole_counts_once() {
    let twice = |gaps: &mut Gaps| {
        [2000..3000, 1000..2000, 1500..2500].into_iter().for_each(|part| gaps.again(part, 10));
        gaps.acked(5000);
        gaps.opens(6000..7000, 20);
        gaps.acked(7000);
    };
    assert!(!prove(twice));
}
