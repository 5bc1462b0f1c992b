//! The runs of a command, recorded or not.

use std::io::{self, Write};

use ackclock_run::{
    Cancel, FileError, Input, Job, Outcome, Progress, RecoveryRecorder, STEPS, Sweep, SweepRun,
    Swept, bracketed, in_parallel_until,
};

use crate::error::Error;
use crate::record::Records;

/// The name of runs in which flows have the strategies of the scenario.
pub(crate) const SCENARIOS_OWN: &str = "(scenario's)";

/// Does the runs of a sweep: those that `records` wants recorded one after the other, the rest on
/// `threads` threads. The result is those that were done: all of them unless `cancel` is set.
pub(crate) fn execute(
    sweep: &Sweep<'_>,
    threads: Option<u16>,
    records: &mut Records,
    cancel: &Cancel,
) -> Result<Swept, Error> {
    let progress = Progress::until(0, cancel);
    sweep.run_with(|tasks| {
        progress.lengthen(tasks.len() as u64 * STEPS);
        let (recorded, plain): (Vec<_>, Vec<_>) =
            tasks.iter().partition(|(_, job)| records.wants(job));
        let mut first = Vec::new();
        for (cell, job) in recorded {
            let input = sweep.input(*cell);
            let simulation = input.build(job, true)?;
            let strategy = job.strategy.as_deref().unwrap_or(SCENARIOS_OWN);
            let until = simulation.until;
            records.queues.begin(Some(strategy), &simulation.links, input.scenario, until);
            let mut recorder = records.begin(&simulation.flows, simulation.until);
            let outcome = match input.run(job, simulation, &mut recorder, &progress) {
                Ok(mut outcome) => {
                    recorder.end(&mut outcome);
                    Some(outcome)
                }
                Err(ackclock_run::Error::Cancelled) => None,
                Err(error) => return Err(error.into()),
            };
            first.push(outcome);
        }
        let recovery = records.recovery;
        let rest = in_parallel_until(
            &plain,
            (threads.unwrap_or(0), cancel),
            |(_, job)| job.seed,
            |(cell, job)| {
                let input = sweep.input(*cell);
                if recovery {
                    measured(&input, job, &progress)
                } else {
                    input.run(job, input.build(job, false)?, &mut (), &progress)
                }
            },
        )?;
        let (mut first, mut rest) = (first.into_iter(), rest.into_iter());
        let mut next = |job| if records.wants(job) { first.next() } else { rest.next() };
        Ok(tasks.iter().map(|(_, job)| next(job).flatten()).collect())
    })
}

/// Warns of the fates and the entries of drop lists that no packet met.
pub(crate) fn warn_unmet(
    sweep: &Sweep<'_>,
    runs: &[SweepRun],
    shown: impl Fn(FileError) -> FileError,
) {
    for runs in runs.chunk_by(|a, b| a.cell == b.cell) {
        let cell = sweep.input(runs[0].cell);
        let place = bracketed(&sweep.cells[runs[0].cell].name());
        for unmet in cell.unmet(runs.iter().map(|run| &run.outcome.unmet)) {
            let _ = writeln!(io::stderr(), "warning: {}{place}", shown(unmet));
        }
    }
}

/// Runs a job, with the statistics of recovery.
pub(crate) fn measured(
    input: &Input<'_>,
    job: &Job,
    progress: &Progress,
) -> Result<Outcome, ackclock_run::Error> {
    let simulation = input.build(job, true)?;
    let mut recorder = RecoveryRecorder::new(&simulation.flows, simulation.until);
    let outcome = input.run(job, simulation, &mut recorder, progress)?;
    Ok(Outcome { recovery: Some(recorder.finish()), ..outcome })
}
