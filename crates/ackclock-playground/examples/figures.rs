//! Prints where the page can start from, as JSON: the figures of the papers as their experiments
//! have them.

use ackclock_papers::{Library, Plan};
use ackclock_playground::opened;
use ackclock_run::set;
use ackclock_tcp::Registry;
use serde_json::{Value, json};

/// An experiment that can be looked at: what the page calls it, the strategies that it begins with,
/// and keys that are set in its scenario to have one transfer of it.
struct Figure {
    experiment: &'static str,
    title: &'static str,
    strategies: &'static [&'static str],
    set: &'static [(&'static str, &'static str)],
}

const fn figure(
    experiment: &'static str,
    title: &'static str,
    strategies: &'static [&'static str],
) -> Figure {
    Figure { experiment, title, strategies, set: &[] }
}

/// Strategies by the names that the papers have for them.
const FIGURES: [Figure; 13] = [
    figure(
        "lin-kung/figure-2",
        "Figure 2: one loss from a window of three packets",
        &["none", "small window", "net-reno"],
    ),
    figure(
        "lin-kung/figures-3-4",
        "Figures 3 and 4: lose the retransmission of 638",
        &["without", "with"],
    ),
    figure(
        "lin-kung/figure-5",
        "Figure 5: a second recovery right after the first",
        &["without", "with"],
    ),
    figure("lin-kung/section-5-3", "Section 5.3: packets out of order", &[]),
    figure(
        "miyake-inamura/figures-6-8",
        "Figures 6 to 8: lose the first retransmission",
        &["reno", "sack", "newreno-1", "newreno"],
    ),
    figure(
        "miyake-inamura/figures-11-14",
        "Figures 11 to 14: lose the second retransmission",
        &["newreno", "newreno-1", "newreno-2", "newreno-3"],
    ),
    figure("gurtov-floyd/figures-1-3-left", "Figures 1 to 3, left: a spurious retransmission", &[]),
    figure("gurtov-floyd/figures-1-3-right", "Figures 1 to 3, right: a lost retransmission", &[]),
    figure("gurtov-floyd/figure-4", "Figure 4: ACKs are lost too", &[]),
    figure("prr/figure-2", "Figure 2: PRR with many losses", &[]),
    figure("prr/figure-3", "Figure 3: PRR with an application that stalls", &[]),
    figure("prr/figure-4", "Figure 4: PRR with a burst of losses", &[]),
    Figure {
        experiment: "lima/figure-2",
        title: "Figure 2: one loss in a short Web transfer",
        strategies: &["reno", "reno-lt"],
        set: &[
            ("duration", "'20s'"),
            ("flow[0].count", "1"),
            ("flow[0].source", "{ segments = 10 }"),
            ("link[3].loss", "[{ drop = { segments = [1] } }]"),
        ],
    },
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let library = Library::embedded(Registry::default())?;
    let figures =
        FIGURES.iter().map(|figure| of(figure, &library)).collect::<Result<Vec<Value>, _>>()?;
    println!("{}", serde_json::to_string_pretty(&figures)?);
    Ok(())
}

fn of(figure: &Figure, library: &Library) -> Result<Value, Box<dyn std::error::Error>> {
    let file = library.experiments().iter().find(|e| e.id == figure.experiment);
    let paper = file.and_then(|e| e.paper.as_ref()).ok_or("no paper")?;
    let plans = library.plan(figure.experiment, true)?;
    let plan: &Plan<'_> = plans.first().ok_or("no plan")?;
    let known: Vec<(&str, &str)> = plan.strategies().collect();
    let mut table: toml::Table = plan.scenario().ok_or("no scenario")?.to_toml()?.parse()?;
    for (key, value) in figure.set {
        let value = format!("v = {value}").parse::<toml::Table>()?.remove("v").ok_or("no value")?;
        set(&mut table, key, value)?;
    }
    let mut strategies = Vec::new();
    for name in figure.strategies {
        let found = known.iter().find(|(n, _)| n == name);
        strategies.push(found.ok_or_else(|| format!("{}: no {name}", figure.experiment))?.1);
    }
    if strategies.is_empty() {
        strategies = known.iter().take(4).map(|(_, composition)| *composition).collect();
    }
    let text = table.to_string();
    opened(&text)?;
    Ok(json!({
        "id": figure.experiment,
        "paper": format!("{}: {}", paper.authors.join(", "), paper.title),
        "title": figure.title,
        "strategies": strategies,
        "text": text,
    }))
}
