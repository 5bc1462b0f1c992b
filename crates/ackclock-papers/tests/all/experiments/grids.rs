//! Claims over grids, and the tables of their cells.

use ackclock_papers::{Library, Outcome, pages, run, summary};

use super::{DRAWN, LOSSY, ONE_LOSS, PAPER, json, outcome};

#[test]
fn a_claim_that_does_not_hold_is_shown_so() {
    let outcome = outcome(ONE_LOSS, false, 1);
    let table = outcome.to_table(None);
    assert!(
        table.contains(
            "\nholds: the third duplicate draws 14 (figure 1)\n    measured: 14 fast_retransmit\n"
        ),
        "{table}"
    );
    let failed = "\ndoes not hold: there is a timeout (figure 1)\n    measured: 0\n\
                  \x20   why: NewReno repairs one loss\n";
    assert!(table.contains(failed), "{table}");
    assert!(table.starts_with("p/e: One loss (figure 1; 1 run)\n"), "{table}");
    let claim = &json(&outcome)["claims"][1];
    assert_eq!(
        (&claim["holds"], &claim["does_not_hold"], &claim["undecided"]),
        (&0.into(), &1.into(), &0.into())
    );
    assert_eq!(
        claim["cells"][0][1],
        serde_json::json!({ "verdict": "does_not_hold", "measured": "0" })
    );
}

#[test]
fn an_interrupted_experiment_tells_how_many_runs_its_cells_have() {
    let mut outcome = outcome(LOSSY, false, 1);
    outcome.complete = false;
    let heading = |outcome: &Outcome| outcome.to_table(None).lines().next().unwrap().to_string();
    for (i, cell) in outcome.cells.iter_mut().enumerate() {
        cell.runs = if i == 0 { 3 } else { 2 };
    }
    let told = "p/e: Losses (table 1; interrupted: 2 to 3 of 8 runs in each cell)";
    assert_eq!(heading(&outcome), told);
    outcome.cells.truncate(1);
    assert_eq!(heading(&outcome), "p/e: Losses (table 1; interrupted: 3 of 8 runs)");
}

#[test]
fn a_grid_is_shown_whole_and_its_claims_are_summed_up() {
    let whole = outcome(LOSSY, false, 1);
    let names =
        |outcome: &Outcome| outcome.cells.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let all =
        ["loss 0%, delay near", "loss 0%, delay far", "loss 3%, delay near", "loss 3%, delay far"];
    assert_eq!(names(&whole), all);
    let labels: Vec<&str> = whole.cells[3].rows.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["goodput/reno", "goodput/sack", "timeouts/reno", "timeouts/sack"]);
    assert_eq!(whole.cells[3].rows[0].unit, "kbit/s");
    assert_eq!(whole.claims[0].verdict(), "holds in 2 of 4 cells");
    assert_eq!(whole.claims[1].verdict(), "holds in all 2 cells");
    assert_eq!(whole.claims[2].verdict(), "holds in all 2 cells, differences 0.0 % to 0.0 %");
    assert_eq!(json(&whole)["claims"][2]["cells"][0][1]["relative"], 0.0);
    let table = whole.to_table(None);
    let lines: Vec<&str> =
        table.lines().filter(|l| l.starts_with("cell") || l.starts_with("loss ")).collect();
    assert_eq!(lines.len(), 5, "{table}");
    let heading: Vec<&str> =
        lines[0].split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    assert_eq!(
        heading,
        [
            "cell",
            "goodput/reno (kbit/s)",
            "goodput/sack (kbit/s)",
            "timeouts/reno",
            "timeouts/sack"
        ]
    );
    let quick = outcome(LOSSY, true, 1);
    assert_eq!((whole.runs, quick.runs), (8, 3));
    assert_eq!(names(&quick), ["loss 0%, delay far", "loss 3%, delay far"]);
    let counts = summary(&[whole, outcome(ONE_LOSS, false, 1)]);
    let last: Vec<&str> = counts.lines().last().unwrap().split_whitespace().collect();
    // Two headings with a line each between, and the same for papers and all.
    assert_eq!(
        (counts.lines().count(), last),
        (7, vec!["all", "5", "3", "1", "1", "0"]),
        "{counts}"
    );
}

#[test]
fn with_many_strategies_a_line_is_one_of_them_in_a_cell() {
    let more: String = (2..13)
        .map(|i| format!("[[strategy]]\nname = \"s{i}\"\ncomposition = \"reno\"\n"))
        .collect();
    let text = LOSSY.replacen("[[strategy]]", &format!("{more}[[strategy]]"), 1);
    let table = outcome(&text, true, 1).to_table(None);
    let lines: Vec<&str> =
        table.lines().filter(|l| l.starts_with("cell") || l.starts_with("loss ")).collect();
    let heading: Vec<&str> =
        lines[0].split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    assert_eq!(heading, ["cell", "strategy", "goodput (kbit/s)", "timeouts"]);
    // 13 strategies in two cells; in each of them those that are the same have the same numbers.
    let cells = |line: &str| {
        line.split("  ").map(|c| c.trim().to_string()).filter(|c| !c.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(lines.len(), 1 + 2 * 13, "{table}");
    let (s2, reno) = (cells(lines[1]), cells(lines[12]));
    assert_eq!(
        (s2[0].as_str(), s2[1].as_str(), reno[1].as_str()),
        ("loss 0%, delay far", "s2", "reno")
    );
    assert_eq!((s2.len(), &s2[2..]), (4, &reno[2..]));
}

#[test]
fn quick_leaves_out_what_is_about_other_cells() {
    let near =
        LOSSY.replace("where = { loss = \"0%\" }", "where = { loss = \"0%\", delay = \"near\" }");
    let near = near.replace("where = { delay = \"far\" }", "where = { delay = \"near\" }");
    let says =
        |outcome: &Outcome| outcome.claims.iter().map(|c| c.says.clone()).collect::<Vec<_>>();
    let charts = |outcome: Outcome| pages(&[outcome])[1].1.matches("<svg").count();
    let (whole, quick) = (outcome(&near, false, 1), outcome(&near, true, 1));
    assert_eq!(
        says(&whole)[1..],
        ["nothing is lost without losses", "without losses both are the same"]
    );
    assert_eq!(says(&quick), ["nothing is lost"]);
    assert_eq!((charts(whole), charts(quick)), (3, 2));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(json(&outcome(LOSSY, false, 1)), json(&outcome(LOSSY, false, 2)));
}

#[test]
fn the_oracle_runs_with_the_window_law_of_each_strategy() {
    // Segment 14 of 40 is lost; `oracle` is its own bound, and CUBIC's oracle is not Reno's.
    let mut text = ONE_LOSS.replace(
        "name = \"ours\"\ncomposition = \"newreno\"",
        "name = \"ours\"\ncomposition = \"newreno+cubic\"",
    );
    for (name, composition) in
        [("notified", "oracle"), ("cubic", "oracle+cubic"), ("at-once", "oracle-drop+cubic")]
    {
        text += &format!("[[strategy]]\nname = \"{name}\"\ncomposition = \"{composition}\"\n");
    }
    for measurement in
        ["completion/ours", "completion/cubic", "completion/at-once", "completion/notified"]
            .into_iter()
            .chain([
                "over-oracle/ours",
                "over-oracle-drop/ours",
                "over-oracle/cubic",
                "over-oracle/notified",
            ])
    {
        text += &format!("[[row]]\nmeasurement = \"{measurement}\"\n");
    }
    let outcome = outcome(&text, false, 1);
    let rows = &outcome.cells[0].rows[1..];
    let means: Vec<f64> = rows.iter().map(|row| row.ours.unwrap().mean).collect();
    let over = |bound: f64| 100.0 * (means[0] / bound - 1.0);
    assert!(means[0] > means[1] && means[1] > means[2] && means[1] != means[3], "{means:?}");
    assert_eq!(means[4..], [over(means[1]), over(means[2]), 0.0, 0.0]);
    assert_eq!(rows[4].unit, "%");
}

/// `b` has a grid and fewer runs than `a`, and is otherwise like it.
#[test]
fn an_experiment_is_like_several_in_turn() {
    let b = "title = \"B\"\nlike = \"a\"\nruns = 2\n[[vary]]\nname = \"delay\"\n\
             key = \"link[0].delay\"\nvalues = [\"1ms\", \"2ms\"]\n";
    let of = |like: &str| {
        let c = format!("title = \"C\"\nlike = {like}\n");
        let files =
            [("p/paper.toml", PAPER), ("p/a.toml", DRAWN), ("p/b.toml", b), ("p/c.toml", &c)];
        let files = files.map(|(path, text)| (path.into(), text.into())).to_vec();
        let library = Library::from_files(files, ackclock_tcp::Registry::default())?;
        let outcome = run(&library.plan("p/c", false)?, 1)?.remove(0);
        let outcome = json(&outcome);
        let cells = outcome["cells"].as_array().unwrap().len();
        Ok::<_, ackclock_papers::Error>((outcome["title"].clone(), outcome["runs"].clone(), cells))
    };
    let found = |like: &str| {
        let (title, runs, cells) = of(like).unwrap();
        assert_eq!(title, "C");
        (runs.as_u64().unwrap(), cells)
    };
    assert_eq!(found("\"a\""), (4, 1));
    assert_eq!(found("[\"b\", \"a\"]"), (2, 2));
    assert_eq!(found("[\"a\", \"b\"]"), (4, 2));
    // An axis of its own in place of the other's, about whose labels the other has a claim.
    let claim = "[[claim]]\nsays = \"-\"\nmeasurement = \"timeouts/reno\"\nabove = 0\n\
                 where = { rate = \"1mbit\" }\n";
    let axis = |label: &str| {
        format!("[[vary]]\nname = \"rate\"\nkey = \"link[0].rate\"\nvalues = [\"{label}\"]\n")
    };
    let a = format!("{DRAWN}{}{claim}", axis("1mbit"));
    let c = format!("title = \"C\"\nlike = \"a\"\n{}", axis("2mbit"));
    let files = [("p/paper.toml", PAPER), ("p/a.toml", &a), ("p/c.toml", &c)];
    let files = files.map(|(path, text)| (path.into(), text.into())).to_vec();
    let library = Library::from_files(files, ackclock_tcp::Registry::default()).unwrap();
    let error = library.plan("p/c", false).unwrap_err().to_string();
    let line = a.lines().position(|line| line.starts_with("where")).unwrap() + 1;
    assert_eq!(
        error,
        format!(
            "papers/p/c.toml:2: like: papers/p/a.toml:{line}: claim[0].where: no cell has these \
             labels; the axes are `rate` with `2mbit`"
        )
    );
    let error = of("3").unwrap_err().to_string();
    assert!(error.contains("papers/p/c.toml:2: like: a name or a list of names"), "{error}");
}
