//! The sequences of Miyake & Inamura's figures, worked out by hand, where the round trip is 0.4 s
//! and ACKs are delayed: 22 segments (38 to 59) are outstanding at the third duplicate, 38, 42 and
//! 46 are lost.

use ackclock_papers::Outcome;

use crate::common::experiment;

/// From the third duplicate of 38 to the end of recovery, a line for each ACK: the segment that it
/// asks for, duplicates, cwnd, ssthresh, what is sent, retransmissions with the number of the
/// transmission.
fn recovery(outcome: &Outcome, strategy: &str) -> Vec<String> {
    let json = serde_json::to_value(outcome).unwrap();
    let sequences = json["cells"][0]["sequences"].as_array().unwrap();
    let steps =
        sequences.iter().find(|s| s["strategy"] == strategy).unwrap()["steps"].as_array().unwrap();
    let from = steps.iter().position(|s| s["segment"] == 38.0 && s["dupacks"] == 3).unwrap();
    let mut lines = Vec::new();
    for step in &steps[from..] {
        let sent = step["sent"].as_array().unwrap().iter().map(|s| match s[2].as_u64() {
            Some(1) => format!(" {}", s[0]),
            _ => format!(" {}x{}", s[0], s[2]),
        });
        let sent = sent.collect::<String>().replace(".0", "");
        let number = |key: &str| step[key].as_f64().unwrap();
        lines.push(format!(
            "{} {}: {}/{}:{sent}",
            number("segment"),
            step["dupacks"],
            number("cwnd"),
            number("ssthresh")
        ));
        if number("segment") > 46.0 || step["event"] == "timeout" {
            break;
        }
    }
    lines
}

/// Duplicates of `una` from `from` on, each of which inflates cwnd and sends the next of
/// `segments`.
fn inflating(
    una: u64,
    from: u64,
    cwnd: u64,
    ssthresh: &str,
    segments: std::ops::RangeInclusive<u64>,
) -> Vec<String> {
    let each = segments.enumerate().map(|(k, segment)| (k as u64, segment));
    each.map(|(k, segment)| format!("{una} {}: {}/{ssthresh}: {segment}", from + k, cwnd + k))
        .collect()
}

/// The third duplicate, and those of the first window: cwnd = 11 + 3, of which 22 are used; 60 goes
/// on the twelfth, 67 on the last.
fn first_window() -> Vec<String> {
    let mut lines = vec!["38 3: 14/11: 38x2".to_string()];
    lines.extend((4..12).map(|n| format!("38 {n}: {}/11:", 11 + n)));
    lines.extend(inflating(38, 12, 23, "11", 60..=67));
    lines
}

/// Duplicates that send nothing.
fn silent(
    una: u64,
    counts: std::ops::RangeInclusive<u64>,
    cwnd: u64,
    ssthresh: &str,
) -> Vec<String> {
    counts
        .enumerate()
        .map(|(k, count)| format!("{una} {count}: {}/{ssthresh}:", cwnd + k as u64))
        .collect()
}

/// Until the second copy of 38 arrives. cumulativeFS = 22 + 3: the 25th duplicate, that of 65,
/// sends 38 for the third time, and nothing else.
fn first_retransmission_lost() -> Vec<String> {
    let mut lines = first_window();
    lines.extend(inflating(38, 20, 31, "11", 68..=72));
    lines.push("38 25: 35/11: 38x3".into());
    lines.extend(inflating(38, 26, 36, "11", 73..=79));
    lines
}

/// Reno leaves recovery there, and the duplicates of 73 to 79 may not begin another one. Half of 11
/// is 5.
#[test]
fn figure_6() {
    let mut expected = first_retransmission_lost();
    expected.push("42 0: 11/11:".into());
    expected.extend((1..=7).map(|n| format!("42 {n}: 11/11:")));
    expected.push("42 0: 1/5: 42x2".into());
    assert_eq!(recovery(&experiment("miyake-inamura/figures-6-8"), "reno"), expected);
}

/// The pipe: 22 - 3 - 1 and the retransmission are 19, so that the twelfth duplicate makes room for
/// 42. 60 is the first segment sent after the retransmissions.
#[test]
fn figure_7() {
    let mut expected = vec!["38 3: 11/11: 38x2".to_string()];
    expected.extend((4..12).map(|n| format!("38 {n}: 11/11:")));
    let sent = [
        "42x2", "46x2", "60", "61", "62", "63", "64", "65", "66", "67", "38x3", "68", "69", "70",
        "71", "72",
    ];
    let sent = sent.iter().chain(&["73", "74"]);
    expected.extend(sent.enumerate().map(|(k, sent)| format!("38 {}: 11/11: {sent}", 12 + k)));
    expected.push("68 0: 11/11: 75 76 77 78".into());
    assert_eq!(recovery(&experiment("miyake-inamura/figures-6-8"), "sack"), expected);
}

#[test]
fn figure_8() {
    let mut expected = first_retransmission_lost();
    // The partial ACK: 42 - 4 + 1 for 42 to 79.
    expected.push("42 0: 39/11: 42x2 80".into());
    // The offered window of 65,535 bytes has room up to 85.
    expected.extend(inflating(42, 1, 40, "11", 81..=85));
    expected.extend(silent(42, 6..=7, 45, "11"));
    // 46 - 4 + 1 for 46 to 85, and the offered window up to 89.
    expected.push("46 0: 43/11: 46x2 86 87 88".into());
    expected.push("46 1: 44/11: 89".into());
    expected.extend(silent(46, 2..=6, 45, "11"));
    // Four are outstanding.
    expected.push("86 0: 11/11: 90 91 92 93 94 95 96".into());
    assert_eq!(recovery(&experiment("miyake-inamura/figures-6-8"), "newreno-1"), expected);
}

/// Until the eight new segments of the first round trip have drawn their duplicates: 30 - 4 + 1 for
/// 42 to 67.
fn until_42_is_lost() -> Vec<String> {
    let mut lines = first_window();
    lines.push("42 0: 27/11: 42x2 68".into());
    lines.extend(inflating(42, 1, 28, "11", 69..=76));
    lines
}

/// That of 77 finds the offered window used up. Then the timer expires, 1 s after the partial
/// ACK restarted it.
#[test]
fn figure_11() {
    let mut expected = until_42_is_lost();
    expected.extend(inflating(42, 9, 36, "11", 77..=85));
    expected.extend(silent(42, 18..=18, 45, "11"));
    expected.push("42 0: 1/5: 42x3".into());
    assert_eq!(recovery(&experiment("miyake-inamura/figures-11-14"), "newreno"), expected);
}

/// Figures 12 to 14. cumulativeFS = 8 + 1: the ninth duplicate, that of 68.
#[test]
fn figures_12_to_14() {
    let outcome = experiment("miyake-inamura/figures-11-14");
    // At the end 85 to 89 are outstanding.
    for (strategy, ssthresh, end) in [
        ("newreno-1", "11", "85 0: 11/11: 90 91 92 93 94 95"),
        ("newreno-2", "5.5", "85 0: 5.5/5.5:"),
        ("newreno-3", "11", "85 0: 1/11:"),
    ] {
        let mut expected = until_42_is_lost();
        expected.push(format!("42 9: 35/{ssthresh}: 42x3"));
        expected.extend(inflating(42, 10, 36, ssthresh, 77..=84));
        // 43 - 4 + 1 for 46 to 84, and the offered window up to 89.
        expected.push(format!("46 0: 40/{ssthresh}: 46x2 85"));
        expected.extend(inflating(46, 1, 41, ssthresh, 86..=89));
        expected.extend(silent(46, 5..=8, 45, ssthresh));
        expected.push(end.into());
        assert_eq!(recovery(&outcome, strategy), expected, "{strategy}");
    }
}

/// Section 2: where (I) sends one segment, DAC sends two.
#[test]
fn dac_sends_two_segments_at_once() {
    let ours = recovery(&experiment("miyake-inamura/figures-11-14"), "dac");
    let mut expected = until_42_is_lost();
    expected.push("42 9: 36/11: 42x3 77".into());
    assert_eq!(ours[..expected.len()], expected);
    let ours = recovery(&experiment("miyake-inamura/figures-6-8"), "dac");
    assert!(ours.contains(&"38 25: 36/11: 38x3 73".to_string()), "{ours:?}");
}
