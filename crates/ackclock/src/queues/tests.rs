use ackclock_net::scenario::Scenario;
use ackclock_tcp::Span;

use super::*;

fn visit(ms: u64, packets: u32, waited: u64, dropped: Option<&'static str>) -> Visit {
    let (came, waited) = (Time(ms * 1_000_000), Span::from_millis(waited));
    let bytes = u64::from(packets) * 1000;
    Visit { came, size: 1000, packets, bytes, waited, dropped, marked: false, waits: false }
}

fn points(curve: &Curve) -> Vec<(f64, f64)> {
    curve.points.iter().map(|point| (point.x, point.y.mean)).collect()
}

/// Two packets in one interval count by the longer queue. The queue is empty once the last one
/// that joined has begun to be transmitted, be others dropped meanwhile.
#[test]
fn a_curve_has_the_most_of_each_interval_and_falls_to_none() {
    let mut series = Series::new("a".into(), LinkId(0), String::new(), Time::NEVER);
    let visits = [
        visit(2, 1, 3, None),
        visit(2, 2, 7, None),
        visit(3, 3, 0, Some("queue")),
        visit(40, 1, 4, None),
    ];
    visits.iter().for_each(|visit| series.visit(visit));
    let lengths = [(0.0, 0.0), (0.002, 3.0), (0.003, 3.0), (0.009, 0.0), (0.04, 2.0), (0.044, 0.0)];
    assert_eq!(points(&series.curve(length)), lengths);
    // One that was dropped waited for nothing.
    let waits = [(0.0, 0.0), (0.002, 7.0), (0.009, 0.0), (0.04, 4.0), (0.044, 0.0)];
    assert_eq!(points(&series.curve(waited)), waits);
}

/// The run ends at 10 ms. One packet would wait for 12 ms, and of another it is not known.
#[test]
fn a_queue_that_is_full_as_the_run_ends_is_not_drawn_as_empty() {
    let of = |visits: &[Visit]| {
        let end = Time(10_000_000);
        let mut series = Series::new("a".into(), LinkId(0), String::new(), end);
        visits.iter().for_each(|visit| series.visit(visit));
        [length, waited].map(|value| points(&series.curve(value)))
    };
    let known = [visit(2, 1, 3, None), visit(4, 3, 12, None)];
    let lengths = vec![(0.0, 0.0), (0.002, 2.0), (0.004, 4.0), (0.01, 4.0)];
    let waits = vec![(0.0, 0.0), (0.002, 3.0), (0.004, 12.0), (0.01, 12.0)];
    assert_eq!(of(&known), [lengths.clone(), waits]);
    let unknown = [known[0], Visit { waits: true, ..visit(4, 3, 6, None) }];
    let waits = vec![(0.0, 0.0), (0.002, 3.0), (0.01, 3.0)];
    assert_eq!(of(&unknown), [lengths, waits]);
    // What has left within the last interval is not drawn as waiting.
    let mut series = Series::new("a".into(), LinkId(0), String::new(), Time(9_500_000));
    series.visit(&visit(9, 1, 0, None));
    assert_eq!(points(&series.curve(length)), [(0.0, 0.0), (0.009, 2.0), (0.0095, 0.0)]);
}

#[test]
fn a_curve_is_called_by_its_strategy() {
    let name = |strategy: &str| {
        let series = Series::new(strategy.into(), LinkId(0), String::new(), Time::NEVER);
        series.curve(length).name
    };
    assert_eq!([name("sack"), name("")], ["sack", ""]);
    assert_eq!(name(SCENARIOS_OWN), "each flow its own strategy");
}

#[test]
fn intervals_double_where_a_run_is_long() {
    let mut series = Series::new("a".into(), LinkId(0), String::new(), Time::NEVER);
    [visit(1, 4, 1, None), visit(600, 9, 1, None)].iter().for_each(|v| series.visit(v));
    assert_eq!((series.interval, series.most.len()), (2_000_000, 301));
    assert_eq!((series.most[0].packets, series.most[300].packets), (5, 10));
}

/// At 10 ms the run ends: one packet has begun to be transmitted, one still waits.
#[test]
fn what_waits_as_the_run_ends_is_known_so_far() {
    let end = Time(10_000_000);
    assert_eq!(until(end, visit(2, 1, 8, None)), visit(2, 1, 8, None));
    let waits = Visit { waits: true, ..visit(2, 1, 8, None) };
    assert_eq!(until(end, visit(2, 1, 9, None)), waits);
}

#[test]
fn nothing_waited_nothing_shown() {
    let mut queues = Queues::new(true);
    queues.begin(
        Some("a"),
        &[],
        &Scenario::new(ackclock_net::scenario::units::Duration(Span(1))),
        Time::NEVER,
    );
    assert_eq!(queues.to_html(), "");
}
