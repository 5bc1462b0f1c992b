//! Tables and estimates.

use ackclock_report::{
    Estimate, FlowMeasure, FlowSummary, Over, rate, replication_rows, replication_table,
    summary_rows, summary_table,
};

fn summary(strategy: &str, seed: u64, flow: u32) -> FlowSummary {
    FlowSummary {
        strategy: strategy.into(),
        seed,
        flow,
        name: format!("flow{flow}"),
        bytes_acked: 100_000,
        segments_sent: 105,
        retransmissions: 5,
        fast_retransmissions: 1,
        timeouts: 1,
        timeouts_non_trigger: 0,
        timeouts_multiple_losses: 0,
        timeouts_lost_retransmission: 1,
        timeouts_backed_off: 0,
        syn_timeouts: 0,
        recoveries: 2,
        ecn_reductions: 0,
        drops: Some(4),
        spurious_retransmissions: Some(1),
        goodput_bps: Some(252_400.0),
        completion_s: None,
        mean_rtt_s: None,
        active: [ackclock_tcp::Time::ZERO; 2],
    }
}

#[test]
fn json_has_exactly_these_keys_in_this_order() {
    assert_eq!(
        serde_json::to_string(&summary("newreno+lt", 7, 2)).unwrap(),
        "{\"strategy\":\"newreno+lt\",\"seed\":7,\"flow\":2,\"name\":\"flow2\",\"bytes_acked\":100000,\"segments_sent\":105,\
         \"retransmissions\":5,\"fast_retransmissions\":1,\"timeouts\":1,\"timeouts_non_trigger\":0,\
         \"timeouts_multiple_losses\":0,\"timeouts_lost_retransmission\":1,\"timeouts_backed_off\":0,\"syn_timeouts\":0,\"recoveries\":2,\"ecn_reductions\":0,\"drops\":4,\
         \"spurious_retransmissions\":1,\"goodput_bps\":252400.0,\"completion_s\":null,\"mean_rtt_s\":null}"
    );
}

#[test]
fn rates_have_the_unit_that_fits() {
    let shown = [40.0, 91_500.0, 8.1234e6, 2.5e9].map(|bps| rate(bps, 1));
    assert_eq!(shown, ["40 bit/s", "91.5 kbit/s", "8.1 Mbit/s", "2.5 Gbit/s"]);
    assert_eq!(rate(8.1234e6, 3), "8.123 Mbit/s");
}

#[test]
fn the_table_is_aligned() {
    let done = FlowSummary {
        completion_s: Some(3.1696),
        goodput_bps: Some(2.5e9),
        ..summary("sack", 10, 11)
    };
    assert_eq!(
        summary_table(&[summary("newreno+lt", 7, 2), done]),
        "\
strategy    seed  flow  bytes acked  sent  rexmit  fast  rto n/m/l/b  recoveries  drops  \
spurious       goodput  completion
newreno+lt     7     2       100000   105       5     1    1 0/0/1/0           2      4         1  \
252.4 kbit/s  unfinished
sack          10    11       100000   105       5     1    1 0/0/1/0           2      4         1  \
2.500 Gbit/s      3.170s
"
    );
    assert_eq!(summary_table(&[]).lines().count(), 1);
}

/// Names have a column where they tell several flows apart.
#[test]
fn the_table_names_flows() {
    let named = |flow, name: &str| FlowSummary { name: name.into(), ..summary("sack", 1, flow) };
    let columns = |flows: &[FlowSummary]| -> Vec<Vec<String>> {
        summary_rows(flows).into_iter().map(|row| row[2..4].to_vec()).collect()
    };
    assert_eq!(
        columns(&[named(0, "download"), named(1, "flow1")]),
        [["flow", "name"], ["0", "download"], ["1", "flow1"]]
    );
    let unnamed = [["flow", "bytes acked"], ["0", "100000"], ["1", "100000"]];
    assert_eq!(columns(&[named(0, "flow0"), named(1, "flow1")]), unnamed);
    // One flow needs no name, under whichever strategies and seeds.
    let one = [["flow", "bytes acked"], ["0", "100000"], ["0", "100000"]];
    assert_eq!(columns(&[named(0, "upload"), named(0, "upload")]), one);
}

/// Reductions for ECN have a column where there are any.
#[test]
fn the_table_counts_reductions_for_ecn() {
    let marked = FlowSummary { ecn_reductions: 31, ..summary("dctcp", 1, 0) };
    let table = summary_table(&[summary("sack", 1, 0), marked]);
    let lines: Vec<Vec<&str>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
    // Two words of the heading are "bytes acked" and "rto n/m/l/b"; two of a row are its timeouts.
    assert_eq!(lines[0][10..12], ["recoveries", "ecn"]);
    assert_eq!(
        (lines[1][9..11].to_vec(), lines[2][9..11].to_vec()),
        (vec!["2", "0"], vec!["2", "31"])
    );
}

/// So have lost SYNs.
#[test]
fn the_table_counts_timeouts_of_syns() {
    let late = FlowSummary { syn_timeouts: 2, ..summary("sack", 2, 0) };
    let table = summary_table(&[summary("sack", 1, 0), late]);
    let lines: Vec<Vec<&str>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(lines[0][10..12], ["syn", "recoveries"]);
    assert_eq!((&lines[1][9], &lines[2][9]), (&"0", &"2"));
}

#[test]
fn estimates_over_replications() {
    assert_eq!(Estimate::of(&[]), None);
    assert_eq!(Estimate::of(&[2.5]), Some(Estimate { mean: 2.5, half_width: None }));
    // The sum of ten times 0.1 is not 1.
    assert_eq!(Estimate::of(&[0.1; 10]), Some(Estimate { mean: 0.1, half_width: Some(0.0) }));
    // Standard error 1, so that the half-width is the quantile itself.
    let two = Estimate::of(&[1.0, 3.0]).unwrap();
    assert_eq!((two.mean, two.half_width), (2.0, Some(12.7062047)));
    // Mean 3, standard deviation sqrt(2.5), five values: 2.7764451 * sqrt(0.5).
    let five = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(format!("{:.7}", five.half_width.unwrap()), "1.9632432");
}

/// Quantiles beyond the tabulated ones against published values: 31, 40, 60, 120 and 1000 degrees
/// of freedom.
#[test]
fn estimates_over_many_replications() {
    for (df, t) in
        [(31, "2.03951"), (40, "2.02108"), (60, "2.00030"), (120, "1.97993"), (1000, "1.96234")]
    {
        // `df + 1` values, alternating around 0 (the last of an odd count is 0): the half-width
        // divided by the standard error is the quantile.
        let n = df + 1;
        let values: Vec<f64> = (0..n)
            .map(|i| match i {
                i if n % 2 == 1 && i == n - 1 => 0.0,
                i if i % 2 == 0 => 1.0,
                _ => -1.0,
            })
            .collect();
        let squares = values.iter().map(|v| v * v).sum::<f64>();
        let error = (squares / df as f64 / n as f64).sqrt();
        let estimate = Estimate::of(&values).unwrap();
        assert_eq!(estimate.mean, 0.0);
        assert_eq!(
            format!("{:.5}", estimate.half_width.unwrap() / error),
            t,
            "{df} degrees of freedom"
        );
    }
}

/// The completion of the runs in which every flow completed, and how many these are.
#[test]
fn an_unfinished_run_leaves_the_completion_of_the_others() {
    let of = |seed, flow, completion_s| FlowSummary {
        completion_s,
        goodput_bps: Some(1000.0),
        ..summary("sack", seed, flow)
    };
    let completion = |summaries: &[FlowSummary]| {
        let rows = replication_rows(summaries, &[]);
        (rows[0][3].clone(), rows[1][2].clone(), rows[1][3].clone())
    };
    let mut summaries = vec![
        of(1, 0, Some(1.0)),
        of(1, 1, Some(3.0)),
        of(2, 0, Some(4.0)),
        of(2, 1, None),
        of(3, 0, Some(2.0)),
        of(3, 1, Some(2.0)),
    ];
    let expected =
        |completion: &str| ("completion".into(), "1.0 ± 0.0 kbit/s".into(), completion.into());
    assert_eq!(completion(&summaries), expected("2.000 ± 0.000s (2 of 3)"));
    summaries[0].completion_s = None;
    assert_eq!(completion(&summaries), expected("2.000s (1 of 3)"));
    summaries[5].completion_s = None;
    assert_eq!(completion(&summaries), expected("unfinished"));
}

#[test]
fn replications_average_flows_within_a_seed_and_keep_the_order_of_strategies() {
    let at = |strategy, seed, flow, goodput_bps, completion_s| FlowSummary {
        goodput_bps: Some(goodput_bps),
        completion_s,
        ..summary(strategy, seed, flow)
    };
    let table = replication_table(&[
        at("sack", 1, 0, 1000.0, Some(1.0)),
        at("sack", 1, 1, 3000.0, Some(3.0)),
        at("sack", 2, 0, 4000.0, Some(4.0)),
        at("reno", 1, 0, 500.0, None),
    ]);
    assert_eq!(
        table,
        "\
strategy  runs        goodput  completion       rexmit     timeouts   recoveries        drops
sack         2  3 ± 13 kbit/s     3 ± 13s  5.00 ± 0.00  1.00 ± 0.00  2.00 ± 0.00  4.00 ± 0.00
reno         1      500 bit/s  unfinished         5.00         1.00         2.00         4.00
"
    );
}

/// A flow that has no time in the run has no goodput, which is not 0.
#[test]
fn a_flow_without_goodput_does_not_count_in_its_mean() {
    let at = |flow, goodput_bps| FlowSummary { goodput_bps, ..summary("sack", 1, flow) };
    let flows = [at(0, Some(1000.0)), at(1, Some(3000.0)), at(2, None)];
    let goodput = FlowMeasure::named("goodput").unwrap();
    let over = |over| goodput.over(over, &flows);
    let all = [Over::Mean, Over::Min, Over::Median, Over::Percentile(34.0)].map(over);
    assert_eq!(all, [Some(2000.0), Some(1000.0), Some(1000.0), Some(1000.0)]);
    assert_eq!(goodput.over(Over::Mean, &flows[2..]), None);
    let cell = |flows: &[FlowSummary]| replication_rows(flows, &[])[1][2].clone();
    assert_eq!((cell(&flows), cell(&flows[2..])), ("2.0 kbit/s".into(), "-".into()));
    let rows = summary_rows(&flows);
    let column = rows[0].iter().position(|heading| heading == "goodput").unwrap();
    assert_eq!([&rows[1][column], &rows[3][column]], ["1.0 kbit/s", "-"]);
}
