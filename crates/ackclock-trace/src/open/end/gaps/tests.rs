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

/// More holes have to come again than the capture has dropped.
#[test]
fn most_decide() {
    let holes = |kinds: &[bool]| {
        prove(|gaps| {
            gaps.acked(3000);
            for &again in kinds {
                gaps.opens(HOLE, 9);
                if again { gaps.again(HOLE, 10) } else { gaps.acked(3000) }
            }
        })
    };
    let proofs =
        [&[][..], &[true], &[true, true], &[true, true, false], &[true, true, false, true]];
    assert_eq!(proofs.map(holes), [false, false, true, false, true]);
}
