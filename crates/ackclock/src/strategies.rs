//! `ackclock strategies`.

use ackclock_tcp::strategy::{MECHANISMS, PRESETS};
use serde_json::json;

use crate::cli::{Format, StrategiesArgs};
use crate::error::Error;
use crate::output::{Align, align, json_text};

pub(crate) fn strategies(args: &StrategiesArgs) -> Result<String, Error> {
    Ok(match args.format {
        Format::Json => json_text(&json!({
            "presets": PRESETS
                .iter()
                .map(|p| json!({ "name": p.name, "mechanisms": p.mechanisms, "source": p.source }))
                .collect::<Vec<_>>(),
            "mechanisms": MECHANISMS
                .iter()
                .map(|m| json!({ "name": m.name, "axis": m.axis.name(), "source": m.source, "summary": m.summary }))
                .collect::<Vec<_>>(),
        })),
        Format::Table => table(),
    })
}

fn table() -> String {
    let text = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
    let mut presets = vec![text(&["preset", "mechanisms", "source"])];
    presets.extend(PRESETS.iter().map(|p| text(&[p.name, &p.mechanisms.join("+"), p.source])));
    let mut mechanisms = vec![text(&["mechanism", "axis", "what it does", "source"])];
    mechanisms.extend(MECHANISMS.iter().map(|m| text(&[m.name, m.axis.name(), m.summary, m.source])));
    format!(
        "{}\n{}\n`+` joins them: `sack+lt`. A later mechanism replaces an earlier one on the same axis; probes and undo add up.\n",
        align(&presets, Align::Left),
        align(&mechanisms, Align::Left)
    )
}
