//! The runs of a lab: on the wire, several at the same time in namespaces of their own, then in simulation.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ackclock_net::LinkReport;
use ackclock_net::scenario::Scenario;
use ackclock_report::FlowSummary;
use ackclock_run::{Input, Job, Progress, STEPS, in_parallel};
use serde::Serialize;

use crate::Error;
use crate::format::{Lab, PlannedCell, Row};
use crate::outcome::Outcome;
use crate::sender::Sender;
use crate::tcp;
use crate::testbed::Testbed;
use crate::workload::{self, Received};

/// What to run of a lab.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// In short.
    pub quick: bool,
    /// The names of the rows; all if there are none. The rows that they are held against have to be among them.
    pub only: Vec<String>,
    /// How long each run lasts, in seconds.
    pub seconds: Option<u32>,
    /// How many runs at the same time.
    pub jobs: Option<u16>,
}

/// What a run on the wire measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The seed of the gateway.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// Payload bytes that the receiving applications got.
    pub bytes: u64,
    /// The same in bits per second.
    pub goodput_bps: f64,
    /// Full segments that there were to send.
    pub segments: u64,
    /// Data sent again.
    pub retransmissions: u64,
    /// Timeouts of data.
    pub timeouts: u64,
    /// Packets that the sender sent into the gateway.
    pub packets: u64,
    /// Of those, dropped by a queue that was full.
    pub dropped_queue: u64,
    /// Dropped early by a queue.
    pub dropped_early: u64,
    /// Dropped by a loss model.
    pub dropped_loss: u64,
    /// How late the gateway was with a packet, quantile of 99 %, in microseconds.
    pub late_p99_us: f64,
    /// Of short transfers, from the end of the handshake to the last byte, in seconds, in ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completions_s: Vec<f64>,
    /// From the call to connect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completions_with_handshake_s: Vec<f64>,
}

impl Measured {
    pub(crate) fn drops(&self) -> u64 {
        self.dropped_queue + self.dropped_early + self.dropped_loss
    }
}

/// The place of a run: the numbers of its cell and row, and its seed.
type Place = (usize, usize, u64);

/// Runs a lab.
///
/// # Errors
/// What the system refuses, and what is wrong with the lab.
pub fn run(name: &str, lab: &Lab, options: &Options) -> Result<Outcome, Error> {
    let file = if name.ends_with(".toml") { name.to_string() } else { format!("labs/{name}.toml") };
    let cells = lab.cells(&file, options.quick, options.seconds)?;
    if let Some(unknown) = options.only.iter().find(|name| lab.rows.iter().all(|row| row.name != **name)) {
        let known = lab.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>().join(", ");
        return Err(Error::Row { name: unknown.clone(), known });
    }
    let rows: Vec<&Row> =
        lab.rows.iter().filter(|row| options.only.is_empty() || options.only.contains(&row.name)).collect();
    let runs = if options.quick { lab.quick_runs.unwrap_or(lab.runs) } else { lab.runs };
    // Rows alternate, so that what is compared runs at nearly the same time.
    let mut places: Vec<Place> = Vec::new();
    for (c, cell) in cells.iter().enumerate() {
        for i in 0..u64::from(runs) {
            places.extend((0..rows.len()).map(|r| (c, r, cell.scenario.seed + i)));
        }
    }
    let progress = Progress::new(places.len() as u64 * STEPS);
    let jobs = options.jobs.unwrap_or(lab.jobs);
    let measured = on_the_wire(&places, jobs, |(c, r, seed)| {
        one(lab, &cells[*c].scenario, rows[*r], *seed, options.quick, &progress)
    })?;
    let simulations = if lab.simulations == 0 { 0 } else { lab.simulations.max(runs) };
    let simulated = simulate(&file, simulations, &cells, &rows)?;
    Ok(Outcome::new((name, lab), options.quick, &cells, &rows, &places, &measured, &simulated))
}

/// Does all runs in their order, so many at the same time.
fn on_the_wire(
    places: &[Place],
    jobs: u16,
    one: impl Fn(&Place) -> io::Result<Measured> + Sync,
) -> Result<Vec<Measured>, Error> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<io::Result<Measured>>>> = places.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((place, result)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    places.get(i).zip(results.get(i))
                } {
                    let outcome = one(place);
                    if outcome.is_err() {
                        // The others come to an end, and none begins any more.
                        next.store(places.len(), Ordering::Relaxed);
                    }
                    *result.lock().unwrap_or_else(|e| e.into_inner()) = Some(outcome);
                }
            });
        }
    });
    let results: Vec<_> =
        results.into_iter().filter_map(|r| r.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    results.into_iter().collect::<io::Result<_>>().map_err(Error::Wire)
}

fn one(lab: &Lab, scenario: &Scenario, row: &Row, seed: u64, quick: bool, progress: &Progress) -> io::Result<Measured> {
    let testbed = Testbed::new(lab, scenario, row, seed)?;
    let sender = Sender::new(&testbed, scenario, row)?;
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
            workload::bulk(&testbed, &sender, length, mss, &mut tick)?
        }
        Some(plan) => {
            let count = if quick { plan.quick_count } else { plan.count };
            workload::short(&testbed, &sender, plan, (count, seed, mss), &mut tick)?
        }
    };
    tick(1.0);
    Ok(measured(&testbed, scenario, seed, received))
}

fn measured(testbed: &Testbed, scenario: &Scenario, seed: u64, received: Received) -> Measured {
    let Received { bytes, seconds, segments, counters, transfers } = received;
    let report = testbed.report();
    // Labs write their links in the direction of the data.
    let there = |from: &str, to: &str| scenario.links.iter().any(|link| link.from == from && link.to == to);
    let links: Vec<LinkReport> =
        report.links.iter().filter(|(from, to, _)| there(from, to)).map(|(_, _, link)| *link).collect();
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
        late_p99_us: report.lateness.quantile(0.99) as f64 / 1e3,
        completions_s: sorted(|t| t.data),
        completions_with_handshake_s: sorted(|t| t.total),
    }
}

/// The same scenario with the strategies of our rows, by cell and row; empty for rows of the kernel's.
fn simulate(
    file: &str,
    simulations: u32,
    cells: &[PlannedCell],
    rows: &[&Row],
) -> Result<Vec<Vec<Vec<FlowSummary>>>, ackclock_run::Error> {
    let of_row = |cell: &PlannedCell, row: &Row| {
        let mut scenario = cell.scenario.clone();
        if row.sack.is_some() {
            scenario.tcp.sack = row.sack;
        }
        let input = Input { scenario: &scenario, file: file.into(), text: None };
        let jobs: Vec<Job> = (0..u64::from(simulations))
            .filter(|_| row.strategy.is_some())
            .map(|i| Job { strategy: row.strategy.clone(), seed: scenario.seed + i })
            .collect();
        let hidden = Progress::new(0);
        let flows = in_parallel(&jobs, 0, |job| input.run(job, input.build(job, false)?, &mut (), &hidden))?;
        Ok(flows.into_iter().flat_map(|outcome| outcome.flows).collect())
    };
    cells.iter().map(|cell| rows.iter().map(|row| of_row(cell, row)).collect()).collect()
}
