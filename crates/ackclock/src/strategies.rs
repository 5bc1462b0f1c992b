//! `ackclock strategies`.

use ackclock_report::{Align, align};
use ackclock_tcp::strategy::{MECHANISMS, PRESETS};
use serde::Serialize;

use crate::cli::{Format, StrategiesArgs};
use crate::error::Error;
use crate::output::json_text;

pub(crate) fn strategies(args: &StrategiesArgs) -> Result<String, Error> {
    Ok(match args.format {
        Format::Json => json_text(&lists()),
        Format::Table => table(),
    })
}

#[derive(Serialize)]
struct Lists {
    presets: Vec<Preset>,
    mechanisms: Vec<Mechanism>,
}

#[derive(Serialize)]
struct Preset {
    name: &'static str,
    mechanisms: &'static [&'static str],
    source: &'static str,
}

#[derive(Serialize)]
struct Mechanism {
    name: &'static str,
    axis: &'static str,
    source: &'static str,
    summary: &'static str,
}

fn lists() -> Lists {
    let presets = PRESETS.iter().map(|p| Preset { name: p.name, mechanisms: p.mechanisms, source: p.source });
    let mechanisms = MECHANISMS.iter().map(|m| Mechanism {
        name: m.name,
        axis: m.axis.name(),
        source: m.source,
        summary: m.summary,
    });
    Lists { presets: presets.collect(), mechanisms: mechanisms.collect() }
}

fn table() -> String {
    let text = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
    let mut presets = vec![text(&["preset", "mechanisms", "source"])];
    presets.extend(PRESETS.iter().map(|p| text(&[p.name, &p.mechanisms.join("+"), p.source])));
    let mut mechanisms = vec![text(&["mechanism", "axis", "source", "what it does"])];
    mechanisms.extend(MECHANISMS.iter().map(|m| text(&[m.name, m.axis.name(), m.source, m.summary])));
    format!(
        "{}\n{}\n`+` joins them: `sack+lt`. A later mechanism replaces an earlier one on the same axis; probes and undo add up.\n",
        align(&presets, Align::Left),
        align(&mechanisms, Align::Left)
    )
}
