//! Captures of the kernel's TCP with what was true of them: two namespaces, joined by the project's
//! gateway.
//!
//! Of each connection there are `NAME.sender.pcap`, `NAME.middle.pcap` and `NAME.receiver.pcap`,
//! all of headers, and [`NAME.json`](Truth).

mod drawn;
mod events;
pub mod pairs;
mod pcap;
mod plan;
mod score;
mod testbed;
mod trace;
mod truth;
mod work;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub use plan::{Plan, Planned, Settings, Work};
pub use score::{KernelScore, Told, connections, score};
pub use truth::{Connection, Dropped, Info, Retransmission, Timeout, Truth};

use testbed::{Capture, Testbed};
use trace::Tracing;

use crate::places::{EVERYWHERE, PLACES};

/// Takes captures, `jobs` at a time, and writes them into a directory. `report` is called
/// with what came of each. One that fails does not keep the others from being taken.
///
/// # Errors
/// The first that something could not be done, with the name of its capture.
pub fn take(
    plan: &Plan,
    directory: &Path,
    jobs: usize,
    report: impl Fn(&str, &io::Result<Truth>) + Sync,
) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let (next, sysctl) = (AtomicUsize::new(0), &plan.sysctl);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((n, planned)) = {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    plan.capture.get(n).map(|planned| (n, planned))
                } {
                    let taken = take_one(planned, sysctl, directory, (n % 250) as u8 + 1);
                    report(&planned.name, &taken);
                    if let (Err(error), Ok(mut failure)) = (taken, failure.lock()) {
                        let named = format!("{}: {error}", planned.name);
                        failure.get_or_insert(io::Error::new(error.kind(), named));
                    }
                }
            });
        }
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

fn take_one(planned: &Planned, sysctl: &Settings, directory: &Path, net: u8) -> io::Result<Truth> {
    let file = |end: &str| directory.join(format!("{}.{end}", planned.name));
    let testbed = Testbed::new(planned, sysctl, net)?;
    let mut missing = Vec::new();
    let tracing = Tracing::begin(&planned.name)
        .map_err(|error| {
            missing.push(format!("kinds and timeouts: no trace of the kernel ({error})"))
        })
        .ok();
    let files = PLACES.map(|place| file(&format!("{place}.pcap")));
    let captures: Vec<Capture> =
        EVERYWHERE.map(|place| testbed.capture(place, &files[place])).collect::<io::Result<_>>()?;
    let mut tcp_info = Vec::new();
    work::work(&testbed, planned, || {
        tcp_info.extend(testbed.tcp_info()?);
        Ok(())
    })?;
    testbed.settle(Duration::from_secs(4))?;
    let counters = Testbed::counters(&testbed.sender)?;
    let receiver_counters = Testbed::counters(&testbed.receiver)?;
    captures.into_iter().try_for_each(Capture::end)?;
    let sender = testbed.addresses[0];
    let text = tracing.map(|tracing| tracing.text()).transpose()?;
    let lines = text.map(|text| {
        std::fs::write(file("trace"), &text)?;
        Ok::<_, io::Error>(trace::parse(&text, &sender.to_string()))
    });
    let lines = lines.transpose()?;
    let drops = testbed.drops();
    let [packets, middle, receiver] = files.each_ref().map(|file| pcap::read(file));
    let away = [middle?, receiver?];
    let connections =
        truth::connections(&packets?, &away, sender, &drops, lines.as_deref(), &mut missing);
    check(&connections, &counters, lines.is_some(), &mut missing);
    let truth = Truth {
        plan: planned.clone(),
        connections,
        missing,
        traced: lines.is_some(),
        away: true,
        counters,
        receiver_counters,
        tcp_info,
        drops: truth::drops(&drops),
        late_p99_us: testbed.report().lateness.quantile(0.99) as f64 / 1e3,
    };
    std::fs::write(file("json"), serde_json::to_vec_pretty(&truth)?)?;
    Ok(truth)
}

/// Compares what was found with what the kernel counted.
fn check(
    connections: &[Connection],
    counters: &BTreeMap<String, u64>,
    traced: bool,
    missing: &mut Vec<String>,
) {
    let mut compare = |name: &str, found: usize| {
        let counted = counters.get(name).copied().unwrap_or(0);
        if counted != found as u64 {
            missing.push(format!("{name}: {counted} counted, {found} found"));
        }
    };
    compare("RetransSegs", connections.iter().map(|c| c.retransmissions.len()).sum());
    if traced {
        compare("TCPTimeouts", connections.iter().map(|c| c.timeouts.len()).sum());
    }
}
