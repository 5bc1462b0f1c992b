//! `ackclock replay`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ackclock_replay::{Comparison, Score, Sent, Vector, matching, read, table};
use ackclock_tcp::Registry;
use clap::Args;
use serde::Serialize;

use crate::args::Format;
use crate::error::Error;
use crate::input::text_of;
use crate::output::json_text;
use crate::wire::strategy;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Files of vectors, in JSON lines.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The strategy that answers. Default: `linux`, without the mechanisms that were switched off
    /// in the kernel, and with the window growth that it had.
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// How to print the results. JSON is one object with `vectors` and `overall`.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Replay only the vectors of this seed.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Of several vectors, show the first difference of at most N. 0 means all.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
    /// Of several vectors, show N inputs before and after a first difference.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub context: usize,
}

/// A vector, where it stands, and the strategy that answers.
struct Replayed {
    file: String,
    strategy: String,
    vector: Vector,
}

pub(crate) fn replay(args: &ReplayArgs, registry: &Registry) -> Result<String, Error> {
    if let Some(name) = &args.strategy {
        strategy(name, registry)?;
    }
    let replayed = vectors(args, registry)?;
    let mut compared = Vec::new();
    for r in &replayed {
        let composition = registry.parse(&r.strategy).map_err(|e| Error::Usage(e.to_string()))?;
        compared.push((r, Comparison::new(&r.vector, &composition)));
    }
    Ok(match (args.format, &compared[..]) {
        (Format::Json, _) => json_text(&document(&compared)),
        (Format::Table, [(r, comparison)]) => whole(r, comparison),
        (Format::Table, _) => several(args, &compared),
    })
}

fn vectors(args: &ReplayArgs, registry: &Registry) -> Result<Vec<Replayed>, Error> {
    let mut all = Vec::new();
    for path in &args.files {
        let text = text_of(path)?;
        let file = path.display().to_string();
        for vector in read(&file, &text)? {
            if args.seed.is_none_or(|seed| seed == vector.header.seed) {
                let matching = || matching(&vector.header, registry);
                let strategy = args.strategy.clone().unwrap_or_else(matching);
                all.push(Replayed { file: file.clone(), strategy, vector });
            }
        }
    }
    if all.is_empty() {
        let of = args.seed.map_or(String::new(), |seed| format!(" of the seed {seed}"));
        return Err(Error::Usage(format!("there is no vector{of} in what was given")));
    }
    Ok(all)
}

/// What was recorded, and how it compares.
fn heading(r: &Replayed, comparison: &Comparison<'_>) -> String {
    let header = &r.vector.header;
    let score = comparison.score();
    let mut text = format!(
        "{}: {} {}, Linux {} with {}, answered by {}\n{} of {} inputs are answered otherwise",
        r.file,
        header.family,
        header.seed,
        header.kernel,
        header.congestion,
        r.strategy,
        score.otherwise,
        score.inputs,
    );
    if let Some(first) = comparison.first_difference() {
        text += &format!(", first input {first}");
    }
    text + "\n"
}

/// One vector: every input.
fn whole(r: &Replayed, comparison: &Comparison<'_>) -> String {
    format!("{}\n{}", heading(r, comparison), comparison.side_by_side(0, usize::MAX))
}

/// Several: first differences, and scores by family.
fn several(args: &ReplayArgs, compared: &[(&Replayed, Comparison<'_>)]) -> String {
    let mut out = String::new();
    let mut families: BTreeMap<String, Score> = BTreeMap::new();
    let most = if args.top == 0 { usize::MAX } else { args.top };
    let mut differ = 0;
    for (r, comparison) in compared {
        families.entry(r.vector.header.family.clone()).or_default().add(&comparison.score());
        let Some(first) = comparison.first_difference() else { continue };
        differ += 1;
        if differ <= most {
            let from = first.saturating_sub(args.context);
            let to = first.saturating_add(args.context).saturating_add(1);
            out += &format!("{}\n{}\n", heading(r, comparison), comparison.side_by_side(from, to));
        }
    }
    if differ > most {
        out += &format!("and {} more: --top 0 shows all\n\n", differ - most);
    }
    out + &table(&families)
}

#[derive(Serialize)]
struct Document<'a> {
    vectors: Vec<Entry<'a>>,
    overall: Score,
}

#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    family: &'a str,
    seed: u64,
    kernel: &'a str,
    congestion: &'a str,
    strategy: &'a str,
    score: Score,
    first_difference: Option<Difference>,
}

/// An input that is answered otherwise.
#[derive(Serialize)]
struct Difference {
    input: usize,
    at_s: f64,
    kernel: Vec<Sent>,
    strategy: Vec<Sent>,
}

fn document<'a>(compared: &'a [(&Replayed, Comparison<'_>)]) -> Document<'a> {
    let mut overall = Score::default();
    let mut vectors = Vec::new();
    for (r, comparison) in compared {
        let score = comparison.score();
        overall.add(&score);
        let header = &r.vector.header;
        let first_difference = comparison.first_difference().map(|input| {
            let difference = &comparison.inputs[input];
            Difference {
                input,
                at_s: r.vector.steps[difference.step].at as f64 / 1e6,
                kernel: difference.kernel.clone(),
                strategy: difference.answer.sent.iter().map(|left| left.sent).collect(),
            }
        });
        vectors.push(Entry {
            file: &r.file,
            family: &header.family,
            seed: header.seed,
            kernel: &header.kernel,
            congestion: &header.congestion,
            strategy: &r.strategy,
            score,
            first_difference,
        });
    }
    Document { vectors, overall }
}
