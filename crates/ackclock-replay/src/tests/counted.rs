//! What counts as identical.

use std::collections::BTreeMap;

use super::{compare, vector};
use crate::{Score, matching, table};
use ackclock_tcp::Registry;

/// Two segments, then two for the first ACK and three for the second.
fn slow_start(second: &str) -> crate::Vector {
    vector(&[
        r#"{"at":100500,"write":9000,"sent":[[0,1000,1],[1000,1000,1]],"info":{"cwnd":2,"ssthresh":2147483647}}"#,
        &format!(
            r#"{{"at":200500,"ack":1000,"window":64000,"sent":{second},"info":{{"cwnd":3}}}}"#
        ),
        r#"{"at":200700,"ack":2000,"sent":[[4000,1000,1],[5000,1000,1]],"info":{"cwnd":4}}"#,
    ])
}

#[test]
fn the_same_segments_before_the_next_input_are_identical() {
    let v = slow_start("[[2000,1000,1],[3000,1000,1]]");
    let comparison = compare(&v, "sack");
    assert_eq!(comparison.first_difference(), None);
    let expected = Score { scenarios: 1, identical: 1, inputs: 3, ..Score::default() };
    assert_eq!(comparison.score(), expected);
}

#[test]
fn counting_goes_on_after_a_difference() {
    for other in [
        "[[2000,1000,1]]",
        "[[3000,1000,1],[2000,1000,1]]",
        "[[2000,1000,2],[3000,1000,1]]",
        "[[2000,500,1],[3000,1000,1]]",
    ] {
        let v = slow_start(other);
        let comparison = compare(&v, "sack");
        assert_eq!(comparison.first_difference(), Some(1), "{other}");
        assert!(comparison.inputs[2].identical, "{other}");
        let expected = Score { scenarios: 1, inputs: 3, otherwise: 1, ..Score::default() };
        assert_eq!(comparison.score(), expected, "{other}");
    }
}

#[test]
fn windows_and_states_are_counted_beside_it() {
    let mut v = slow_start("[[2000,1000,1],[3000,1000,1]]");
    v.steps[1].info.cwnd = 4;
    v.steps[2].info.ssthresh = 7;
    v.steps[2].info.state = crate::CaState::Recovery;
    let score = compare(&v, "sack").score();
    assert_eq!((score.identical, score.cwnd, score.ssthresh, score.state), (1, 1, 1, 1));
}

#[test]
fn both_are_shown_side_by_side() {
    let v = slow_start("[[2000,1000,1]]");
    let shown = compare(&v, "sack").side_by_side(0, 2);
    assert_eq!(
        shown,
        "    ms       input    kernel sends  strategy sends  kernel    strategy\n\
         \x200  100.500  write 9  0 1           0 1             2/- open  2/- open\n\
         !1  200.500  ack 1    2             2 3             3/- open  3/- open\n"
    );
}

#[test]
fn scores_add_up_in_a_table() {
    let one = Score {
        scenarios: 4,
        identical: 3,
        inputs: 200,
        otherwise: 5,
        cwnd: 10,
        ssthresh: 20,
        state: 30,
        expiries: 8,
        met: 7,
    };
    let scores = BTreeMap::from([("tails".to_string(), one), ("bursts".to_string(), one)]);
    let text = table(&scores);
    let last = text.lines().last().unwrap();
    let words: Vec<&str> = last.split_whitespace().collect();
    assert_eq!(words.join(" "), "all 8 6 75 % 400 10 2.50 % 5.0 % 10.0 % 15.0 % 14 of 16");
}

#[test]
fn the_composition_follows_from_what_was_switched_off() {
    let registry = Registry::default();
    let mut header = vector(&[]).header;
    header.congestion = "cubic".into();
    let linux = matching(&header, &registry);
    assert_eq!(linux, registry.preset("linux").unwrap().mechanisms.join("+"));
    header.settings.insert("tcp_early_retrans".into(), 4);
    assert_eq!(matching(&header, &registry), linux);
    header.settings.insert("tcp_early_retrans".into(), 1);
    header.settings.insert("tcp_frto".into(), 0);
    header.congestion = "reno".into();
    let expected = linux.replace("linux-tlp+", "").replace("linux-f-rto+", "") + "+linux-reno";
    assert_eq!(matching(&header, &registry), expected);
}
