//! Pairs of the kernel's connections: the same bytes over the same link with the same losses,
//! without and with one of the sender's ways. What `explain` says of the capture of the first is
//! held against the second.

use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ackclock_explain::{End, Rescue};
use ackclock_net::Rng;
use ackclock_tcp::Span;
use ackclock_tcp::wire::Control;
use ackclock_trace::{Episode, State, Timeout};
use toml::{Table, Value};

use super::pcap::{self, Packet};
use super::plan::{Plan, Planned, Work};
use super::testbed::Testbed;
use super::work;
use crate::what_if::{Answer, Asked, said};

/// Payload of a full segment, with timestamps.
const MSS: u64 = 1448;

/// What `explain` calls a sender with probes and SACK, of those that it names.
const STRATEGY: &str = "linux";

/// What the first of a pair is without, and the second has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Tail loss probes (`tcp_early_retrans`).
    Probes,
    /// SACK (`tcp_sack`), and with it RACK and tail loss probes.
    Sack,
}

impl Way {
    /// What switches it off.
    fn off(self) -> (&'static str, Value) {
        match self {
            Way::Probes => ("tcp_early_retrans", Value::Integer(0)),
            Way::Sack => ("tcp_sack", Value::Integer(0)),
        }
    }
}

/// Two connections of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Of the draw; names it.
    pub seed: u64,
    /// What differs.
    pub way: Way,
    /// Segments sent at once.
    pub segments: u64,
    /// Which of them are lost, counted from 0, and which retransmissions of them, counted from 1.
    pub lost: (Vec<u64>, Vec<(u64, u32)>),
    /// Of the link.
    pub rate: &'static str,
    /// Of the link, one way.
    pub delay: &'static str,
}

impl Pair {
    /// The pair of a seed: short transfers that lose their tail, or some segments in a row or close
    /// to each other.
    pub fn drawn(seed: u64) -> Pair {
        let mut rng = Rng::new(seed, "score/pairs");
        let mut below = |n: u64| (rng.unit() * n as f64) as u64;
        let segments = [3, 5, 8, 12, 20, 40, 80][below(7) as usize];
        let count = 1 + below(4).min(segments - 1);
        let last = match below(2) {
            // The tail.
            0 => segments - 1,
            _ => count - 1 + below(segments - count + 1),
        };
        let mut lost: Vec<u64> = (0..count).map(|_| last - below(6).min(last)).collect();
        lost.push(last);
        lost.sort_unstable();
        lost.dedup();
        let again = lost.iter().filter(|_| below(6) == 0).map(|segment| (*segment, 1)).collect();
        Pair {
            seed,
            way: if seed & 1 == 0 { Way::Sack } else { Way::Probes },
            segments,
            lost: (lost, again),
            rate: ["2mbit", "10mbit", "50mbit"][below(3) as usize],
            delay: ["5ms", "20ms", "50ms"][below(3) as usize],
        }
    }

    fn planned(&self, with: bool) -> Planned {
        let (lost, again) = &self.lost;
        let segments = lost.iter().map(|segment| Value::Integer(*segment as i64)).collect();
        let again = again.iter().map(|(s, n)| Value::String(format!("{s}:{n}"))).collect();
        let drop = Table::from_iter([
            ("segments".to_string(), Value::Array(segments)),
            ("retransmissions".to_string(), Value::Array(again)),
        ]);
        let loss = Table::from_iter([("drop".to_string(), Value::Table(drop))]);
        let link = Table::from_iter([
            ("rate".to_string(), Value::String(self.rate.into())),
            ("delay".to_string(), Value::String(self.delay.into())),
            ("loss".to_string(), Value::Array(vec![Value::Table(loss)])),
        ]);
        let (key, off) = self.way.off();
        let without = (!with).then(|| (key.to_string(), off));
        Planned {
            name: format!("pair-{}", self.seed),
            link,
            sysctl: without.into_iter().collect(),
            congestion: "cubic".into(),
            work: Work::Bulk { bytes: self.segments * MSS },
            ipv6: false,
            super_segments: false,
            seed: self.seed,
        }
    }

    /// What `explain` says of the first, and what is true: an answer for each timeout that may have
    /// been avoided. `net` has to be of nobody else.
    ///
    /// # Errors
    /// What could not be done; it takes root, tcpdump and ip.
    pub fn answers(&self, directory: &Path, net: u8) -> io::Result<Asked> {
        let [file, other] = ["without", "with"]
            .map(|name| directory.join(format!("pair-{}.{name}.pcap", self.seed)));
        let without = self.run(false, &file, net)?;
        let capture = std::fs::read(&file)?;
        let connections = said(&capture).map_err(io::Error::other)?;
        let with = self.run(true, &other, net)?;
        let mut all = Asked::default();
        for found in &connections {
            for (place, timeout) in found.connection.from_client.timeouts.iter().enumerate() {
                let slow_start = |e: &&Episode| e.slow_start;
                let Some(episode) = timeout.episode.as_ref().filter(slow_start) else { continue };
                let rescues = found.rescues(End::Client, place);
                all.timeouts += 1;
                all.told += usize::from(!rescues.is_empty());
                for rescue in rescues.iter().filter(|rescue| rescue.strategy == STRATEGY) {
                    all.answers.extend(self.answer(timeout, episode, rescue, [&without, &with]));
                }
            }
        }
        Ok(all)
    }

    fn answer(
        &self,
        timeout: &Timeout,
        episode: &Episode,
        rescue: &Rescue,
        [without, with]: [&Ran; 2],
    ) -> Option<Answer> {
        let end = episode.position + episode.repaired;
        let (was, is) = (without.acknowledged(end)?, with.acknowledged(end)?);
        Some(Answer {
            seed: self.seed,
            flow: 0,
            sender: "linux without".into(),
            strategy: rescue.strategy,
            avoided: [rescue.avoided, with.timeouts == 0],
            saved: [rescue.saved_s, was.secs_f64() - is.secs_f64()],
            between: rescue.saved_90_s,
            tail: timeout.state == State::Open,
        })
    }

    fn run(&self, with: bool, file: &Path, net: u8) -> io::Result<Ran> {
        let planned = self.planned(with);
        let sysctl = Plan::built_in().map_err(io::Error::other)?.sysctl;
        let testbed = Testbed::new(&planned, &sysctl, net)?;
        let capture = testbed.capture(0, file)?;
        work::work(&testbed, &planned, || Ok(()))?;
        testbed.settle(Duration::from_secs(4))?;
        let counters = Testbed::counters(&testbed.sender)?;
        capture.end()?;
        let timeouts = counters.get("TCPTimeouts").copied().unwrap_or(0);
        Ok(Ran { packets: pcap::read(file)?, timeouts })
    }
}

/// One of a pair.
struct Ran {
    packets: Vec<Packet>,
    /// By the kernel's counter.
    timeouts: u64,
}

impl Ran {
    /// When everything below `position` was acknowledged, from the first data on.
    fn acknowledged(&self, position: u64) -> Option<Span> {
        let syn = self.packets.first().filter(|p| p.control.contains(Control::SYN))?;
        let (sender, origin) = (syn.from, syn.seq + 1);
        let start = self.packets.iter().find(|p| p.from == sender && p.len > 0)?.at;
        let acks = self.packets.iter().filter(|p| p.to == sender && p.at >= start);
        let covers = |p: &&Packet| {
            p.control.contains(Control::ACK) && u64::from(p.ack.distance_from(origin)) >= position
        };
        acks.into_iter().find(covers).map(|p| p.at.since(start))
    }
}

/// The answers about the pairs of these seeds, `jobs` at a time.
///
/// # Errors
/// The first one's, as [`Pair::answers`].
pub fn answers(seeds: std::ops::Range<u64>, jobs: usize) -> io::Result<Asked> {
    let directory = std::env::temp_dir().join(format!("ackclock-pairs-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Ok(Asked::default())));
    let all: Vec<u64> = seeds.collect();
    thread::scope(|scope| {
        for job in 0..jobs {
            let (next, found, all, directory) = (&next, &found, &all, &directory);
            scope.spawn(move || {
                while let Some(seed) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answers = Pair::drawn(*seed).answers(directory, (job % 250) as u8 + 1);
                    let Ok(mut found) = found.lock() else { return };
                    match (answers, &mut *found) {
                        (Ok(answers), Ok(all)) => all.add(answers),
                        (Err(error), Ok(_)) => *found = Err(error),
                        (_, Err(_)) => return,
                    }
                }
            });
        }
    });
    std::fs::remove_dir_all(&directory)?;
    let found = found.into_inner().unwrap_or_else(|_| Err(io::Error::other("a pair panicked")));
    found.map(|mut all| {
        all.answers.sort_by_key(|answer| answer.seed);
        all
    })
}
