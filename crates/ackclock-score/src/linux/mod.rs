//! The kernel's TCP as a sender, recorded as vectors and compared with a strategy.

mod draw;
mod host;
pub mod receive;
mod record;
mod scenario;
mod shrink;

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ackclock_live::Namespace;
use ackclock_replay::Vector;

pub use draw::FAMILIES;
pub use scenario::Scenario;
pub use shrink::shrink;

/// The version of the running kernel, such as `6.18.44`, without what a distribution adds.
pub fn kernel_version() -> String {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy().into_owned();
    let end = release.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(release.len());
    release[..end].to_string()
}

/// Records scenarios, so many at the same time: they mostly wait. The vectors come in the order of
/// the scenarios.
///
/// # Errors
/// What setting up namespaces returns. What a scenario returns stands in its place.
pub fn record_all(scenarios: &[Scenario], jobs: usize) -> io::Result<Vec<io::Result<Vector>>> {
    let kernel = kernel_version();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || -> io::Result<()> {
        ackclock_live::be_prompt();
        let mut host = host::Host::new()?;
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(scenario) = scenarios.get(i) else { return Ok(()) };
            let vector = record::record(&mut host, scenario, &kernel);
            done.lock().unwrap_or_else(|e| e.into_inner()).push((i, vector));
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..jobs.max(1)).map(|_| scope.spawn(|| Namespace::new()?.run(work)?)).collect();
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        io::Result::Ok(())
    })?;
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, vector)| vector).collect())
}
