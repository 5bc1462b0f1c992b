use crate::measure::Measure;

use super::*;

/// Of the two rows the first is the one that the other is held against: it has no ratio.
#[test]
fn a_page_has_code_and_bars_where_there_are_any() {
    let row = |name: &str, ratio: Option<f64>| RowOutcome {
        name: name.into(),
        strategy: None,
        against: None,
        paper: None,
        measures: ratio.map(|ratio| (Measure::GoodputRatio, ratio)).into_iter().collect(),
        runs: Vec::new(),
        simulated: Vec::new(),
    };
    let cell = |name: &str| Cell {
        name: name.into(),
        rows: vec![row("kernel-reno", None), row("net-reno", Some(1.5))],
        agreement: None,
    };
    let outcome = Outcome {
        lab: "l".into(),
        title: "t".into(),
        place: String::new(),
        notes: "The option `tc <netem>` is used.".into(),
        why: String::new(),
        quick: false,
        seconds: 1.0,
        cells: vec![cell("loss 1%"), cell("loss 2%")],
        aims: Vec::new(),
        chart: Measure::GoodputRatio,
    };
    let Plot::Bars { bars, .. } = outcome.chart().plot else { panic!() };
    let names: Vec<&str> = bars.iter().map(|bars| &*bars.name).collect();
    assert_eq!(names, ["net-reno"]);
    assert_eq!(outcome.chart().y, "goodput over that of the kernel (ratio)");
    let html = outcome.to_html();
    assert!(html.contains("<p>The option <code>tc &lt;netem&gt;</code> is used.</p>"));
}
