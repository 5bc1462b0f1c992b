//! `ackclock gateway`: the links of a scenario in real time between TUN devices.

mod counters;
mod nodes;
mod options;

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ackclock_live::{Logs, QueueLog, RealTimeGateway};
use ackclock_net::scenario::units::Duration;
use ackclock_tcp::{Registry, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Interrupt;
use super::drops::Drops;
use crate::args::Format;
use crate::error::Error;
use crate::output::{after_files, json_text, print, say};
use crate::overwrite;
use crate::queues::Queues;
use crate::scenario_file::ScenarioFile;
use counters::{Json, table};
use nodes::{check, nodes_of, warn_of_one_namespace};
pub(crate) use options::GatewayArgs;

pub(crate) fn gateway(args: &GatewayArgs, registry: &Registry) -> Result<String, Error> {
    let source = ScenarioFile::read(&args.scenario, registry)?;
    let inputs = source.inputs();
    overwrite::check(inputs.iter().map(PathBuf::as_path), args.drops.iter().chain(&args.queues))?;
    let seed = args.seed.unwrap_or(source.scenario.seed);
    let nodes = nodes_of(args)?;
    let links = check(&source, &nodes, seed)?;
    let interrupt = Interrupt::new()?;
    for node in &nodes {
        node.within(|| node.check_free())??;
    }
    let attachments = nodes.iter().map(|node| node.attach(args)).collect::<Result<Vec<_>, _>>()?;
    for node in &nodes {
        node.within(|| node.check_reached(&nodes))??;
    }
    warn_of_one_namespace(&nodes);
    let drops = args.drops.clone().map(Drops::create).transpose()?;
    let queues = match queues_of(args)? {
        None => None,
        Some(mut queues) => {
            queues.begin(None, &links, &source.scenario, Time::NEVER);
            Some(Arc::new(Mutex::new(queues)))
        }
    };
    let logs = Logs {
        drops: drops.as_ref().map(Drops::log),
        queues: queues.clone().map(|queues| -> QueueLog {
            Box::new(move |link, visit| lock(&queues).visit(link, visit))
        }),
    };
    let started = RealTimeGateway::start_logged(&source.scenario, seed, attachments, logs);
    let gateway = started.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Error::Usage(format!("{}: {error}", source.file)),
        _ => Error::system("gateway")(error),
    })?;
    say(&format!("{} runs with seed {seed}; Ctrl-C ends it", source.file));
    let written = wait(&gateway, &interrupt, args.seconds, drops.as_ref());
    let failure = gateway.failure();
    let report = gateway.report();
    drop(gateway);
    let written = written.and(drops.map_or(Ok(()), |drops| drops.finish()));
    let written = written.and(queues.map_or(Ok(()), |queues| lock(&queues).finish_file()));
    let text = match args.format {
        Format::Table => table(&report),
        Format::Json => json_text(&Json::new(&report)),
    };
    let text = after_files(text, written)?;
    let Some(failure) = failure else { return Ok(text) };
    // What there was until then is told all the same.
    print(&text)?;
    Err(Error::system("a device is gone")(io::Error::other(failure)))
}

/// The file of `--queues`.
fn queues_of(args: &GatewayArgs) -> Result<Option<Queues>, Error> {
    let Some(path) = &args.queues else { return Ok(None) };
    let mut queues = Queues::new(false);
    queues.write_to(path)?;
    Ok(Some(queues))
}

fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often what was dropped is handed to the file, for whoever follows it.
const FOLLOW: std::time::Duration = std::time::Duration::from_secs(1);

/// Waits for a signal, the end of the time, or a failure.
fn wait(
    gateway: &RealTimeGateway,
    interrupt: &Interrupt,
    time: Option<Duration>,
    drops: Option<&Drops>,
) -> Result<(), Error> {
    let time = time.map(|time| std::time::Duration::from_nanos(time.0.nanos()));
    let end = time.and_then(|time| Instant::now().checked_add(time));
    let mut fds = [
        PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(gateway.as_fd(), PollFlags::IN),
    ];
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let follow = drops.map(|_| FOLLOW);
        let timeout = [left, follow].into_iter().flatten().min();
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, timeout.as_ref()))
            .map_err(|e| Error::system("poll")(e.into()))?;
        if ready > 0 || end.is_some_and(|end| end <= Instant::now()) {
            return Ok(());
        }
        if let Some(drops) = drops {
            drops.flush();
        }
    }
}
