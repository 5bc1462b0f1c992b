//! Charts as SVG. With a short title and a legend of one row the axes lie between 46 and 706 px,
//! and 86 and 366 px; data lie 10 px further in along x.

use ackclock_report::{Bars, Chart, Curve, Estimate, Line, Plot, Point};
use proptest::prelude::*;
use roxmltree::{Document, Node};

fn chart(plot: Plot) -> String {
    Chart { title: "t".into(), x: "size (kB)".into(), y: "rate (kb/s)".into(), plot }.to_svg()
}

fn curves(log_x: bool, curves: impl Into<Vec<Curve>>) -> String {
    chart(Plot::Curves { curves: curves.into(), log_x })
}

fn bars(categories: &[&str], bars: Vec<Bars>) -> String {
    chart(Plot::Bars { categories: categories.iter().map(|c| c.to_string()).collect(), bars })
}

fn curve(points: &[(f64, f64)]) -> Curve {
    Curve {
        name: "newreno".into(),
        points: points.iter().copied().map(Point::from).collect(),
        ..Curve::default()
    }
}

/// The paper's numbers of curves are told apart by shape, too: each diamond has that of its series.
#[test]
fn numbers_of_the_paper_have_the_shape_of_their_series() {
    let series = |y| Curve { paper: vec![(0.0, y)], ..curve(&[(0.0, y), (1.0, y)]) };
    let svg = curves(false, [series(1.0), series(2.0), series(3.0)]);
    let inner = |class| {
        let last = paths(&svg, class).pop().unwrap();
        last.split_once('m').unwrap().1.to_string()
    };
    let shapes = ["-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z", "-2 -2h4v4h-4z", "0 -2.5l2.5 4.5h-5z"];
    assert_eq!(["s0", "s1", "s2"].map(inner), shapes);
    // The legend has the shapes: of curves on their lines, of steps in their diamonds.
    let steps = curves(false, [Curve { line: Line::Steps, ..series(1.0) }]);
    let legend = steps.split_once(">newreno</text>").unwrap().0;
    assert!(legend.contains(&format!("M14 7m{}", shapes[0])), "{legend}");
}

fn estimate(mean: f64, half_width: f64) -> Estimate {
    Estimate { mean, half_width: Some(half_width) }
}

/// A text and where it stands.
type Tick = (String, f64);

/// Texts of the ticks with their places: of x below the axes, of y to their left.
fn ticks(svg: &str) -> (Vec<Tick>, Vec<Tick>) {
    let document = Document::parse(svg).unwrap();
    let texts = document
        .descendants()
        .filter(|n| n.attribute("stroke") == Some("none") && n.has_tag_name("text"));
    let (left, below): (Vec<Node>, Vec<Node>) =
        texts.partition(|n| n.attribute("text-anchor") == Some("end"));
    let place = |n: &Node, at| {
        (n.text().unwrap_or_default().to_string(), n.attribute(at).unwrap().parse().unwrap())
    };
    (below.iter().map(|n| place(n, "x")).collect(), left.iter().map(|n| place(n, "y")).collect())
}

fn expected(ticks: &[(&str, f64)]) -> Vec<Tick> {
    ticks.iter().map(|(text, at)| (text.to_string(), *at)).collect()
}

/// The paths between the axes in the colour of a series, or of the paper and of intervals over
/// bars.
fn paths(svg: &str, class: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let data = document.descendants().filter(|n| n.has_tag_name("path"));
    let drawn = data.filter(|n| {
        let legend = n.ancestors().any(|a| a.has_attribute("transform"));
        !legend && n.ancestors().find_map(|a| a.attribute("class")) == Some(class)
    });
    drawn.map(|n| n.attribute("d").unwrap().to_string()).collect()
}

fn titles(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let titles = document.descendants().filter(|n| n.has_tag_name("title"));
    titles.map(|n| n.text().unwrap_or_default().to_string()).collect()
}

fn circle(x: f64, y: f64) -> String {
    format!("M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z")
}

fn diamond(x: f64, y: f64) -> String {
    format!("M{x} {y}m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z")
}

#[test]
fn a_curve_with_an_interval_and_a_number_of_the_paper() {
    let mut curve = curve(&[(0.0, 0.0), (50.0, 5.0), (100.0, 10.0)]);
    curve.points[1].y.half_width = Some(1.0);
    curve.paper = vec![(75.0, 8.0)];
    let svg = curves(false, [curve]);
    let (x, y) = ticks(&svg);
    let xs =
        [("0", 56.0), ("20", 184.0), ("40", 312.0), ("60", 440.0), ("80", 568.0), ("100", 696.0)];
    assert_eq!(x, expected(&xs));
    // The baseline of a text is 4 px below its middle.
    let ys = [("0", 370.0), ("2", 314.0), ("4", 258.0), ("6", 202.0), ("8", 146.0), ("10", 90.0)];
    assert_eq!(y, expected(&ys));
    let line = "M56 366L376 226L696 86".to_string();
    let interval = "M372 198h8m-4 0V254m-4 0h8".to_string();
    let paper = "M536 142m0 -7.5l7.5 7.5l-7.5 7.5l-7.5 -7.5z".to_string();
    assert_eq!(
        paths(&svg, "s0"),
        [
            line,
            circle(56.0, 366.0),
            interval,
            circle(376.0, 226.0),
            circle(696.0, 86.0),
            paper.clone(),
            "M536 142m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z".into()
        ]
    );
    assert_eq!(paths(&svg, "panel"), [paper]);
    assert_eq!(
        titles(&svg),
        [
            "newreno\nrate (kb/s): 0\nsize (kB): 0",
            "newreno\nrate (kb/s): 5.0 ± 1.0\nsize (kB): 50",
            "newreno\nrate (kb/s): 10\nsize (kB): 100",
            "newreno, paper\nrate (kb/s): 8\nsize (kB): 75"
        ]
    );
    for entry in [">newreno</text>", ">paper</text>", ">95 % confidence interval</text>"] {
        assert_eq!(svg.matches(entry).count(), 1, "{entry}");
    }
}

#[test]
fn the_legend_names_only_what_is_there() {
    let svg = curves(false, [curve(&[(0.0, 0.0), (1.0, 1.0)])]);
    assert!(!svg.contains(">paper<") && !svg.contains("confidence"));
}

#[test]
fn a_logarithmic_axis() {
    // Two decades over 640 px: 320 px each, and log10(2) = 0.30103 of that to the double.
    let svg =
        curves(true, [curve(&[(0.0, 3.0), (10.0, 1.0), (100.0, 1.0), (-5.0, 7.0), (1000.0, 1.0)])]);
    let xs = [
        ("10", 56.0),
        ("20", 152.3),
        ("50", 279.7),
        ("100", 376.0),
        ("200", 472.3),
        ("500", 599.7),
        ("1000", 696.0),
    ];
    assert_eq!(ticks(&svg).0, expected(&xs));
    // What has no logarithm interrupts the line, and the y axis need not reach to it.
    assert_eq!(paths(&svg, "s0")[0], "M56 86L376 86M696 86");
}

#[test]
fn a_logarithmic_axis_of_many_decades_names_some_powers_of_ten() {
    let svg = curves(true, [curve(&[(1e-3, 1.0), (1e9, 1.0)])]);
    let names: Vec<String> = ticks(&svg).0.into_iter().map(|(text, _)| text).collect();
    assert_eq!(names, ["0.01", "1", "100", "10000", "1000000", "100000000"]);
}

/// Its title says that it is logarithmic, and both ends have a name if there is room.
#[test]
fn a_logarithmic_axis_names_its_ends() {
    let names = |points: &[(f64, f64)]| -> Vec<String> {
        ticks(&curves(true, [curve(points)])).0.into_iter().map(|(text, _)| text).collect()
    };
    assert_eq!(names(&[(0.1, 1.0), (3.0, 1.0)]), ["0.1", "0.2", "0.5", "1", "2", "3"]);
    // 21 is too close to 20.
    assert_eq!(names(&[(0.73, 1.0), (21.0, 1.0)]), ["0.73", "1", "2", "5", "10", "20"]);
    let titles = |log_x| curves(log_x, [curve(&[(1.0, 1.0)])]);
    assert!(titles(true).contains(">size (kB), logarithmic</text>"));
    assert!(titles(false).contains(">size (kB)</text>"));
}

/// A unit that has a prefix gets no second one.
#[test]
fn a_prefix_is_written_once() {
    let last = |y: &str| {
        let plot =
            Plot::Curves { curves: vec![curve(&[(0.0, 0.0), (1.0, 60_000.0)])], log_x: false };
        let svg = Chart { title: "t".into(), x: String::new(), y: y.into(), plot }.to_svg();
        ticks(&svg).1.pop().unwrap().0
    };
    let names = ["goodput (kbit/s)", "rate (Mb/s)", "time (ms)"].map(last);
    assert_eq!(names, ["60000", "60000", "60000"]);
    assert_eq!(["queue (bytes)", "sent (segments)", "events"].map(last), ["60k", "60k", "60k"]);
}

#[test]
fn a_logarithmic_axis_within_a_decade_has_linear_ticks() {
    let svg = curves(true, [curve(&[(20.0, 1.0), (60.0, 1.0)])]);
    // log10(40/20) / log10(60/20) = 0.63093.
    let xs = [("20", 56.0), ("30", 292.2), ("40", 459.8), ("50", 589.8), ("60", 696.0)];
    assert_eq!(ticks(&svg).0, expected(&xs));
}

#[test]
fn steps_hold_until_the_next_point_and_to_the_end() {
    let steps = |points: &[(f64, f64)]| Curve { line: Line::Steps, ..curve(points) };
    let cwnd = steps(&[(0.0, 1.0), (2.0, 4.0), (4.0, 2.0)]);
    let ssthresh = steps(&[(0.0, f64::INFINITY), (2.0, 2.0), (2.0, 3.0), (3.0, 3.0)]);
    let svg = curves(false, [cwnd, ssthresh]);
    // 160 px a second; the y axis ends at 4, 70 px a segment.
    assert_eq!(paths(&svg, "s0"), ["M56 296H376V86H696V226H696", "M56 296H376", "M376 86H696"]);
    assert_eq!(paths(&svg, "s1"), ["M376 226V156H696", "M376 156H696"]);
    assert_eq!(
        titles(&svg),
        [
            "newreno\nrate (kb/s): 1\nsize (kB): 0 to 2",
            "newreno\nrate (kb/s): 4\nsize (kB): 2 to 4",
            "newreno\nrate (kb/s): 3\nsize (kB): 2"
        ]
    );
}

#[test]
fn grouped_bars() {
    let with_paper = Bars {
        name: "bugfix".into(),
        values: vec![Some(estimate(5.0, 1.0)), Some(estimate(2.5, 0.5))],
        paper: vec![Some(10.0), None],
    };
    let other = Bars {
        name: "ACK heuristic".into(),
        values: vec![None, Some(estimate(-5.0, 0.0))],
        paper: vec![],
    };
    let svg = bars(&["loss", "duplicate"], vec![with_paper, other]);
    // From -5 to 10 in steps of 5, 93.33 px each: 0 lies at 272.7. Groups are centred at 211 and
    // 541, bars 56 px apart.
    assert_eq!(
        ticks(&svg),
        (
            expected(&[("loss", 211.0), ("duplicate", 541.0)]),
            expected(&[("-5", 370.0), ("0", 276.7), ("5", 183.3), ("10", 90.0)])
        )
    );
    assert_eq!(paths(&svg, "s0"), ["M157 272.7V179.3H209V272.7z", "M487 272.7V226H539V272.7z"]);
    assert_eq!(paths(&svg, "s1")[0], "M543 366V272.7H595V366z");
    // Hatched by lines 6 px apart, cut at the edges.
    let hatching = &paths(&svg, "s1")[1];
    assert!(hatching.starts_with("M543 278.7L549 272.7M543 284.7L555 272.7"), "{hatching}");
    assert!(hatching.ends_with("M587.7 366L595 358.7M593.7 366L595 364.7"), "{hatching}");
    // The interval stands left of the paper's number, and in the middle where there is none.
    assert_eq!(
        paths(&svg, "ink"),
        [
            "M167.8 160.7h8m-4 0V198m-4 0h8".to_string(),
            diamond(195.3, 86.0),
            "M509 216.7h8m-4 0V235.3m-4 0h8".to_string(),
            "M565 366h8m-4 0V366m-4 0h8".to_string()
        ]
    );
    assert_eq!(titles(&svg)[1], "bugfix, paper\nrate (kb/s): 10\nsize (kB): loss");
}

#[test]
fn an_interval_does_not_take_the_axis_below_0() {
    let svg = curves(
        false,
        [Curve { points: vec![Point { x: 1.0, y: estimate(1.0, 3.0) }], ..curve(&[]) }],
    );
    let ys = [("0", 370.0), ("1", 300.0), ("2", 230.0), ("3", 160.0), ("4", 90.0)];
    assert_eq!(ticks(&svg).1, expected(&ys));
    assert_eq!(paths(&svg, "s0")[1], "M372 86h8m-4 0V366m-4 0h8");
}

#[test]
fn no_two_series_of_42_look_alike() {
    let many: Vec<Curve> = (0..42).map(|_| curve(&[(0.0, 0.0)])).collect();
    let svg = curves(false, many);
    let document = Document::parse(&svg).unwrap();
    let signs = document.descendants().filter(|n| n.has_attribute("transform"));
    let looks = signs.map(|n| {
        let shape = n.children().filter(|c| c.is_element()).nth(1).and_then(|c| c.attribute("d"));
        (n.attribute("class").unwrap().to_string(), shape.unwrap().to_string())
    });
    assert_eq!(looks.collect::<std::collections::BTreeSet<_>>().len(), 42);
}

#[test]
fn text_is_escaped() {
    let evil = "</title><script>'\"&\u{0}";
    let escaped = "&lt;/title&gt;&lt;script&gt;&#39;&quot;&amp;\u{fffd}";
    let named = Curve { name: evil.into(), paper: vec![(1.0, 1.0)], ..curve(&[(0.0, 0.0)]) };
    let bar =
        Bars { name: evil.into(), values: vec![Some(estimate(1.0, 0.0))], paper: vec![Some(1.0)] };
    for plot in [
        Plot::Curves { curves: vec![named], log_x: false },
        Plot::Bars { categories: vec![evil.into()], bars: vec![bar] },
    ] {
        let svg = Chart { title: evil.into(), x: evil.into(), y: evil.into(), plot }.to_svg();
        assert!(!svg.contains("<script") && svg.contains(&format!("aria-label=\"{escaped}\"")));
        Document::parse(&svg).unwrap();
    }
}

#[test]
fn long_names_are_wrapped_and_shortened() {
    let svg = bars(
        &["a name of several words"; 10],
        vec![Bars { values: vec![Some(estimate(1.0, 0.0))], ..Bars::default() }],
    );
    // 66 px for each: ten characters.
    let lines: Vec<String> = ticks(&svg).0.into_iter().take(3).map(|(text, _)| text).collect();
    assert_eq!(lines, ["a name of", "several", "words"]);
    let svg = bars(
        &["an incomprehensible name that never ends"; 10],
        vec![Bars { values: vec![Some(estimate(1.0, 0.0))], ..Bars::default() }],
    );
    let lines: Vec<String> = ticks(&svg).0.into_iter().take(3).map(|(text, _)| text).collect();
    assert_eq!(lines, ["an", "incompreh…", "name that…"]);
}

#[test]
fn nothing_to_draw() {
    let nan = Curve {
        name: "nan".into(),
        paper: vec![(1.0, f64::NAN)],
        ..curve(&[(f64::NAN, 1.0), (1.0, f64::INFINITY)])
    };
    let empty = Bars { values: vec![None, Some(estimate(f64::NAN, 1.0))], ..Bars::default() };
    for svg in [
        curves(false, []),
        curves(false, [curve(&[])]),
        curves(false, [nan]),
        curves(true, [curve(&[(0.0, 1.0), (-1.0, 1.0)])]),
        bars(&[], vec![]),
        bars(&[], vec![Bars { values: vec![Some(estimate(1.0, 0.0))], ..Bars::default() }]),
        bars(&["a", "b"], vec![empty]),
    ] {
        assert!(svg.contains(">no data</text>"));
        assert_eq!((paths(&svg, "s0"), ticks(&svg)), (vec![], (vec![], vec![])));
    }
}

#[test]
fn one_point_and_equal_values() {
    let svg = curves(false, [curve(&[(5.0, 0.0)])]);
    assert_eq!(paths(&svg, "s0"), ["M376 366".to_string(), circle(376.0, 366.0)]);
    // From 4.5 to 5.5 over 640 px, 0 to 1 over 280 px.
    assert_eq!(
        ticks(&svg).0,
        expected(&[("4.6", 120.0), ("4.8", 248.0), ("5.0", 376.0), ("5.2", 504.0), ("5.4", 632.0)])
    );
    assert_eq!(ticks(&svg).1.last(), Some(&("1.0".to_string(), 90.0)));
    // Two values that differ by less than an axis can name count as one.
    let svg = curves(false, [curve(&[(1e9, 3.0), (1e9 + 1e-6, 3.0)])]);
    assert_eq!(paths(&svg, "s0")[0], "M376 86L376 86");
    // A point on a logarithmic axis is the middle of a decade.
    assert_eq!(paths(&curves(true, [curve(&[(7.0, 1.0)])]), "s0")[0], "M376 86");
}

#[test]
fn an_interval_that_is_no_number_is_left_out() {
    for half_width in [f64::NAN, f64::INFINITY, -1.0] {
        let svg = curves(
            false,
            [Curve { points: vec![Point { x: 1.0, y: estimate(1.0, half_width) }], ..curve(&[]) }],
        );
        assert_eq!(paths(&svg, "s0"), ["M376 86".to_string(), circle(376.0, 86.0)]);
        assert_eq!(titles(&svg), ["newreno\nrate (kb/s): 1\nsize (kB): 1"]);
    }
}

#[test]
fn very_small_and_very_large_numbers_have_an_exponent() {
    let svg = curves(false, [curve(&[(0.0, 0.0), (4e-12, 3e20)])]);
    let (x, y) = ticks(&svg);
    assert_eq!(x[1].0, "1e-12");
    assert_eq!(y.last().unwrap().0, "3.0e20");
    assert_eq!(titles(&svg)[1], "newreno\nrate (kb/s): 3e20\nsize (kB): 4e-12");
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -10.0..10.0_f64, Just(0.0), (0..4).prop_map(f64::from)]
}

proptest! {
    /// Whatever the numbers: the SVG is well-formed, and every path begins within it.
    #[test]
    fn any_numbers(
        points in prop::collection::vec((number(), number(), prop::option::of(number())), 0..6),
        paper in prop::collection::vec((number(), number()), 0..3),
        (log_x, steps, categories) in (any::<bool>(), any::<bool>(), 0..40_usize),
    ) {
        let line = if steps { Line::Steps } else { Line::Straight };
        let estimates = points.iter().map(|(_, mean, half_width)| Estimate { mean: *mean, half_width: *half_width });
        let series = Bars {
            name: "b".into(),
            values: estimates.clone().map(Some).collect(),
            paper: paper.iter().map(|(_, y)| Some(*y)).collect(),
        };
        let points = points.iter().zip(estimates).map(|((x, ..), y)| Point { x: *x, y }).collect();
        let drawings = [
            curves(log_x, [Curve { name: "c".into(), line, points, paper }]),
            bars(&vec!["c"; categories], vec![series; 8]),
        ];
        for svg in drawings {
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
            let within = |d: &str| {
                let moves = d.split('M').skip(1).map(|rest| {
                    let numbers = rest.split(|c: char| c.is_alphabetic()).next().unwrap();
                    let (x, y) = numbers.trim().split_once(' ').unwrap();
                    (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap())
                });
                moves.into_iter().all(|(x, y)| (-10.0..=720.0).contains(&x) && (0.0..=420.0).contains(&y))
            };
            for class in ["s0", "ink", "soft", "grid"] {
                for d in paths(&svg, class) {
                    prop_assert!(d.is_empty() || within(&d), "{}", d);
                }
            }
        }
    }
}

fn print(plot: Plot) -> Chart {
    Chart { title: "t".into(), x: "size (kB)".into(), y: "rate (kb/s)".into(), plot }
}

#[test]
fn a_figure_stays_within_its_width() {
    let names = ["new-reno+smallwnd+lrxt+back-to-back", "sack"];
    let curve = |name: &str| Curve { name: name.into(), ..curve(&[(1.0, 100_000.0), (2.0, 20.0)]) };
    for mm in [40.0, 84.0, 400.0] {
        let curves = names.map(curve).to_vec();
        let svg = print(Plot::Curves { curves, log_x: false }).to_figure(mm);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("width").unwrap(), format!("{mm:.3}mm"));
        let view = root.attribute("viewBox").unwrap().split(' ').nth(2).unwrap();
        // 8 points are 12 pixels.
        let pixels: f64 = view.parse().unwrap();
        assert!((pixels - mm / 25.4 * 72.0 * 1.5).abs() < 1e-6);
        for text in document.descendants().filter(|n| n.has_tag_name("text")) {
            let x: f64 = text.attribute("x").unwrap().parse().unwrap();
            let length = text.text().unwrap().chars().count() as f64 * 6.6;
            let (left, right) = match text.attribute("text-anchor") {
                Some("end") => (x - length, x),
                Some("middle") => (x - length / 2.0, x + length / 2.0),
                _ => (x, x + length),
            };
            assert!(left >= 0.0 && right <= pixels, "{mm} mm: {text:?}");
        }
        assert!(
            !svg.contains("@media")
                && !svg.contains("font-size=\"15\" font-weight=\"bold\">\n<text")
        );
    }
}

#[test]
fn the_data_of_a_chart() {
    let paper = Curve {
        name: "a,b".into(),
        points: vec![Point { x: 0.5, y: estimate(2.0, 0.25) }, (1.0, 3.0).into()],
        paper: vec![(1.0, 4.0)],
        ..Curve::default()
    };
    assert_eq!(
        print(Plot::Curves { curves: vec![paper], log_x: true }).to_csv(),
        "series,size (kB),rate (kb/s),half_width,paper\n\
         \"a,b\",0.5,2,0.25,\n\"a,b\",1,3,,\n\"a,b\",1,,,4\n"
    );
    let bars = Bars {
        name: "s".into(),
        values: vec![None, Some(estimate(1.0, 0.5))],
        paper: vec![None, None, Some(7.0)],
    };
    let categories = ["x", "y", "z"].map(String::from).to_vec();
    let chart = Chart { x: String::new(), ..print(Plot::Bars { categories, bars: vec![bars] }) };
    assert_eq!(
        chart.to_csv(),
        "series,category,rate (kb/s),half_width,paper\ns,y,1,0.5,\ns,z,,,7\n"
    );
}
