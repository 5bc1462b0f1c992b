//! Runs as a figure.

use ackclock_report::{Panel, Picture};
use ackclock_run::FirstFlowEvents;

use crate::run::Bench;

/// What the command draws of the first flow with `--svg`.
///
/// # Errors
/// What is wrong with the scenario or with a strategy.
pub fn picture(text: &str, strategies: &[String], title: &str) -> Result<String, String> {
    let bench = Bench::new(text)?;
    let mut drawn = Vec::new();
    for strategy in strategies {
        let (simulation, flow) = bench.build(strategy, true)?;
        let mut events = FirstFlowEvents::default();
        let summary = bench.run(strategy, simulation, &mut events)?;
        drawn.push((strategy, flow.mss, events.0, summary));
    }
    let panels: Vec<Panel<'_>> = drawn
        .iter()
        .map(|(name, mss, events, summary)| Panel {
            name,
            mss: *mss,
            events,
            summary: Some(summary),
            ..Panel::default()
        })
        .collect();
    Ok(Picture { title, panels: &panels, ..Picture::default() }.to_svg())
}
