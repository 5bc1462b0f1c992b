//! Runs as a figure.

use ackclock_net::{FlowId, Recorder};
use ackclock_report::{Panel, Picture};
use ackclock_tcp::Event;

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
        let mut events = Events(Vec::new());
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

struct Events(Vec<Event>);

impl Recorder for Events {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        if flow.0 == 0 {
            self.0.push(*event);
        }
    }
}
