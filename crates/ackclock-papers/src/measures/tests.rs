use ackclock_tcp::{Stats, Time};

use super::*;

/// A flow that is active between these seconds and has so many bytes acknowledged.
fn flow(from: u64, to: u64, bytes_acked: u64) -> FlowSummary {
    let active = [from, to].map(|s| Time(s * 1_000_000_000));
    let goodput_bps = Some(bytes_acked as f64 * 8.0 / (to - from) as f64);
    let sender = FlowSummary::of_sender("sack", 1, 0, &Stats::default());
    FlowSummary { active, bytes_acked, goodput_bps, ..sender }
}

#[test]
fn the_goodput_of_flows_is_over_the_time_of_all_of_them() {
    let over = |name: &str, flows: &[FlowSummary]| {
        let (_, value) = flow_measures().find(|(measure, _)| *measure == name).unwrap();
        value.over(flows)
    };
    let one = flow(2, 4, 1_000_000);
    assert_eq!(over("goodput", std::slice::from_ref(&one)), 4000.0);
    let together = [one.clone(), one.clone()];
    assert_eq!(over("goodput", &together), 8000.0);
    // One after the other with a pause: 2 MB in 8 s.
    let apart = [flow(8, 10, 1_000_000), one];
    assert_eq!(over("goodput", &apart), 2000.0);
    assert_eq!(over("goodput-sum", &apart), 8000.0);
    assert_eq!(over("goodput", &[]), 0.0);
    // The run ended before the other one began.
    let unstarted = FlowSummary { active: [Time(40_000_000_000); 2], ..flow(40, 41, 0) };
    assert_eq!(over("goodput", &[flow(2, 4, 1_000_000), unstarted.clone()]), 4000.0);
    assert_eq!(over("goodput", &[unstarted]), 0.0);
}

#[test]
fn names_are_unique_and_the_page_about_the_format_has_those_of_this_crate() {
    let mut names: Vec<&str> = measures().map(|m| m.name).collect();
    let page = include_str!("../../papers/README.md");
    for m in OF_FLOWS.iter().chain(&OVER_ORACLE).chain(&OF_TIMEOUTS) {
        assert!(page.contains(&format!("`{}`", m.name)), "{}", m.name);
    }
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_quantile_is_named_by_its_percent() {
    assert_eq!(quantile("recovery-time-p95", "recovery-time"), Some(95.0));
    for other in ["recovery-time-p101", "recovery-time-pipe", "recovery-time", "time-p95"] {
        assert_eq!(quantile(other, "recovery-time"), None, "{other}");
    }
}
