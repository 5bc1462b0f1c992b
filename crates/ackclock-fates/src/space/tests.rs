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
    // 27 ways to lose, of which 9 leave each of the three unharmed; 22 sets of up to two of six ACKs.
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
    for wrong in ["19", "20:3", "20:0", "late:19", "ack:20", "x", "20;21", "90", "22-20"] {
        assert!(wrong.parse::<Case>().is_err(), "{wrong}");
    }
}
