//! What is printed.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ackclock_report::{
    Align, FLOW_NAME, FlowMeasure, FlowSummary, Over, RESULTS, RecoveryStats, align_results,
    align_within, recovery_table_within, replication_rows, summary_rows,
};
use ackclock_run::{
    Axis, AxisLabel, GridCell, LinkStats, MANY_FLOWS, RunRow, SweepRun, flow_columns, run_columns,
    run_rows,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::args::{OutputArgs, RecordArgs, RecordFormat};
use crate::error::Error;
use crate::execute::SCENARIOS_OWN;
use crate::oracle::{Distance, distance_text};
use crate::proc::{STATUS, bytes_of};
use crate::wire::{WireConnection, connection_table};

/// Writes to standard output.
pub(crate) fn write_out(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|()| out.flush());
    written.map_err(Error::write(Path::new("standard output")))
}

/// As [`write_out`]. That nobody reads it any more is no error.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Error> {
    match write_out(write) {
        Err(error) if error.is_closed_pipe() => Ok(()),
        result => result,
    }
}

/// Prints a text, likewise.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// Indented JSON and a newline. Our values have string keys and finite numbers only, so that this
/// cannot fail.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// The columns of the terminal that standard output is; `None` if it is no terminal.
pub(crate) fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// What of the results is shown.
pub(crate) struct Shown<'a> {
    pub records: &'a RecordArgs,
    /// One line per flow and run, however many there are.
    pub per_flow: bool,
    /// How the flows of a run make one number.
    pub over: &'a [Over],
    /// What runs cost.
    pub stats: bool,
    /// How far strategies are from their oracles, by cell.
    pub distances: Option<&'a [Vec<Distance>]>,
    /// What only connections on the wire have.
    pub connections: Option<&'a [WireConnection]>,
    /// The columns of the terminal.
    pub width: Option<usize>,
}

impl<'a> Shown<'a> {
    /// Of simulated runs.
    pub fn of(args: &'a OutputArgs, per_flow: bool, distances: &'a [Vec<Distance>]) -> Shown<'a> {
        let OutputArgs { records, over, stats, vs_oracle, .. } = args;
        Shown {
            records,
            per_flow: per_flow && over.is_empty(),
            over,
            stats: *stats,
            distances: vs_oracle.then_some(distances),
            connections: None,
            width: width(),
        }
    }
}

/// What a table shows where an interrupted command has nothing to show.
pub(crate) const NOTHING: &str = "nothing was measured\n";

/// Writes a line to standard error, in one piece: other programs may write to the same place. Where
/// nobody listens, there is nobody to tell.
pub(crate) fn say(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// What of these results is for standard output: nothing if a file has it. They go to standard
/// error then.
pub(crate) fn beside(records: &RecordArgs, text: String) -> Result<String, Error> {
    if records.takes_stdout()? {
        let _ = io::stderr().write_all(text.as_bytes());
        return Ok(String::new());
    }
    Ok(text)
}

/// The text of a command that has written files. If it could not, the text is printed here: it is
/// not lost with a file.
pub(crate) fn after_files(text: String, written: Result<(), Error>) -> Result<String, Error> {
    if written.is_err() {
        print(&text)?;
    }
    written.map(|()| text)
}

/// The text of a command that is over. If it was interrupted, that is printed here.
pub(crate) fn ended(text: String, interrupted: bool) -> Result<String, Error> {
    if interrupted {
        print(&text)?;
        return Err(Error::Interrupted);
    }
    Ok(text)
}

/// Runs, and the grid that they belong to; without axes, if it is only one scenario.
pub(crate) struct Measured<'a> {
    pub cells: &'a [GridCell],
    pub axes: &'a [Axis],
    /// By cell, then by strategy.
    pub runs: &'a [SweepRun],
}

impl Measured<'_> {
    fn cell(&self, run: &SweepRun) -> Option<&GridCell> {
        self.cells.get(run.cell).filter(|_| !self.axes.is_empty())
    }

    fn flows(&self) -> impl Iterator<Item = (Option<&GridCell>, &FlowSummary)> {
        self.runs.iter().flat_map(|run| run.outcome.flows.iter().map(|f| (self.cell(run), f)))
    }

    fn rows<'a>(&'a self, over: &'a [Over]) -> impl Iterator<Item = RunRow<'a>> {
        self.runs.iter().flat_map(move |run| run_rows(self.cell(run), run, over))
    }

    fn by_cell(&self) -> impl Iterator<Item = &[SweepRun]> {
        self.runs.chunk_by(|a, b| a.cell == b.cell)
    }

    /// The statistics of each strategy in each cell.
    fn sums<'a, T>(
        &'a self,
        of: impl Fn(Option<BTreeMap<&'a str, &'a str>>, &'a [SweepRun]) -> T,
    ) -> Vec<T> {
        let strategies = self.by_cell().flat_map(|runs| {
            runs.chunk_by(|a, b| a.job.strategy == b.job.strategy)
                .map(|runs| (self.cell(&runs[0]), runs))
        });
        strategies.map(|(cell, runs)| of(cell.map(by_axis), runs)).collect()
    }

    /// The text of each cell under its name.
    fn sections(&self, of: impl Fn(usize, &Measured<'_>) -> String) -> String {
        let mut text = String::new();
        for (number, runs) in self.by_cell().enumerate() {
            if let Some(cell) = self.cell(&runs[0]) {
                text.push_str(&format!("\n{}:\n", cell.name()));
            }
            text.push('\n');
            text.push_str(&of(number, &Measured { runs, axes: &[], ..*self }));
        }
        text
    }
}

/// Writes the Parquet file that is asked for.
pub(crate) fn write_parquet(measured: &Measured<'_>, shown: &Shown<'_>) -> Result<(), Error> {
    let Some(path) = &shown.records.parquet else { return Ok(()) };
    let written = match shown.over {
        [] => flow_columns(measured.axes).write_parquet(path, "flows", measured.flows()),
        over => run_columns(measured.axes).write_parquet(path, "runs", measured.rows(over)),
    };
    written.map_err(Error::write(path))
}

/// The results of all runs.
pub(crate) fn results(measured: &Measured<'_>, shown: &Shown<'_>) -> String {
    let &Shown { records, over, stats, distances, connections, width, .. } = shown;
    let runs = measured.runs;
    match records.format {
        RecordFormat::Csv if over.is_empty() => {
            flow_columns(measured.axes).to_csv(measured.flows())
        }
        RecordFormat::Csv => run_columns(measured.axes).to_csv(measured.rows(over)),
        RecordFormat::Json if stats || records.recovery || distances.is_some() => {
            let cells = || measured.by_cell().map(|runs| measured.cell(&runs[0]).map(by_axis));
            let with_cell = |(cell, of): (Option<BTreeMap<_, _>>, _)| {
                let of: &Vec<Distance> = of;
                of.iter().map(|of| Placed { cell: cell.clone(), of }).collect::<Vec<_>>()
            };
            json_text(&Object {
                flows: over.is_empty().then(|| placed(measured.flows()).collect()),
                runs: (!over.is_empty()).then(|| measured.rows(over).map(JsonRow).collect()),
                strategies: stats.then(|| measured.sums(cost)),
                peak_memory_bytes: stats.then(|| bytes_of(STATUS, "VmHWM:")),
                connections,
                recovery: records.recovery.then(|| measured.sums(recovery)),
                vs_oracle: distances.map(|all| cells().zip(all).flat_map(with_cell).collect()),
            })
        }
        RecordFormat::Json if over.is_empty() => lines_of_array(placed(measured.flows())),
        RecordFormat::Json => lines_of_array(measured.rows(over).map(JsonRow)),
        RecordFormat::Table if runs.is_empty() => NOTHING.into(),
        RecordFormat::Table => {
            let mut text = main_table(measured, shown);
            if let Some(distances) = distances.filter(|all| !all.is_empty()) {
                text.push_str(&measured.sections(|i, _| distance_text(&distances[i], width)));
            }
            if records.recovery {
                text.push_str(&measured.sections(|_, m| recovery_text(&m.sums(recovery), width)));
            }
            if let Some(connections) = connections {
                text.push('\n');
                text.push_str(&connection_table(connections, width));
            }
            if stats {
                text.push_str(&measured.sections(|_, m| cost_table(&m.sums(cost), width)));
                text.push_str(&peak_memory());
            }
            text
        }
    }
}

/// The table of flows, or of what they are summed up to.
fn main_table(measured: &Measured<'_>, shown: &Shown<'_>) -> String {
    let &Shown { per_flow, over, width, .. } = shown;
    let runs = measured.runs;
    let several_runs = runs.windows(2).any(|w| w[0].job.seed != w[1].job.seed);
    let many = several_runs || runs.iter().any(|run| run.outcome.flows.len() > MANY_FLOWS);
    let summed_up = !per_flow && (many || !measured.axes.is_empty() || !over.is_empty());
    let mut table: Vec<Vec<String>> = Vec::new();
    for runs in measured.by_cell() {
        let flows: Vec<FlowSummary> =
            runs.iter().flat_map(|run| run.outcome.flows.iter().cloned()).collect();
        let rows = if summed_up { replication_rows(&flows, over) } else { summary_rows(&flows) };
        let labels = measured.cell(&runs[0]).map_or(&[][..], |cell| &cell.labels);
        for (i, row) in rows.into_iter().enumerate().skip(usize::from(!table.is_empty())) {
            let name = |at: &AxisLabel| {
                let name = if i == 0 { &at.axis } else { &at.label };
                if width.is_some() { shortened(name) } else { name.clone() }
            };
            table.push(labels.iter().map(name).chain(row).collect());
        }
    }
    let named = table.first().and_then(|heading| heading.iter().rposition(|h| h == FLOW_NAME));
    if let (Some(column), true) = (named, width.is_some()) {
        let names = table.iter_mut().filter_map(|row| row.get_mut(column));
        names.for_each(|name| *name = shortened(name));
    }
    // The axes and the strategy name a row; where flows have one each, so do seed, number and name,
    // and what `--over` takes has a column.
    let names = measured.axes.len()
        + match (summed_up, over) {
            (true, []) => 1,
            (false, _) if named.is_some() => 4,
            _ => 3,
        };
    align_results(&table, names, &RESULTS, width)
}

/// The most columns of a terminal that a label of an axis, or the name of a flow, takes.
const LABEL: usize = 20;

/// A label without its middle, if it is long: lists of segments differ at both ends.
fn shortened(label: &str) -> String {
    let all: Vec<char> = label.chars().collect();
    if all.len() <= LABEL {
        return label.into();
    }
    let end = LABEL / 2 - 1;
    let [first, last] = [&all[..LABEL - end - 1], &all[all.len() - end..]];
    format!("{}…{}", String::from_iter(first), String::from_iter(last))
}

/// Something in JSON, with the values of its cell by key.
#[derive(Serialize)]
struct Placed<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<BTreeMap<&'a str, &'a str>>,
    #[serde(flatten)]
    of: &'a T,
}

fn placed<'a>(
    flows: impl Iterator<Item = (Option<&'a GridCell>, &'a FlowSummary)>,
) -> impl Iterator<Item = Placed<'a, FlowSummary>> {
    flows.map(|(cell, of)| Placed { cell: cell.map(by_axis), of })
}

/// A row with the keys of a flow.
struct JsonRow<'a>(RunRow<'a>);

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = &self.0;
        let mut map = serializer.serialize_map(None)?;
        if let Some(cell) = row.cell {
            map.serialize_entry("cell", &by_axis(cell))?;
        }
        map.serialize_entry("strategy", row.strategy)?;
        map.serialize_entry("seed", &row.seed)?;
        map.serialize_entry("over", &row.over.to_string())?;
        map.serialize_entry("flows", &row.flows.len())?;
        for measure in FlowMeasure::all() {
            map.serialize_entry(measure.key, &row.value(measure))?;
        }
        map.end()
    }
}

fn by_axis(cell: &GridCell) -> BTreeMap<&str, &str> {
    cell.labels.iter().map(|at| (at.axis.as_str(), at.label.as_str())).collect()
}

/// An array with one element per line.
fn lines_of_array(all: impl Iterator<Item = impl Serialize>) -> String {
    let lines: Vec<String> = all.filter_map(|one| serde_json::to_string(&one).ok()).collect();
    if lines.is_empty() { "[]\n".into() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}

/// The JSON of `--stats`, `--recovery` and `--vs-oracle`.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    flows: Option<Vec<Placed<'a, FlowSummary>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Vec<JsonRow<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategies: Option<Vec<Cost<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<&'a [WireConnection]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<Vec<Recovery<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vs_oracle: Option<Vec<Placed<'a, Distance>>>,
}

/// The statistics of recovery of all runs of one strategy in a cell.
#[derive(Serialize)]
struct Recovery<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<BTreeMap<&'a str, &'a str>>,
    /// `null` if flows had the strategies of the scenario.
    strategy: Option<&'a str>,
    runs: u64,
    measures: RecoveryStats,
}

fn recovery<'a>(cell: Option<BTreeMap<&'a str, &'a str>>, runs: &'a [SweepRun]) -> Recovery<'a> {
    let mut measures = RecoveryStats::default();
    let all = runs.iter().filter_map(|run| run.outcome.recovery.as_ref());
    all.for_each(|stats| measures.add(stats));
    Recovery { cell, strategy: runs[0].job.strategy.as_deref(), runs: runs.len() as u64, measures }
}

fn recovery_text(all: &[Recovery<'_>], width: Option<usize>) -> String {
    let columns: Vec<(&str, &RecoveryStats)> =
        all.iter().map(|r| (r.strategy.unwrap_or(SCENARIOS_OWN), &r.measures)).collect();
    let runs = || all.iter().map(|r| r.runs);
    let pooled = match (runs().min().unwrap_or(0), runs().max().unwrap_or(0)) {
        (_, 0 | 1) => String::new(),
        (least, most) if least == most => format!(" in {most} runs, as one sample"),
        (least, most) => format!(" in {least} to {most} runs, as one sample for each strategy"),
    };
    format!(
        "Recovery of all flows{pooled}, as Dukkipati et al. (IMC 2011) measured it\n\n{}",
        recovery_table_within(&columns, width)
    )
}

/// What the runs of one strategy in a cell cost.
#[derive(Serialize)]
struct Cost<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cell: Option<BTreeMap<&'a str, &'a str>>,
    /// `null` if flows had the strategies of the scenario.
    strategy: Option<&'a str>,
    runs: u64,
    cpu_s: f64,
    links: Vec<LinkStats>,
}

fn cost<'a>(cell: Option<BTreeMap<&'a str, &'a str>>, runs: &'a [SweepRun]) -> Cost<'a> {
    let mut links: Vec<LinkStats> = runs[0].outcome.links.clone();
    for run in &runs[1..] {
        links.iter_mut().zip(&run.outcome.links).for_each(|(sum, link)| sum.add(link));
    }
    let cpu_s = runs.iter().map(|run| run.outcome.cpu_s).sum();
    let strategy = runs[0].job.strategy.as_deref();
    Cost { cell, strategy, runs: runs.len() as u64, cpu_s, links }
}

/// The headings of [`link_cells`].
pub(crate) const LINK_HEADING: [&str; 9] =
    ["packets", "bytes", "departed", "full", "early", "marked", "lost", "corrupt", "max queue"];

pub(crate) fn link_cells(link: &LinkStats) -> Vec<String> {
    let numbers = [
        link.packets,
        link.bytes,
        link.departed,
        link.dropped_queue,
        link.dropped_early,
        link.marked,
        link.dropped_loss,
        link.corrupted,
        link.max_queue,
    ];
    numbers.map(|n| n.to_string()).to_vec()
}

fn cost_table(costs: &[Cost<'_>], width: Option<usize>) -> String {
    let row = |link: String, strategy: String, mut cells: Vec<String>, per_second: String| {
        cells.insert(3, per_second);
        [vec![link, strategy], cells].concat()
    };
    let heading = LINK_HEADING.map(String::from).to_vec();
    let mut links = vec![row("link".into(), "strategy".into(), heading, "per CPU s".into())];
    let mut strategies = vec![["strategy", "runs", "CPU (s)"].map(String::from).to_vec()];
    for cost in costs {
        let name = cost.strategy.unwrap_or(SCENARIOS_OWN).to_string();
        for l in &cost.links {
            let per_second =
                if cost.cpu_s > 0.0 { (l.departed as f64 / cost.cpu_s) as u64 } else { 0 };
            let link = format!("{} > {}", l.from, l.to);
            links.push(row(link, name.clone(), link_cells(l), per_second.to_string()));
        }
        strategies.push(vec![name, cost.runs.to_string(), format!("{:.3}", cost.cpu_s)]);
    }
    let mut text = String::new();
    if links.len() > 1 {
        text = align_within(&links, Align::Right, width) + "\n";
    }
    text + &align_within(&strategies, Align::Right, width)
}

fn peak_memory() -> String {
    let mib = |bytes| bytes as f64 / f64::from(1 << 20);
    let text = |bytes| format!("\npeak memory of the process: {:.1} MiB\n", mib(bytes));
    bytes_of(STATUS, "VmHWM:").map(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
