//! `ackclock strategies`.

use ackclock_net::scenario::check_strategy;
use ackclock_report::{Align, align_within, hanging, wrap};
use ackclock_tcp::Registry;
use ackclock_tcp::recovery::WithoutSack;
use ackclock_tcp::strategy::{Axis, Composition, Mechanism, Preset};
use clap::Args;
use serde::Serialize;

use crate::args::Format;
use crate::error::Error;
use crate::output::{json_text, width};

#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// Show one preset, mechanism or composition such as `newreno+lt`: its parts, their sources and
    /// files, and the presets that use it. Default: list all.
    pub name: Option<String>,
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

pub(crate) fn strategies(args: &StrategiesArgs, registry: &Registry) -> Result<String, Error> {
    if let Some(name) = &args.name {
        let one = One::of(name, registry)?;
        return Ok(match args.format {
            Format::Json => json_text(&one),
            Format::Table => one.text(width()),
        });
    }
    Ok(match args.format {
        Format::Json => json_text(&lists(registry)),
        Format::Table => table(registry),
    })
}

/// The axes on which a composition that names nothing has what Reno has. On the others it has
/// nothing.
const RENO: [Axis; 7] = [
    Axis::Detect,
    Axis::Ambiguity,
    Axis::Response,
    Axis::Select,
    Axis::Regulate,
    Axis::Window,
    Axis::Timer,
];

/// A preset, a mechanism or a composition, and what it is made of.
#[derive(Serialize)]
struct One<'a> {
    name: &'a str,
    /// The source of a preset.
    source: Option<&'a str>,
    /// Those in force.
    parts: Vec<MechanismRow<'a>>,
    /// The mechanisms that it names, and of which a later one takes the place.
    replaced: Vec<String>,
    /// The axes that no part is on, and on which Reno has something.
    as_in_reno: Vec<&'a str>,
    /// The mechanisms that take their place where SACK was not negotiated; `null` if these stay.
    without_sack: Option<Vec<String>>,
    /// The presets that have all of its parts, itself left out.
    used_by: Vec<&'a str>,
}

impl<'a> One<'a> {
    fn of(name: &'a str, registry: &'a Registry) -> Result<One<'a>, Error> {
        check_strategy(name, registry).map_err(Error::Usage)?;
        let composition = registry.parse(name).map_err(|e| Error::Usage(e.to_string()))?;
        let part = |m: &&Mechanism| registry.mechanism(&m.name).map(mechanism_row);
        let [in_force, replaced] = by_force(composition.mechanisms());
        let parts: Vec<MechanismRow> = in_force.iter().filter_map(part).collect();
        let mut replaced = names(&replaced);
        replaced.retain(|name| parts.iter().all(|part| part.name != name));
        let open = |axis: &Axis| composition.mechanisms().iter().all(|m| m.axis != *axis);
        let as_in_reno = RENO.iter().filter(|axis| open(axis)).map(|axis| axis.name()).collect();
        let has_all = |preset: &&Preset| {
            preset.name != name
                && parts.iter().all(|p| preset.mechanisms.iter().any(|m| m == p.name))
        };
        let used_by = registry.presets().iter().filter(has_all).map(|p| &*p.name).collect();
        let source = registry.preset(name).map(|p| &*p.source);
        let without_sack = without_sack(&composition);
        Ok(One { name, source, parts, replaced, as_in_reno, without_sack, used_by })
    }

    /// For a terminal of so many columns.
    fn text(&self, width: Option<usize>) -> String {
        let mut text = match self.source {
            Some(source) => format!("{}: a preset ({source})\n", self.name),
            None if self.parts.len() + self.replaced.len() == 1 => {
                format!("{}: a mechanism\n", self.name)
            }
            None => format!("{}: a composition\n", self.name),
        };
        for part in &self.parts {
            let MechanismRow { name, axis, source, sentence, summary, file, without_sack } = part;
            text += &format!("\n{name}, on the axis {axis}\n");
            let mut line = |label: &str, what: &str| {
                text += &(hanging(&format!("  {label:<12}  "), what, width) + "\n");
            };
            line("what it does", summary);
            line("source", source);
            if !sentence.is_empty() {
                line(if sentence.starts_with('"') { "quoted" } else { "in our words" }, sentence);
            }
            line("file", file);
            if let Some(other) = without_sack {
                line("without SACK", other);
            }
        }
        let mut last = |label: &str, what: String| {
            text += &(wrap(&format!("\n{label} {what}"), width) + "\n");
        };
        if !self.replaced.is_empty() {
            last("replaced by later parts:", self.replaced.join(", "));
        }
        if !self.as_in_reno.is_empty() {
            last("all else as in Reno:", self.as_in_reno.join(", "));
        }
        if let Some(others) = self.without_sack.as_ref().filter(|_| self.parts.len() > 1) {
            last("without SACK:", others.join("+"));
        }
        if !self.used_by.is_empty() {
            last("used by the presets", self.used_by.join(", "));
        }
        text
    }
}

#[derive(Serialize)]
struct Lists<'a> {
    presets: Vec<PresetRow<'a>>,
    mechanisms: Vec<MechanismRow<'a>>,
}

#[derive(Serialize)]
struct PresetRow<'a> {
    name: &'a str,
    mechanisms: Vec<&'a str>,
    source: &'a str,
    /// As in [`One`].
    without_sack: Option<Vec<String>>,
}

#[derive(Serialize)]
struct MechanismRow<'a> {
    name: &'a str,
    axis: &'a str,
    source: &'a str,
    sentence: &'a str,
    summary: &'a str,
    file: &'a str,
    /// What takes its place where SACK was not negotiated, or `off`; `null` if it stays.
    without_sack: Option<&'a str>,
}

fn without_sack(composition: &Composition) -> Option<Vec<String>> {
    composition.without_sack().map(|others| {
        let [in_force, _] = by_force(others);
        names(&in_force)
    })
}

/// The mechanisms in force, and those of which a later one takes the place.
fn by_force(mechanisms: &[Mechanism]) -> [Vec<&Mechanism>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for (i, m) in mechanisms.iter().enumerate() {
        let replaced = mechanisms[i + 1..].iter().any(|later| later.replaces(m));
        all[usize::from(replaced)].push(m);
    }
    all
}

fn names(mechanisms: &[&Mechanism]) -> Vec<String> {
    mechanisms.iter().map(|m| m.name.to_string()).collect()
}

fn preset_row<'a>(p: &'a Preset, registry: &Registry) -> PresetRow<'a> {
    let mechanisms = p.mechanisms.iter().map(|name| &**name).collect();
    let without_sack = registry.parse(&p.name).ok().as_ref().and_then(without_sack);
    PresetRow { name: &p.name, mechanisms, source: &p.source, without_sack }
}

fn mechanism_row(m: &Mechanism) -> MechanismRow<'_> {
    MechanismRow {
        name: &m.name,
        axis: m.axis.name(),
        source: &m.source,
        sentence: &m.sentence,
        summary: &m.summary,
        file: &m.file,
        without_sack: match &m.without_sack {
            WithoutSack::Stays => None,
            WithoutSack::Becomes(name) => Some(name),
            WithoutSack::Off => Some("off"),
        },
    }
}

fn lists(registry: &Registry) -> Lists<'_> {
    Lists {
        presets: registry.presets().iter().map(|p| preset_row(p, registry)).collect(),
        mechanisms: registry.mechanisms().iter().map(mechanism_row).collect(),
    }
}

fn table(registry: &Registry) -> String {
    let text = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
    let mut presets = vec![text(&["preset", "mechanisms", "source"])];
    presets.extend(
        registry.presets().iter().map(|p| text(&[&p.name, &p.mechanisms.join("+"), &p.source])),
    );
    let mut mechanisms = vec![text(&["mechanism", "axis", "what it does", "source"])];
    mechanisms.extend(
        registry
            .mechanisms()
            .iter()
            .map(|m| text(&[&m.name, m.axis.name(), &m.summary, &m.source])),
    );
    let width = width();
    let rules = "`+` joins them: `sack+lt`. A later mechanism replaces an earlier one on the same \
         axis; probes and undo add up.\nWhat no part names is as in Reno: `cubic` is Reno with \
         CUBIC's window.\nA preset after `+` adds all its mechanisms.\n";
    format!(
        "{}\n{}\n{}",
        align_within(&presets, Align::Left, width),
        align_within(&mechanisms, Align::Left, width),
        wrap(rules, width)
    )
}
