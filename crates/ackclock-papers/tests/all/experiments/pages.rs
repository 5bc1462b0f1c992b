//! Results as HTML.

use ackclock_papers::pages;

use super::{DRAWN, LOSSY, ONE_LOSS, outcome};

#[test]
fn pages_stand_alone() {
    let with_markup = ONE_LOSS.replace("\"One loss\"", "\"One <b>loss\"");
    let files = pages(&[outcome(&with_markup, false, 1), outcome(LOSSY, false, 1)]);
    let names: Vec<&str> = files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["index.html", "p-e.html", "p-e.html"]);
    for (name, html) in &files {
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{name}");
        let foreign = html.replace("http://www.w3.org/2000/svg", "");
        assert!(
            !html.contains("<b>loss") && !foreign.contains("http:") && !foreign.contains("https:"),
            "{name}"
        );
    }
    assert!(files[1].1.contains("<canvas") || files[1].1.contains("id=\"panels\""));
    assert!(!files[2].1.contains("id=\"panels\""));
    let charts = &files[2].1;
    assert_eq!(charts.matches("<svg").count(), 3);
    for legend in [
        "Goodput &amp; loss",
        "reno, near",
        "reno, far",
        "sack, near",
        "sack, far",
        "loss 3%, delay far",
    ] {
        assert!(charts.contains(legend), "{legend}");
    }
    let far: Vec<&str> = charts.split("<svg").skip(2).collect();
    assert!(
        !far[0].split("</svg>").next().unwrap().contains("loss 0%"),
        "`where` leaves cells out"
    );
    assert!(
        !far[1].contains("reno, far") && far[1].contains("reno</text>"),
        "and is not repeated in the legend"
    );
}

/// The text of an HTML page between its tags.
fn text(html: &str) -> String {
    let body = html.split("<body>").nth(1).unwrap();
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_index_is_a_report() {
    let outcomes = [outcome(ONE_LOSS, true, 1), outcome(LOSSY, true, 1), outcome(DRAWN, true, 1)];
    let index = pages(&outcomes).remove(0).1;
    let report = text(&index);
    let version = env!("CARGO_PKG_VERSION");
    for expected in [
        &format!("Run by ackclock {version}, in short ( --quick )"),
        // Claims, hold, in some cells, do not hold, undecided; the one paper and all.
        "T 5 3 1 1 0 all 5 3 1 1 0",
        "What came out Of all experiments of each paper, run in full; what came out of those of \
         this page stands below. T : O.",
        "Table 1. 2 strategies, 2 cells, 3 runs each (seeds 1 to 3).",
        "Figure 1. 1 strategy, 4 runs each (seeds 1 to 4), 5 transfers in each run.",
        "✓ holds the third duplicate draws 14 (figure 1) 14 fast_retransmit",
        "◐ in some cells nothing is lost (table 1) holds in 1 of 2 cells \
         loss: 0% (1 of 1), 3% (0 of 1)",
    ] {
        assert_eq!(report.matches(expected).count(), 1, "{expected}\n{report}");
    }
    let failures = report.split_once("What could not be reproduced, and why All claims").unwrap().1;
    let one = "One loss (figure 1) ✗ does not hold : there is a timeout (figure 1; 0) \
               Why: NewReno repairs one loss";
    let lossy = "Losses (table 1) ◐ in some cells : nothing is lost \
                 (table 1; holds in 1 of 2 cells) \
                 Why: not known.";
    assert!(failures.contains(&format!("T {one} {lossy}")), "{failures}");
    assert!(
        !failures.contains("third duplicate") && !failures.contains("both are the same"),
        "{failures}"
    );
    // Three charts of the grid, one of the population, and one sequence.
    assert_eq!((index.matches("<svg").count(), index.matches("<img").count()), (4, 1));
    let full = pages(&[outcome(ONE_LOSS, false, 1)]).remove(0).1;
    assert!(text(&full).contains(&format!("Run by ackclock {version}, in full.")));
}

/// Where all claims hold there is no section on others, and experiments of one's own have no paper.
#[test]
fn the_index_has_words_for_experiments_of_ones_own() {
    let index = |paper: bool, fails: bool| {
        let mut outcome = outcome(ONE_LOSS, true, 1);
        if !paper {
            outcome.paper = None;
        }
        if !fails {
            outcome.claims.truncate(1);
        }
        text(&pages(&[outcome]).remove(0).1)
    };
    for (paper, title) in
        [(true, "What could not be reproduced, and why"), (false, "What does not hold, and why")]
    {
        // The section and the link to it.
        assert_eq!(index(paper, true).matches(title).count(), 2);
        assert!(!index(paper, false).contains(", and why"));
    }
    assert!(index(true, true).contains("where its paper is silent"));
    assert!(!index(false, true).contains("paper"), "{}", index(false, true));
}

#[test]
fn what_comes_in_order_before_the_first_loss_is_left_out_of_the_page() {
    let steps = |experiment: &str| {
        let page = text(&pages(&[outcome(experiment, false, 1)]).remove(1).1);
        let steps = page[page.find("Every step of every connection (1)").unwrap()..].to_string();
        steps[..steps.find("strategy seed").unwrap()].to_string()
    };
    let short = steps(ONE_LOSS);
    assert!(
        short.starts_with("Every step of every connection (1) ours time")
            && short.contains(" 0.000000 other 0 "),
        "{short}"
    );
    let late = ONE_LOSS
        .replace("[14]", "[814]")
        .replace("segments = 40", "segments = 900")
        .replace("[scenario.tcp]", "[scenario.tcp]\nrwnd = \"20kb\"");
    // With a window of 20 segments, 814 is sent and dropped on the ACK of 795. Sent, arrived and
    // acknowledged, a segment is three events, so that the 300 before it leave out the ACKs up
    // to 695, and the first step, which is the application's.
    let long = steps(&late);
    assert!(long.contains(" ours after the first 696, in which nothing was lost time"), "{long}");
}
