use super::*;

fn line(strategy: &str, segments: u64, again: u64, more: &str) -> String {
    format!(
        "{{\"strategy\":\"{strategy}\",\"ended\":\"closed\",\"duration_s\":2.0,\"bytes_sent\":1000000,\
         \"segments_sent\":{segments},\"retransmissions\":{again},\"timeouts\":0,\
         \"smoothed_rtt_s\":null,\"limited_s\":{{\"application\":1.0}}{more}}}"
    )
}

#[test]
fn a_ratio_has_the_interval_of_its_residuals() {
    let mut arms = BTreeMap::new();
    for (segments, again) in [(100, 1), (300, 7)] {
        take(&mut arms, Path::new("f"), 1, line("prr", segments, again, "").as_bytes()).unwrap();
    }
    let [retransmitted, timeouts, rtt, rate, duration] = arms["prr"].measures.map(|m| m.estimate());
    // 8 of 400 are 2 %. Of that 1 - 2 = -1 and 7 - 6 = 1 are left: (1 + 1) / (2 - 1) / 2 = 1,
    // whose root over the mean of 200 segments is 0.5 %; t for one degree of freedom is 12.706.
    let Estimate { mean, half_width } = retransmitted.unwrap();
    assert!((mean - 2.0).abs() < 1e-9, "{mean}");
    assert!((half_width.unwrap() - 12.706 * 0.5).abs() < 0.001, "{half_width:?}");
    let exact = |mean| Some(Estimate { mean, half_width: Some(0.0) });
    // Eight megabits in the one second of two in which there was something to send.
    assert_eq!((rtt, rate, duration), (None, exact(8.0), exact(2.0)));
    assert_eq!(timeouts, Some(Estimate { mean: 0.0, half_width: None }));
}

/// Three over the number of connections, or of segments.
#[test]
fn of_what_was_not_counted_there_is_a_bound() {
    let mut arms = BTreeMap::new();
    for (strategy, again) in [("linux", 0), ("linux", 0), ("prr", 0), ("prr", 1), ("sack", 0)] {
        let text = line(strategy, 150, again, "");
        take(&mut arms, Path::new("f"), 1, text.as_bytes()).unwrap();
    }
    let text = table(&arms);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|l| l.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect())
        .collect();
    // 100 * (1 - 0.05^(1 / 300)) and 1000 * 2.9957 / 2.
    assert_eq!(rows[1][..4], ["linux", "2", "<= 0.994", "<= 1497.87"]);
    // 1 of 300; residuals -0.5 and 0.5: 12.706 * 100 * sqrt(0.5 / 2) / 150.
    assert_eq!(rows[2][..4], ["prr", "2", "0.3 ± 4.2", "<= 1497.87"]);
    assert_eq!(rows[3][..4], ["sack", "1", "<= 1.977", "<= 2995.73"]);
    assert_eq!(format!("{:.3}", share(1.0)), "95.000");
    assert_eq!(rows[4][..3], ["prr - linux", "0.333", "-"]);
    assert_eq!(rows[5][..3], ["sack - linux", "-", "-"]);
}

#[test]
fn strategies_are_compared_with_the_first() {
    let mut arms = BTreeMap::new();
    for (i, text) in [line("prr", 100, 3, ""), line("linux", 100, 1, "")].iter().enumerate() {
        take(&mut arms, Path::new("f"), i + 1, text.as_bytes()).unwrap();
    }
    let refused = line("linux", 0, 0, "").replace("closed", "refused_rate");
    take(&mut arms, Path::new("f"), 3, refused.as_bytes()).unwrap();
    let text = table(&arms);
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(rows[1][..3], ["linux", "1", "1.000"]);
    assert_eq!(rows[2][..3], ["prr", "1", "3.000"]);
    assert_eq!(rows[3][..4], ["prr", "-", "linux", "2.000"]);
    let cut = &line("prr", 100, 3, "")[..40];
    assert!(!take(&mut arms, Path::new("f"), 4, cut.as_bytes()).unwrap());
    assert_eq!(table(&arms), text);
    let error = take(&mut arms, Path::new("f"), 4, b"{}").unwrap_err().to_string();
    assert!(error.starts_with("f:4: this is no line of an access log"), "{error}");
}
