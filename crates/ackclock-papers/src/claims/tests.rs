use super::*;

fn claim() -> Claim {
    toml::from_str("says = \"s\"\nplace = \"p\"\nmeasurement = \"a/x\"\nabove = 0").unwrap()
}

#[test]
fn a_claim_over_cells_tells_where_it_does_not_hold() {
    use Verdict::{DoesNotHold, Holds, Undecided};
    let verdict = |verdicts: &[Verdict]| {
        let mut outcome = ClaimOutcome::new(&claim(), None);
        for verdict in verdicts {
            outcome.add(
                "cell",
                &[],
                Judgement { verdict: *verdict, measured: String::new(), relative: None },
            );
        }
        (outcome.verdict(), outcome.fails())
    };
    assert_eq!(verdict(&[Holds, Holds]), ("holds in all 2 cells".into(), false));
    assert_eq!(verdict(&[Holds, DoesNotHold]), ("holds in 1 of 2 cells".into(), true));
    assert_eq!(verdict(&[DoesNotHold, DoesNotHold]), ("holds in none of 2 cells".into(), true));
    assert_eq!(
        verdict(&[Undecided, DoesNotHold]),
        ("does not hold in 1 of 2 cells, undecided in 1".into(), true)
    );
    assert_eq!(verdict(&[Undecided, Undecided]), ("undecided in all 2 cells".into(), false));
}

#[test]
fn a_claim_over_cells_tells_how_far_they_differ() {
    let mut outcome = ClaimOutcome::new(&claim(), None);
    let mut add = |delay: &str, verdict, relative| {
        let labels = [("rate", "1"), ("delay", delay)]
            .map(|(axis, label)| AxisLabel { axis: axis.into(), label: label.into() });
        outcome.add("cell", &labels, Judgement { verdict, measured: String::new(), relative });
        (outcome.verdict(), outcome.by_part())
    };
    assert_eq!(add("5", Verdict::Holds, Some(12.0)).0, "holds");
    assert_eq!(
        add("5", Verdict::Undecided, None).0,
        "holds in 1 of 2 cells, undecided in 1, differences +12.0 % to +12.0 %"
    );
    let (verdict, by_part) = add("9", Verdict::DoesNotHold, Some(-5.25));
    assert_eq!(verdict, "holds in 1 of 3 cells, undecided in 1, differences -5.2 % to +12.0 %");
    assert_eq!(by_part.unwrap(), "delay: 5 (1 of 2), 9 (0 of 1)");
    assert_eq!(add("9", Verdict::Holds, None).1.unwrap(), "delay: 5 (1 of 2), 9 (1 of 2)");
}

#[test]
fn a_claim_of_somewhere_holds_in_one_cell_and_names_the_best() {
    let claim = Claim { somewhere: true, ..claim() };
    let mut outcome = ClaimOutcome::new(&claim, None);
    let mut add = |cell: &str, verdict, relative| {
        let measured = String::new();
        outcome.add(cell, &[], Judgement { verdict, measured, relative: Some(relative) });
        (outcome.overall(), outcome.fails(), outcome.verdict())
    };
    add("a", Verdict::DoesNotHold, -5.0);
    let none = "holds in none of 2 cells, differences -5.0 % to +4.0 % (b)".to_string();
    assert_eq!(add("b", Verdict::DoesNotHold, 4.0), (Overall::DoesNotHold, true, none));
    let one = "holds in 1 of 3 cells, differences -5.0 % to +40.0 % (c)".to_string();
    assert_eq!(add("c", Verdict::Holds, 40.0), (Overall::Holds, false, one));
}
