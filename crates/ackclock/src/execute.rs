//! The runs of a command, recorded or not.

use ackclock_run::{
    Cancel, Input, Job, Outcome, Progress, RecoveryRecorder, STEPS, in_parallel_until,
};

use crate::error::Error;
use crate::record::Records;

/// The name of runs in which flows have the strategies of the scenario.
pub(crate) const SCENARIOS_OWN: &str = "(scenario's)";

/// Runs all jobs: those that `records` wants recorded one after the other, the rest on `threads`
/// threads. The result is those that were done: all of them unless `cancel` is set.
pub(crate) fn execute(
    input: &Input<'_>,
    jobs: &[Job],
    threads: Option<u16>,
    records: &mut Records,
    cancel: &Cancel,
) -> Result<(Vec<Job>, Vec<Outcome>), Error> {
    let progress = Progress::until(jobs.len() as u64 * STEPS, cancel);
    let (recorded, plain): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|job| records.wants(job));
    let mut first = Vec::new();
    for job in recorded {
        let simulation = input.build(job, true)?;
        let mut recorder = records.begin(&simulation.flows, simulation.until);
        let outcome = match input.run(job, simulation, &mut recorder, &progress) {
            Ok(mut outcome) => {
                recorder.end(&mut outcome)?;
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
        |job| job.seed,
        |job| {
            if recovery {
                measured(input, job, &progress)
            } else {
                input.run(job, input.build(job, false)?, &mut (), &progress)
            }
        },
    )?;
    let (mut first, mut rest) = (first.into_iter(), rest.into_iter());
    let mut next = |job| if records.wants(job) { first.next() } else { rest.next() };
    let done = jobs.iter().filter_map(|job| Some((job.clone(), next(job)??)));
    Ok(done.unzip())
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
