//! `ackclock-score linux`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ackclock_replay::{Comparison, Score, Sent, Vector, What, matching, read, table, write};
use ackclock_score::linux::{FAMILIES, Scenario, record_all, shrink};
use ackclock_tcp::{Composition, Registry};
use clap::Args;

/// Records the local kernel as a sender and compares a strategy with it, ACK by ACK. Takes root, ip
/// and tc; with --from neither.
#[derive(Debug, Args)]
pub(crate) struct LinuxArgs {
    /// How many scenarios. The families take turns.
    #[arg(long, value_name = "N", default_value_t = 440)]
    scenarios: u64,
    /// The seed of the first; the others have those after it. Those from 1000000 on are kept apart:
    /// nothing is tuned on them.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only scenarios of this family.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    family: Vec<String>,
    /// How many at the same time: they mostly wait.
    #[arg(long, value_name = "N", default_value_t = 32)]
    jobs: usize,
    /// Write the vectors into this directory, a file for each family.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Compare the vectors in this directory instead of recording.
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    from: Option<PathBuf>,
    /// Compare with this strategy. Default: `linux`, without what a scenario switches off.
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// How many first differences to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    differences: usize,
    /// How many inputs to show before and after a first difference.
    #[arg(long, value_name = "N", default_value_t = 4)]
    context: usize,
    /// Shrink the scenarios that are shown as long as they differ, and show them whole.
    #[arg(long)]
    shrink: bool,
    /// Record everything twice, and say how often the kernel did the same.
    #[arg(long, conflicts_with = "from")]
    twice: bool,
}

pub(crate) fn linux(args: &LinuxArgs) -> Result<String, String> {
    let vectors = match &args.from {
        Some(directory) => kept(directory)?,
        None => recorded(args)?,
    };
    if let Some(directory) = &args.keep {
        keep(&vectors, directory)?;
    }
    let mut out = compare(args, &vectors)?;
    if args.twice {
        out += &twice(args, &vectors, &recorded(args)?)?;
    }
    Ok(out)
}

fn recorded(args: &LinuxArgs) -> Result<Vec<Vector>, String> {
    let wanted = |name: &&str| args.family.is_empty() || args.family.iter().any(|f| f == name);
    let families: Vec<&str> = FAMILIES.into_iter().filter(wanted).collect();
    if families.is_empty() {
        return Err(format!("--family: the families are {}", FAMILIES.join(", ")));
    }
    let scenarios: Vec<Scenario> = (args.seed..args.seed.saturating_add(args.scenarios))
        .zip(families.iter().cycle())
        .map(|(seed, family)| Scenario::draw(family, seed))
        .collect();
    let results = record_all(&scenarios, args.jobs).map_err(|e| e.to_string())?;
    let mut vectors = Vec::new();
    for (scenario, result) in scenarios.iter().zip(results) {
        match result {
            Ok(vector) => vectors.push(vector),
            Err(error) => eprintln!("{} {}: {error}", scenario.family, scenario.seed),
        }
    }
    Ok(vectors)
}

fn kept(directory: &Path) -> Result<Vec<Vector>, String> {
    let said = |e: std::io::Error| format!("{}: {e}", directory.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(said)? {
        paths.push(entry.map_err(said)?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    paths.sort();
    let mut vectors = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(said)?;
        vectors.extend(read(&path.display().to_string(), &text).map_err(|e| e.to_string())?);
    }
    Ok(vectors)
}

fn keep(vectors: &[Vector], directory: &Path) -> Result<(), String> {
    let said = |e: std::io::Error| format!("{}: {e}", directory.display());
    std::fs::create_dir_all(directory).map_err(said)?;
    let mut families: BTreeMap<&str, Vec<Vector>> = BTreeMap::new();
    for vector in vectors {
        families.entry(&vector.header.family).or_default().push(vector.clone());
    }
    for (family, vectors) in families {
        std::fs::write(directory.join(format!("{family}.jsonl")), write(&vectors)).map_err(said)?;
    }
    Ok(())
}

/// The strategy that a vector is compared with.
fn strategy(args: &LinuxArgs, vector: &Vector) -> Result<Composition, String> {
    let registry = Registry::default();
    let name = args.strategy.clone().unwrap_or_else(|| matching(&vector.header, &registry));
    registry.parse(&name).map_err(|e| e.to_string())
}

fn compare(args: &LinuxArgs, vectors: &[Vector]) -> Result<String, String> {
    let mut families: BTreeMap<String, Score> = BTreeMap::new();
    let mut congestion: BTreeMap<String, Score> = BTreeMap::new();
    let (mut shown, mut out) = (0, String::new());
    for vector in vectors {
        let comparison = Comparison::new(vector, &strategy(args, vector)?);
        let score = comparison.score();
        families.entry(vector.header.family.clone()).or_default().add(&score);
        congestion.entry(vector.header.congestion.clone()).or_default().add(&score);
        if let Some(first) = comparison.first_difference()
            && shown < args.differences
        {
            shown += 1;
            out += &difference(args, &comparison, first);
            if args.shrink {
                out += &shrunk(args, vector)?;
            }
        }
    }
    Ok(format!("{out}{}\n{}", table(&families), table(&congestion)))
}

fn difference(args: &LinuxArgs, comparison: &Comparison<'_>, first: usize) -> String {
    let header = &comparison.vector.header;
    format!(
        "{} {}, {}: input {first} of {} is answered otherwise, {} in all\n{}\n",
        header.family,
        header.seed,
        header.congestion,
        comparison.inputs.len(),
        comparison.score().otherwise,
        comparison.side_by_side(first.saturating_sub(args.context), first + args.context + 1),
    )
}

fn shrunk(args: &LinuxArgs, vector: &Vector) -> Result<String, String> {
    let scenario: Scenario = serde_json::from_value(vector.header.scenario.clone())
        .map_err(|e| format!("the scenario of the vector: {e}"))?;
    let composition = strategy(args, vector)?;
    let differs = |v: &Vector| Comparison::new(v, &composition).first_difference().is_some();
    let found = shrink(&scenario, args.jobs, differs).map_err(|e| e.to_string())?;
    let Some((scenario, vector)) = found else {
        return Ok("recorded again, it does not differ\n\n".into());
    };
    let mut out = String::from("shrunk to\n");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}", serde_json::to_string(&scenario).unwrap_or_default());
    let comparison = Comparison::new(&vector, &composition);
    let _ = writeln!(out, "{}", comparison.side_by_side(0, usize::MAX));
    Ok(out)
}

/// The inputs without their times, and what was sent after each: what has to be the same for a
/// recording to be the same.
fn course(vector: &Vector) -> Vec<(What, Vec<Sent>)> {
    let mut course: Vec<(What, Vec<Sent>)> = Vec::new();
    for step in &vector.steps {
        match (&step.what, course.last_mut()) {
            (What::Timer, Some((_, sent))) => sent.extend(&step.sent),
            (what, _) => {
                let mut what = what.clone();
                if let What::Ack(ack) = &mut what {
                    ack.echo = None;
                }
                course.push((what, step.sent.clone()));
            }
        }
    }
    course
}

/// How often the kernel did the same twice, and was judged alike.
fn twice(args: &LinuxArgs, first: &[Vector], second: &[Vector]) -> Result<String, String> {
    let (mut same, mut alike, mut all) = (0, 0, 0);
    let mut others = String::new();
    for a in first {
        let key = |v: &Vector| (v.header.family.clone(), v.header.seed);
        let Some(b) = second.iter().find(|b| key(b) == key(a)) else { continue };
        all += 1;
        if course(a) != course(b) {
            continue;
        }
        same += 1;
        let mut judged = Vec::new();
        for v in [a, b] {
            let comparison = Comparison::new(v, &strategy(args, v)?);
            judged.push(comparison.inputs.iter().map(|i| i.identical).collect::<Vec<_>>());
        }
        if judged[0] == judged[1] {
            alike += 1;
        } else {
            let _ = writeln!(others, "judged otherwise: {} {}", a.header.family, a.header.seed);
        }
    }
    Ok(format!(
        "\nrecorded twice: {same} of {all} scenarios took the same course, {alike} of those were \
         judged alike\n{others}"
    ))
}
