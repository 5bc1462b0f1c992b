//! What is printed.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use ackclock_net::scenario::Scenario;
use ackclock_papers::Experiment;
use ackclock_report::{
    Align, FlowSummary, RecoveryStats, align, recovery_table, replication_rows, replication_table,
    summary_rows, summary_table,
};
use ackclock_run::{
    Axis, AxisLabel, Cancel, GridCell, Job, LinkStats, Outcome, SweepRun, flow_columns,
};
use clap::Args;
use serde::Serialize;

use crate::args::{OutputArgs, RecordArgs, RecordFormat};
use crate::error::Error;
use crate::execute::SCENARIOS_OWN;
use crate::oracle::{Distance, distance_text};
use crate::wire::{WireConnection, connection_table};

/// More flows than this in a run are summed up unless each is asked for.
const MANY_FLOWS: usize = 10;

/// Prints to standard output. That nobody reads it any more is no error.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("standard output"))(e))
        }
        _ => Ok(()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Print the schema of files of experiments, which `ackclock experiment` runs.
    #[arg(long)]
    pub experiment: bool,
}

pub(crate) fn schema(args: &SchemaArgs) -> Result<String, Error> {
    let schema = if args.experiment { Experiment::json_schema() } else { Scenario::json_schema() };
    Ok(json_text(&schema))
}

/// Indented JSON and a newline. Our values have string keys and finite numbers only, so that this
/// cannot fail.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// What of the results is shown.
pub(crate) struct Shown<'a> {
    pub records: &'a RecordArgs,
    /// One line per flow and run, however many there are.
    pub per_flow: bool,
    /// What runs cost.
    pub stats: bool,
    /// How far strategies are from their oracles.
    pub distances: Option<&'a [Distance]>,
    /// What only connections on the wire have.
    pub connections: Option<&'a [WireConnection]>,
}

impl<'a> Shown<'a> {
    /// Of simulated runs.
    pub fn of(args: &'a OutputArgs, per_flow: bool, distances: &'a [Distance]) -> Shown<'a> {
        let distances = args.vs_oracle.then_some(distances);
        Shown { records: &args.records, per_flow, stats: args.stats, distances, connections: None }
    }
}

/// What a table shows where an interrupted command has nothing to show.
pub(crate) const NOTHING: &str = "nothing was measured\n";

/// The text of a command that is over. If it was interrupted, that is printed here.
pub(crate) fn ended(text: String, cancel: &Cancel) -> Result<String, Error> {
    if cancel.is_cancelled() {
        print(&text)?;
        return Err(Error::Interrupted);
    }
    Ok(text)
}

/// A flow and the cell of a sweep that it ran in.
pub(crate) type PlacedFlow<'a> = (Option<&'a GridCell>, &'a FlowSummary);

/// Writes the Parquet file that is asked for.
pub(crate) fn write_parquet<'a>(
    records: &RecordArgs,
    axes: &[Axis],
    flows: impl Iterator<Item = PlacedFlow<'a>>,
) -> Result<(), Error> {
    let Some(path) = &records.parquet else { return Ok(()) };
    flow_columns(axes).write_parquet(path, "flows", flows).map_err(Error::write(path))
}

/// The results of all runs. Writes the Parquet file, too.
pub(crate) fn results(
    jobs: &[Job],
    outcomes: &[Outcome],
    shown: &Shown<'_>,
) -> Result<String, Error> {
    let flows: Vec<FlowSummary> = outcomes.iter().flat_map(|o| o.flows.iter().cloned()).collect();
    write_parquet(shown.records, &[], flows.iter().map(|flow| (None, flow)))?;
    let &Shown { records, per_flow, stats, distances, connections } = shown;
    let costs = if stats { costs(jobs, outcomes) } else { Vec::new() };
    let recoveries = if records.recovery { recoveries(jobs, outcomes) } else { Vec::new() };
    Ok(match records.format {
        RecordFormat::Csv => flow_columns(&[]).to_csv(flows.iter().map(|flow| (None, flow))),
        RecordFormat::Json if stats || records.recovery || distances.is_some() => {
            json_text(&Object {
                flows: &flows,
                strategies: stats.then_some(&costs),
                peak_memory_bytes: stats.then(peak_memory_bytes),
                connections,
                recovery: records.recovery.then_some(&recoveries),
                vs_oracle: distances,
            })
        }
        RecordFormat::Json => flow_lines(&flows),
        RecordFormat::Table if jobs.is_empty() => NOTHING.into(),
        RecordFormat::Table => {
            let several_runs = jobs.windows(2).any(|w| w[0].seed != w[1].seed);
            let many = several_runs || outcomes.iter().any(|o| o.flows.len() > MANY_FLOWS);
            let mut text =
                if many && !per_flow { replication_table(&flows) } else { summary_table(&flows) };
            if let Some(distances) = distances {
                text.push('\n');
                text.push_str(&distance_text(distances));
            }
            if records.recovery {
                text.push('\n');
                text.push_str(&recovery_text(&recoveries));
            }
            if let Some(connections) = connections {
                text.push('\n');
                text.push_str(&connection_table(connections));
            }
            if stats {
                text.push('\n');
                text.push_str(&cost_table(&costs));
            }
            text
        }
    })
}

/// The results of a sweep of several cells.
pub(crate) fn sweep_results(
    records: &RecordArgs,
    (cells, axes): (&[GridCell], &[Axis]),
    runs: &[SweepRun],
    per_flow: bool,
) -> Result<String, Error> {
    let flows = || {
        runs.iter()
            .flat_map(|run| run.outcome.flows.iter().map(|flow| (Some(&cells[run.cell]), flow)))
    };
    write_parquet(records, axes, flows())?;
    Ok(match records.format {
        RecordFormat::Csv => flow_columns(axes).to_csv(flows()),
        RecordFormat::Json => {
            let lines = flows().filter_map(|(cell, flow)| {
                serde_json::to_string(&CellFlow { cell: by_axis(cell), flow }).ok()
            });
            lines_of_array(&lines.collect::<Vec<_>>())
        }
        RecordFormat::Table if runs.is_empty() => NOTHING.into(),
        RecordFormat::Table => {
            let mut table: Vec<Vec<String>> = Vec::new();
            for of_cell in runs.chunk_by(|a, b| a.cell == b.cell) {
                let flows: Vec<FlowSummary> =
                    of_cell.iter().flat_map(|run| run.outcome.flows.iter().cloned()).collect();
                let rows = if per_flow { summary_rows(&flows) } else { replication_rows(&flows) };
                let cell = &cells[of_cell[0].cell];
                for (i, row) in rows.into_iter().enumerate().skip(usize::from(!table.is_empty())) {
                    let name = |at: &AxisLabel| if i == 0 { &at.axis } else { &at.label }.clone();
                    table.push(cell.labels.iter().map(name).chain(row).collect());
                }
            }
            align(&table, Align::Right)
        }
    })
}

/// A flow in JSON, with the values of its cell by key.
#[derive(Serialize)]
struct CellFlow<'a> {
    cell: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    flow: &'a FlowSummary,
}

fn by_axis(cell: Option<&GridCell>) -> BTreeMap<&str, &str> {
    let labels = cell.into_iter().flat_map(|cell| &cell.labels);
    labels.map(|at| (at.axis.as_str(), at.label.as_str())).collect()
}

/// An array with one flow per line.
fn flow_lines(flows: &[FlowSummary]) -> String {
    let lines: Vec<String> = flows.iter().filter_map(|f| serde_json::to_string(f).ok()).collect();
    lines_of_array(&lines)
}

fn lines_of_array(lines: &[String]) -> String {
    if lines.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

/// The JSON of `--stats`, `--recovery` and `--vs-oracle`.
#[derive(Serialize)]
struct Object<'a> {
    flows: &'a [FlowSummary],
    #[serde(skip_serializing_if = "Option::is_none")]
    strategies: Option<&'a Vec<Cost>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<&'a [WireConnection]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<&'a Vec<Recovery>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vs_oracle: Option<&'a [Distance]>,
}

/// The statistics of recovery of all runs of one strategy.
#[derive(Serialize)]
struct Recovery {
    /// `null` if flows had the strategies of the scenario.
    strategy: Option<String>,
    runs: u64,
    measures: RecoveryStats,
}

fn recoveries(jobs: &[Job], outcomes: &[Outcome]) -> Vec<Recovery> {
    let mut all: Vec<Recovery> = Vec::new();
    for (job, stats) in jobs.iter().zip(outcomes.iter().filter_map(|o| o.recovery.as_ref())) {
        match all.last_mut() {
            Some(sum) if sum.strategy == job.strategy => {
                sum.runs += 1;
                sum.measures.add(stats);
            }
            _ => all.push(Recovery {
                strategy: job.strategy.clone(),
                runs: 1,
                measures: stats.clone(),
            }),
        }
    }
    all
}

fn recovery_text(all: &[Recovery]) -> String {
    let name = |r: &'_ Recovery| r.strategy.clone().unwrap_or_else(|| SCENARIOS_OWN.into());
    let names: Vec<String> = all.iter().map(name).collect();
    let columns: Vec<(&str, &RecoveryStats)> =
        names.iter().map(String::as_str).zip(all.iter().map(|r| &r.measures)).collect();
    let runs = all.first().map_or(0, |r| r.runs);
    let pooled = if runs > 1 { format!(" in {runs} runs, as one sample") } else { String::new() };
    format!(
        "Recovery of all flows{pooled}, as Dukkipati et al. (IMC 2011) measured it\n\n{}",
        recovery_table(&columns)
    )
}

/// What the runs of one strategy cost.
#[derive(Serialize)]
struct Cost {
    /// `null` if flows had the strategies of the scenario.
    strategy: Option<String>,
    runs: u64,
    cpu_s: f64,
    links: Vec<LinkStats>,
}

fn costs(jobs: &[Job], outcomes: &[Outcome]) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::new();
    for (job, outcome) in jobs.iter().zip(outcomes) {
        match costs.last_mut() {
            Some(cost) if cost.strategy == job.strategy => {
                cost.runs += 1;
                cost.cpu_s += outcome.cpu_s;
                cost.links.iter_mut().zip(&outcome.links).for_each(|(sum, link)| sum.add(link));
            }
            _ => costs.push(Cost {
                strategy: job.strategy.clone(),
                runs: 1,
                cpu_s: outcome.cpu_s,
                links: outcome.links.clone(),
            }),
        }
    }
    costs
}

fn cost_table(costs: &[Cost]) -> String {
    let heading = [
        "link",
        "strategy",
        "packets",
        "bytes",
        "departed",
        "per CPU s",
        "full",
        "early",
        "lost",
        "corrupt",
        "max queue",
    ];
    let mut links = vec![heading.map(String::from).to_vec()];
    let mut strategies = vec![["strategy", "runs", "CPU (s)"].map(String::from).to_vec()];
    for cost in costs {
        let name = cost.strategy.clone().unwrap_or_else(|| SCENARIOS_OWN.into());
        for l in &cost.links {
            let per_second =
                if cost.cpu_s > 0.0 { (l.departed as f64 / cost.cpu_s) as u64 } else { 0 };
            let numbers = [
                l.packets,
                l.bytes,
                l.departed,
                per_second,
                l.dropped_queue,
                l.dropped_early,
                l.dropped_loss,
                l.corrupted,
                l.max_queue,
            ];
            let mut row = vec![format!("{} > {}", l.from, l.to), name.clone()];
            row.extend(numbers.map(|n| n.to_string()));
            links.push(row);
        }
        strategies.push(vec![name, cost.runs.to_string(), format!("{:.3}", cost.cpu_s)]);
    }
    let mut text = if links.len() > 1 { align(&links, Align::Right) + "\n" } else { String::new() };
    text.push_str(&align(&strategies, Align::Right));
    if let Some(bytes) = peak_memory_bytes() {
        text.push_str(&format!(
            "\npeak memory of the process: {:.1} MiB\n",
            bytes as f64 / f64::from(1 << 20)
        ));
    }
    text
}

/// The most memory that the process has held, in bytes; `None` where the system does not tell.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
