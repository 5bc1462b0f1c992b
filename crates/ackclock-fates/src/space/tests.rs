use super::*;

#[test]
fn every_case_has_one_number() {
    let window = 3;
    for space in
        [Space::losses(Connection::tail(window)), Space::disturbed(Connection::followed(window))]
    {
        let cases: Vec<Case> = (0..space.numbers()).filter_map(|n| space.case(n)).collect();
        let mut texts: Vec<String> = cases.iter().map(Case::to_string).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), cases.len());
    }
    // 27 ways to lose, of which 9 leave each of the three unharmed; 22 sets of up to two of six
    // ACKs.
    let space = Space::disturbed(Connection::tail(window));
    let cases = (0..space.numbers()).filter(|&n| space.case(n).is_some()).count();
    assert_eq!(cases, (27 + 3 * 9) * (1 + 6 + 15));
}

#[test]
fn smaller_cases_have_one_event_less() {
    let space = Space::disturbed(Connection::tail(2));
    for number in 0..space.numbers() {
        let Some(case) = space.case(number) else { continue };
        let smaller: Vec<u64> = space.smaller(number).collect();
        let kinds = case.lost.iter().filter(|&&n| n > 0).count()
            + usize::from(case.late.is_some())
            + case.acks.len();
        assert_eq!(smaller.len(), kinds, "{case}");
        for other in smaller {
            assert!(other < number);
            assert_eq!(space.case(other).unwrap().events() + 1, case.events());
        }
    }
}

#[test]
fn a_case_as_text() {
    let space = Space::disturbed(Connection::tail(4));
    for number in 0..space.numbers() {
        let Some(case) = space.case(number) else { continue };
        let mut read: Case = case.to_string().parse().unwrap();
        read.lost.resize(4, 0);
        assert_eq!(read, case);
    }
    assert_eq!("20-22:2,late:23".parse::<Case>().unwrap().lost, [2, 2, 2]);
}

#[test]
fn a_case_that_is_none_is_refused() {
    let form = "none of 20 (lost), 20:2 (and its retransmission), 20-22, late:20, ack:21 and none";
    let (segments, acks) =
        ("segments of a window are 20 to 31", "ACKs that a window draws are 21 to 44");
    for (text, why) in [
        ("20:3", format!("`20:3`: {form}")),
        ("20:0", format!("`20:0`: {form}")),
        ("x", format!("`x`: {form}")),
        ("20,", format!("``: {form}")),
        ("20,none", format!("`none`: {form}")),
        ("20;21", format!("`20;21`: {form}")),
        ("19", format!("`19`: {segments}")),
        ("32", format!("`32`: {segments}")),
        ("20-32", format!("`20-32`: {segments}")),
        ("late:19", format!("`late:19`: {segments}")),
        ("ack:1", format!("`ack:1`: {acks}")),
        ("ack:45", format!("`ack:45`: {acks}")),
        ("22-20", "`22-20`: it ends before it begins".into()),
        ("20,20:2", "`20:2`: a segment of it is lost already".into()),
        ("20-22,21", "`21`: a segment of it is lost already".into()),
        ("late:20,late:21", "`late:21`: only one segment may be late".into()),
        ("ack:24,ack:24", "`ack:24`: this ACK is lost already".into()),
        ("late:20,20", "segment 20 is lost, so that it cannot be late".into()),
        ("20:2,late:20", "segment 20 is lost, so that it cannot be late".into()),
    ] {
        assert_eq!(text.parse::<Case>(), Err(why), "{text}");
    }
    for right in ["none", " none ", "31", "late:31,ack:44", "20,late:21"] {
        right.parse::<Case>().unwrap();
    }
}

#[test]
fn a_case_fits_a_window() {
    for (text, least) in [("none", 0), ("23:2", 4), ("late:24", 5), ("ack:21", 1), ("ack:28", 4)] {
        let case: Case = text.parse().unwrap();
        assert!(case.fits(least) && (least == 0 || !case.fits(least - 1)), "{text}");
    }
}
