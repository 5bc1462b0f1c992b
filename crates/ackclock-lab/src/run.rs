//! The runs of a lab: on the wire, several at the same time in namespaces of their own, then in
//! simulation.

use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ackclock_net::scenario::Scenario;
use ackclock_net::{Gateway, LinkReport};
use ackclock_report::FlowSummary;
use ackclock_run::{
    Cancel, FileError, GridCell, Input, Job, Progress, STEPS, error_at, in_parallel,
};
use ackclock_tcp::Registry;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use crate::error::Error;
use crate::format::{Lab, Row};
use crate::measure::measures;
use crate::measured::{Measured, RowRuns};
use crate::outcome::{Cell, Outcome, RowOutcome};
use crate::sender::Sender;
use crate::tcp;
use crate::testbed::Testbed;
use crate::verdict::{agreement, judge};
use crate::workload::{self, Received};

/// What to run of a lab.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// In short.
    pub quick: bool,
    /// The names of the rows; all if there are none. The rows that they are held against have to
    /// be among them.
    pub only: Vec<String>,
    /// How long each run lasts, in seconds.
    pub seconds: Option<u32>,
    /// How many runs at the same time.
    pub jobs: Option<u16>,
}

/// The place of a run.
struct Place {
    /// The number of its cell.
    cell: usize,
    /// The number of its row.
    row: usize,
    seed: u64,
}

/// Runs a lab, whose strategies are those of `registry`. When `cancel` is set, the outcome has the
/// seeds that every row was done with by then, and the cells that have one.
///
/// # Errors
/// What the system refuses, and what is wrong with the lab.
pub fn run(
    name: &str,
    lab: &Lab,
    options: &Options,
    registry: &Registry,
    cancel: &Cancel,
) -> Result<Outcome, Error> {
    let file = if name.ends_with(".toml") { name.to_string() } else { format!("labs/{name}.toml") };
    let cells = lab
        .cells(options.quick, options.seconds, registry)
        .map_err(|error| FileError { file: file.clone(), error })?;
    let rows = rows(lab, &options.only)?;
    check_kernels(lab, &rows, &file)?;
    let runs = if options.quick { lab.quick_runs.unwrap_or(lab.runs) } else { lab.runs };
    let places = places(&cells, rows.len(), runs);
    let progress = Progress::until(places.len() as u64 * STEPS, cancel);
    let jobs = options.jobs.unwrap_or(lab.jobs);
    let measured = on_the_wire(&places, jobs, cancel, |Place { cell, row, seed }| {
        let scenario = &cells[*cell].scenario;
        one(lab, scenario, rows[*row], *seed, options.quick, registry, (&progress, cancel))
    })?;
    let simulations = match lab.simulations {
        0 => 0,
        _ if cancel.is_cancelled() => 0,
        n => n.max(runs),
    };
    let simulated = simulate(&file, simulations, &cells, &rows, registry)?;
    let results = with_same_seeds(&places, &measured, simulated);
    let (cells, results): (Vec<GridCell>, Vec<Vec<RowRuns>>) = cells
        .into_iter()
        .zip(results)
        .filter(|(_, rows)| rows.iter().all(|row| !row.measured.is_empty()))
        .unzip();
    Ok(outcome((name, lab), options.quick, &cells, &rows, &results))
}

/// The rows of these names; all if there are none.
fn rows<'a>(lab: &'a Lab, only: &[String]) -> Result<Vec<&'a Row>, Error> {
    let is_known = |name: &String| lab.rows.iter().any(|row| row.name == *name);
    if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
        let known = lab.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>().join(", ");
        return Err(Error::Row { name: unknown.clone(), known });
    }
    let chosen = |row: &&Row| only.is_empty() || only.contains(&row.name);
    Ok(lab.rows.iter().filter(chosen).collect())
}

/// All runs on the wire. Rows alternate, so that what is compared runs at nearly the same time.
fn places(cells: &[GridCell], rows: usize, runs: u32) -> Vec<Place> {
    let mut places = Vec::new();
    for (cell, of_cell) in cells.iter().enumerate() {
        for i in 0..u64::from(runs) {
            let seed = of_cell.scenario.seed + i;
            places.extend((0..rows).map(|row| Place { cell, row, seed }));
        }
    }
    places
}

/// The runs of each cell and row: those on the wire with the seeds that every row was done with,
/// since what is compared has the same ones, and the simulated ones.
fn with_same_seeds(
    places: &[Place],
    measured: &[Option<Measured>],
    simulated: Vec<Vec<Vec<FlowSummary>>>,
) -> Vec<Vec<RowRuns>> {
    let row = |simulated| RowRuns { measured: Vec::new(), simulated };
    let of_cell = |rows: Vec<_>| rows.into_iter().map(row).collect();
    let mut results: Vec<Vec<RowRuns>> = simulated.into_iter().map(of_cell).collect();
    let rows = results.first().map_or(1, Vec::len);
    for (places, measured) in places.chunks(rows).zip(measured.chunks(rows)) {
        if measured.len() == rows && measured.iter().all(Option::is_some) {
            for (place, measured) in places.iter().zip(measured.iter().flatten()) {
                results[place.cell][place.row].measured.push(measured.clone());
            }
        }
    }
    results
}

/// Whether the kernel has the congestion controls of these rows; it may load a module for one.
fn check_kernels(lab: &Lab, rows: &[&Row], file: &str) -> Result<(), Error> {
    for row in rows {
        let Some(control) = &row.kernel else { continue };
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None);
        let socket = socket.map_err(|error| Error::Wire(error.into()))?;
        if rustix::net::sockopt::set_tcp_congestion(&socket, control) != Err(Errno::NOENT) {
            continue;
        }
        let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let known = known.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join("`, `");
        let place = lab.rows.iter().position(|other| other.name == row.name).unwrap_or_default();
        let error = error_at(
            &format!("row[{place}].kernel"),
            format!("this kernel has no congestion control `{control}`; it has `{known}`"),
        );
        let error = match fs::read_to_string(file) {
            Ok(text) => error.located(&text),
            Err(_) => error,
        };
        return Err(FileError { file: file.into(), error }.into());
    }
    Ok(())
}

/// `results` has the runs by cell and row.
fn outcome(
    (name, lab): (&str, &Lab),
    quick: bool,
    grid: &[GridCell],
    rows: &[&Row],
    results: &[Vec<RowRuns>],
) -> Outcome {
    let cell = |(place, results): (&GridCell, &Vec<RowRuns>)| {
        let row = |(row, runs): (&&Row, &RowRuns)| {
            let other =
                row.against.as_ref().and_then(|name| rows.iter().position(|o| o.name == *name));
            let other = other.map_or(&[][..], |o| &results[o].measured);
            RowOutcome {
                name: row.name.clone(),
                strategy: row.strategy.clone(),
                against: row.against.clone(),
                paper: row.paper,
                measures: measures(&runs.measured, other, &runs.simulated),
                runs: runs.measured.clone(),
                simulated: runs.simulated.clone(),
            }
        };
        let rows: Vec<RowOutcome> = rows.iter().zip(results).map(row).collect();
        Cell { name: place.name(), agreement: agreement(&rows), rows }
    };
    let cells: Vec<Cell> = grid.iter().zip(results).map(cell).collect();
    Outcome {
        lab: name.into(),
        title: lab.title.clone(),
        place: lab.place.clone(),
        notes: lab.notes.trim().into(),
        why: lab.why.trim().into(),
        quick,
        seconds: grid.first().map_or(0.0, |cell| cell.scenario.duration.0.secs_f64()),
        aims: lab.aims.iter().filter_map(|aim| judge(aim, grid, &cells)).collect(),
        cells,
        chart: lab.chart,
    }
}

/// Does all runs in their order, so many at the same time; `None` is one that was cancelled.
fn on_the_wire(
    places: &[Place],
    jobs: u16,
    cancel: &Cancel,
    one: impl Fn(&Place) -> io::Result<Measured> + Sync + Send,
) -> Result<Vec<Option<Measured>>, Error> {
    let failed = AtomicBool::new(false);
    let results = in_parallel(places, jobs, |place| {
        // Where one has failed, the others come to an end, and none begins any more.
        if failed.load(Ordering::Relaxed) {
            return Ok(Ok(None));
        }
        let result = one(place);
        failed.fetch_or(result.is_err(), Ordering::Relaxed);
        Ok(result.map(Some))
    })?;
    let results = results.into_iter().map(|result| match result {
        // A run that ends before its time fails.
        Err(_) if cancel.is_cancelled() => Ok(None),
        result => result.map_err(Error::Wire),
    });
    results.collect()
}

fn one(
    lab: &Lab,
    scenario: &Scenario,
    row: &Row,
    seed: u64,
    quick: bool,
    registry: &Registry,
    (progress, cancel): (&Progress, &Cancel),
) -> io::Result<Measured> {
    let testbed = Testbed::new(lab, scenario, row, seed)?;
    let sender = Sender::new(&testbed, scenario, row, registry)?;
    let mut steps = 0;
    let mut tick = |share: f64| {
        let now = ((share * STEPS as f64) as u64).min(STEPS);
        progress.advance(now.saturating_sub(steps));
        steps = steps.max(now);
    };
    let mss = tcp::mss(scenario);
    let received = match lab.transfers {
        None => {
            let length = Duration::from_secs_f64(scenario.duration.0.secs_f64());
            workload::bulk(&testbed, &sender, length, mss, (&mut tick, cancel))?
        }
        Some(plan) => {
            let count = if quick { plan.quick_count } else { plan.count };
            workload::short(&testbed, &sender, plan, (count, seed, mss), (&mut tick, cancel))?
        }
    };
    tick(1.0);
    Ok(measured(&testbed, scenario, seed, received))
}

fn measured(testbed: &Testbed, scenario: &Scenario, seed: u64, received: Received) -> Measured {
    let Received { bytes, seconds, segments, counters, transfers } = received;
    let report = testbed.report();
    // Labs write their links in the direction of the data.
    let there =
        |from: &str, to: &str| scenario.links.iter().any(|link| link.from == from && link.to == to);
    let links: Vec<LinkReport> = report
        .links
        .iter()
        .filter(|(from, to, _)| there(from, to))
        .map(|(_, _, link)| *link)
        .collect();
    let transit = report.transits.iter().find(|(node, _)| *node == scenario.flows[0].to);
    let sum = |value: fn(&LinkReport) -> u64| links.iter().map(value).sum();
    let sorted = |value: fn(&workload::Completion) -> f64| {
        let mut values: Vec<f64> = transfers.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    Measured {
        seed,
        seconds,
        bytes,
        goodput_bps: bytes as f64 * 8.0 / seconds,
        segments,
        retransmissions: counters.retransmissions,
        timeouts: counters.timeouts,
        packets: links.first().map_or(0, |link| link.packets),
        dropped_queue: sum(|link| link.dropped_queue),
        dropped_early: sum(|link| link.dropped_early),
        dropped_loss: sum(|link| link.dropped_loss),
        queue_ms: transit.map_or(0.0, |(_, transit)| transit.mean() as f64 / 1e6)
            - 1e3 * unqueued_s(scenario),
        late_p99_us: report.lateness.quantile(0.99) as f64 / 1e3,
        completions_s: sorted(|t| t.data),
        completions_with_handshake_s: sorted(|t| t.total),
    }
}

/// How long a full segment takes from the sender to the receiver where it waits for no other.
fn unqueued_s(scenario: &Scenario) -> f64 {
    let flow = &scenario.flows[0];
    let time = Gateway::new(scenario, scenario.seed).ok().and_then(|gateway| {
        let (from, to) = (gateway.node(&flow.from)?, gateway.node(&flow.to)?);
        gateway.idle_time(from, to, tcp::mtu(scenario).into())
    });
    time.unwrap_or_default().secs_f64()
}

/// The same scenario with the strategies of our rows, by cell and row; empty for rows of the
/// kernel's.
fn simulate(
    file: &str,
    simulations: u32,
    cells: &[GridCell],
    rows: &[&Row],
    registry: &Registry,
) -> Result<Vec<Vec<Vec<FlowSummary>>>, ackclock_run::Error> {
    let of_row = |cell: &GridCell, row: &Row| {
        let mut scenario = cell.scenario.clone();
        if row.sack.is_some() {
            scenario.tcp.sack = row.sack;
        }
        let input = Input { registry, scenario: &scenario, file: file.into(), text: None };
        let jobs: Vec<Job> = (0..u64::from(simulations))
            .filter(|_| row.strategy.is_some())
            .map(|i| Job { strategy: row.strategy.clone(), seed: scenario.seed + i })
            .collect();
        let hidden = Progress::new(0);
        let flows = in_parallel(&jobs, 0, |job| {
            input.run(job, input.build(job, false)?, &mut (), &hidden)
        })?;
        Ok(flows.into_iter().flat_map(|outcome| outcome.flows).collect())
    };
    cells.iter().map(|cell| rows.iter().map(|row| of_row(cell, row)).collect()).collect()
}

#[cfg(test)]
mod tests;
