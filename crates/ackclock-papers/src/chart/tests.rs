use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use ackclock_report::{Line, Plot};
use ackclock_run::{AxisLabel, GridCell};

use super::*;
use crate::timeouts::tests::five_timeouts;

fn spec(text: &str) -> ChartSpec {
    toml::from_str(text).unwrap()
}

fn planned(labels: &[(&str, &str)]) -> PlannedCell {
    let scenario = "duration = \"1s\"\n\
                    link = [{ from = \"a\", to = \"b\", rate = \"1mbit\", delay = \"1ms\" }]\n\
                    flow = [{ from = \"a\", to = \"b\" }]\n";
    let place =
        |(axis, label): &(&str, &str)| AxisLabel { axis: (*axis).into(), label: (*label).into() };
    let labels = labels.iter().map(place).collect();
    let (scenario, table) = (
        Scenario::from_toml(scenario, &ackclock_tcp::Registry::default()).unwrap(),
        toml::Table::new(),
    );
    let cell = GridCell { labels, scenario, table };
    PlannedCell { cell, groups: Vec::new(), traces: Default::default() }
}

fn measured(samples: &[(&str, &[f64])]) -> Cell {
    let measured: BTreeMap<_, _> = samples
        .iter()
        .map(|(name, samples)| (name.to_string(), Measurement::Samples(samples.to_vec())))
        .collect();
    Cell {
        labels: Vec::new(),
        seed: 1,
        runs: 1,
        name: String::new(),
        rows: Vec::new(),
        tables: Vec::new(),
        sequences: Vec::new(),
        measured,
        unmet: Vec::new(),
    }
}

fn axis(name: &str, values: &[&str]) -> Axis {
    let values = values.iter().map(|v| (*v).into()).collect();
    let (labels, quick) = (Vec::new(), Vec::new());
    Axis { name: name.into(), key: "link[0].rate".into(), values, labels, quick }
}

#[test]
fn an_axis_has_the_numbers_of_its_labels_in_one_unit() {
    let drawn = |text: &str, values: [&str; 2]| {
        let spec = spec(&format!("title = \"T\"\nmeasure = \"goodput\"\naxis = \"rate\"{text}"));
        let strategy = Strategy { name: "sack".into(), composition: None, of_flows: false };
        let row = Row {
            label: String::new(),
            measurement: "goodput/sack".into(),
            unit: "kbit/s".into(),
            place: String::new(),
            paper: None,
            ours: Some(Estimate { mean: 1.0, half_width: None }),
            shown: String::new(),
        };
        let cells = values.map(|_| Cell { rows: vec![row.clone()], ..measured(&[]) });
        let planned = values.map(|value| planned(&[("rate", value)]));
        let chart = chart(&spec, (&[strategy], &[axis("rate", &values)]), &planned, &cells);
        let Plot::Curves { curves, .. } = chart.plot else { panic!("curves are expected") };
        (chart.x, curves[0].points.iter().map(|p| p.x).collect::<Vec<_>>())
    };
    let given = "\nx = \"the link\"";
    for (text, values, title, points) in [
        ("", ["500kbit", "1mbit"], "rate (bit/s)", vec![5e5, 1e6]),
        (given, ["500kbit", "1mbit"], "the link (bit/s)", vec![5e5, 1e6]),
        ("\nx = \"r (bit/s)\"", ["500kbit", "1mbit"], "r (bit/s)", vec![5e5, 1e6]),
        ("", ["1mbit", "2mbit"], "rate (mbit)", vec![1.0, 2.0]),
        (given, ["1mbit", "2mbit"], "the link", vec![1.0, 2.0]),
        ("", ["1", "2"], "rate", vec![1.0, 2.0]),
    ] {
        assert_eq!(drawn(text, values), (title.into(), points), "{text} {values:?}");
    }
}

#[test]
fn quantiles_are_drawn_as_a_distribution_in_the_order_of_their_shares() {
    let spec =
        spec("title = \"Figure 5\"\nquantiles = \"time\"\nlog_x = true\nwhere = { rtt = \"far\" }");
    let strategies: Vec<Strategy> = ["prr", "x-prr"]
        .map(|name| Strategy { name: name.into(), composition: None, of_flows: false })
        .to_vec();
    let planned =
        [planned(&[("rtt", "near"), ("queue", "9")]), planned(&[("rtt", "far"), ("queue", "9")])];
    let far: [(&str, &[f64]); 7] = [
        ("time-p5/prr", &[20.0, 40.0]),
        ("time-p10/prr", &[100.0, 120.0]),
        ("time-p1/prr", &[10.0, 10.0]),
        ("time-p99/x-prr", &[900.0, 900.0]),
        ("time-p50/prr/flow0", &[7.0, 7.0]),
        ("time/prr", &[8.0, 8.0]),
        ("up-time-p50/prr", &[9.0, 9.0]),
    ];
    let cells = [measured(&[("time-p50/prr", &[1.0, 1.0])]), measured(&far)];
    let chart = chart(&spec, (&strategies, &[]), &planned, &cells);
    assert_eq!((chart.x.as_str(), chart.y.as_str()), ("time", "share that is no greater (%)"));
    let Plot::Curves { curves, log_x: true } = chart.plot else { panic!("curves are expected") };
    let drawn: Vec<(&str, Vec<Point>)> =
        curves.iter().map(|c| (c.name.as_str(), c.points.clone())).collect();
    let points =
        |points: &[(f64, f64)]| points.iter().copied().map(Point::from).collect::<Vec<_>>();
    let expected = [
        ("prr, 9", points(&[(10.0, 1.0), (30.0, 5.0), (110.0, 10.0)])),
        ("x-prr, 9", points(&[(900.0, 99.0)])),
    ];
    assert_eq!(drawn, expected);
    assert!(curves.iter().all(|c| c.line == Line::Straight && c.paper.is_empty()));
}

#[test]
fn a_chart_can_draw_some_of_the_strategies() {
    let spec = spec("title = \"T\"\nquantiles = \"time\"\nstrategies = [\"sack\"]");
    let strategies = ["sack", "prr"].map(|name| Strategy {
        name: name.into(),
        composition: None,
        of_flows: false,
    });
    let cells = [measured(&[("time-p50/sack", &[1.0]), ("time-p50/prr", &[2.0])])];
    let Plot::Curves { curves, .. } =
        chart(&spec, (&strategies, &[]), &[planned(&[])], &cells).plot
    else {
        panic!("curves are expected")
    };
    assert_eq!(curves.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["sack"]);
}

#[test]
fn each_flow_that_has_a_row_is_a_curve() {
    let spec = spec("title = \"Figure 4\"\nmeasure = \"bandwidth\"\naxis = \"load\"");
    let row = |measurement: &str, mean: f64| Row {
        label: String::new(),
        measurement: measurement.into(),
        unit: "kbit/s".into(),
        place: String::new(),
        paper: None,
        ours: Some(Estimate { mean, half_width: None }),
        shown: String::new(),
    };
    let strategies: Vec<Strategy> = ["own", "sack"]
        .map(|name| Strategy { name: name.into(), composition: None, of_flows: name == "own" })
        .to_vec();
    let rows = [
        row("bandwidth/own/b", 2.0),
        row("bandwidth/own/a", 1.0),
        row("bandwidth/sack", 3.0),
        row("bandwidth/sack/a", 5.0),
        // Of `show`, once more.
        row("bandwidth/sack", 3.0),
        row("rtt/own/a", 4.0),
    ];
    let cells = [Cell { rows: rows.to_vec(), ..measured(&[]) }];
    let axes = [axis("load", &["0.5"])];
    let names = |strategies: &[Strategy]| {
        let Plot::Curves { curves, .. } =
            chart(&spec, (strategies, &axes), &[planned(&[("load", "0.5")])], &cells).plot
        else {
            panic!("curves are expected")
        };
        assert!(curves.iter().all(|c| c.points.len() == 1));
        curves.iter().map(|c| (c.name.clone(), c.points[0].y.mean)).collect::<Vec<_>>()
    };
    let named = |names: &[(&str, f64)]| {
        names.iter().map(|(name, y)| (name.to_string(), *y)).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&strategies),
        named(&[("own, b", 2.0), ("own, a", 1.0), ("sack", 3.0), ("sack, a", 5.0)])
    );
    assert_eq!(names(&strategies[..1]), named(&[("b", 2.0), ("a", 1.0)]));
}

#[test]
fn the_figure_shows_the_share_of_all_timeouts_at_each_window_and_above() {
    let none = Tally::default();
    let paper = |share| RowSpec {
        measurement: "share-multiple-losses/reno".into(),
        label: None,
        paper: Some(NumberOrText::Number(share)),
        scale: 1.0,
        unit: None,
        place: String::new(),
    };
    let chart = timeouts("Figure 1".into(), "reno", &[&five_timeouts(), &none], &[paper(11.0)]);
    let Plot::Curves { curves, log_x: false } = chart.plot else { panic!("{chart:?}") };
    let expected = [
        ("all timeouts", [100.0, 80.0, 80.0, 60.0, 60.0, 40.0, 40.0, 20.0]),
        ("non-trigger", [40.0, 40.0, 40.0, 20.0, 20.0, 20.0, 20.0, 20.0]),
        ("multiple losses", [40.0, 40.0, 40.0, 40.0, 40.0, 20.0, 20.0, 0.0]),
        ("lost retransmission", [20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    for (curve, (name, shares)) in curves.iter().zip(expected) {
        let at = |x: f64| curve.points.iter().find(|p| p.x == x).map(|p| p.y.mean);
        assert_eq!(
            (curve.name.as_str(), [1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 12.0, 13.0].map(at)),
            (name, shares.map(Some))
        );
    }
    let marks: Vec<_> = curves.iter().map(|c| c.paper.clone()).collect();
    assert_eq!(marks, [vec![], vec![], vec![(1.0, 11.0)], vec![]]);
}
