//! What path, receiver and application do in one recording, and the families that draw it from a
//! seed.
//!
//! A scenario says all of it explicitly, so that one that fails can be shrunk. Segments are counted
//! in the order of their first transmission, ACKs in the order in which the receiver sends them,
//! both from 0.

use std::collections::BTreeMap;

use ackclock_net::Rng;
use serde::{Deserialize, Serialize};

/// The families, in the order in which seeds go through them.
pub const FAMILIES: [&str; 28] = [
    "application-limited",
    "bursts",
    "congestion",
    "d-sack",
    "delay-spikes",
    "delayed-acks",
    "idle",
    "late-acks",
    "late-segments",
    "long-transfers",
    "lost-acks",
    "lost-retransmissions",
    "marks",
    "mixed",
    "no-d-sack",
    "no-dupthresh",
    "no-f-rto",
    "no-sack",
    "no-tlp",
    "offload",
    "random-losses",
    "receive-window",
    "small-mss",
    "static-window",
    "tails",
    "timeouts",
    "timestamps",
    "trains",
];

/// One recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Its family.
    pub family: String,
    /// What it was drawn from.
    pub seed: u64,
    /// The congestion control of the socket.
    pub congestion: String,
    /// Sysctls below `net.ipv4` that are not as they are by default.
    pub settings: BTreeMap<String, i64>,
    /// The device takes super-segments.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub offload: bool,
    /// The MSS option of the receiver.
    pub mss: u16,
    /// The receiver agrees to SACK.
    pub sack: bool,
    /// It reports duplicates.
    pub dsack: bool,
    /// It agrees to ECN, for which the kernel asks.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub ecn: bool,
    /// It agrees to timestamps.
    pub timestamps: bool,
    /// Its buffer in bytes.
    pub buffer: u64,
    /// How many bytes its application reads, and how often in milliseconds; `None` for at once.
    pub reads: Option<(u64, u64)>,
    /// How long an ACK may wait, in milliseconds; 0 for none.
    pub delayed_ack: u64,
    /// The link's rate in kbit/s.
    pub rate: u64,
    /// Its delay one way, in microseconds.
    pub delay: u64,
    /// Its queue in packets.
    pub queue: usize,
    /// When how many bytes are written: milliseconds after the handshake.
    pub writes: Vec<(u64, u64)>,
    /// Segments that are lost: number and transmission.
    pub drop: Vec<(u64, u32)>,
    /// Segments that come marked with CE, if they are ECN-capable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mark: Vec<(u64, u32)>,
    /// Segments that come later by so many milliseconds.
    pub late: Vec<(u64, u32, u64)>,
    /// Segments that come twice, the second time later by so many milliseconds.
    pub twice: Vec<(u64, u32, u64)>,
    /// ACKs that are lost.
    pub drop_acks: Vec<u64>,
    /// ACKs that come later by so many milliseconds. With timestamps those behind them wait.
    pub late_acks: Vec<(u64, u64)>,
    /// From when to when nothing arrives at the receiver: milliseconds after the handshake.
    pub holds: Vec<(u64, u64)>,
}

/// Draws what a scenario needs.
struct Draw(Rng);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// From `from` to `to`, both included.
    fn range(&mut self, from: u64, to: u64) -> u64 {
        from + (self.0.unit() * (to - from + 1) as f64) as u64
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.range(0, of.len() as u64 - 1) as usize]
    }
}

impl Scenario {
    /// The scenario of a family and a seed.
    pub fn draw(family: &str, seed: u64) -> Scenario {
        let mut d = Draw(Rng::new(seed, "score/linux"));
        let mut s = Scenario::plain(&mut d, family, seed);
        let segments = if family == "long-transfers" { d.range(150, 300) } else { d.range(20, 80) };
        s.writes = vec![(0, segments * s.payload())];
        match family {
            "timestamps" => {
                s.timestamps = true;
                s.mishap(&mut d, segments);
            }
            "small-mss" => {
                s.mss = d.one(&[536, 600, 768, 1000]);
                s.writes = vec![(0, segments * s.payload())];
                s.mishap(&mut d, segments);
            }
            "no-sack" => {
                s.sack = false;
                s.timestamps = d.chance(0.3);
                s.mishap(&mut d, segments);
            }
            "delay-spikes" => {
                s.timestamps = d.chance(0.5);
                s.writes = vec![(0, segments * s.payload())];
                s.happen(&mut d, family, segments);
            }
            "mixed" => {
                s.timestamps = d.chance(0.4);
                s.sack = d.chance(0.8);
                s.dsack = d.chance(0.8);
                s.delayed_ack = d.one(&[0, 0, 25, 40, 200]);
                s.mss = d.one(&[536, 1000, 1460, 1460]);
                s.writes = vec![(0, segments * s.payload())];
                for _ in 0..d.range(2, 3) {
                    s.mishap(&mut d, segments);
                }
            }
            "offload" => {
                s.offload = true;
                s.timestamps = d.chance(0.5);
                s.writes = vec![(0, segments * s.payload())];
                if d.chance(0.8) {
                    s.mishap(&mut d, segments);
                }
            }
            "no-d-sack" => {
                s.dsack = false;
                let mishap = d.one(&["late-segments", "delay-spikes", "d-sack"]);
                s.happen(&mut d, mishap, segments);
            }
            "marks" => {
                s.ecn = true;
                s.timestamps = d.chance(0.3);
                s.delayed_ack = d.one(&[0, 0, 0, 40]);
                s.writes = vec![(0, segments * s.payload())];
                if d.chance(0.5) {
                    s.mishap(&mut d, segments);
                }
                s.marks(&mut d, segments);
            }
            "delayed-acks" => {
                s.delayed_ack = d.one(&[25, 40, 100, 200]);
                s.mishap(&mut d, segments);
            }
            "no-tlp" => {
                s.settings.insert("tcp_early_retrans".into(), 0);
                let mishap = d.one(&["tails", "tails", "timeouts", "random-losses"]);
                s.happen(&mut d, mishap, segments);
            }
            "no-f-rto" => {
                s.settings.insert("tcp_frto".into(), 0);
                let mishap = d.one(&["delay-spikes", "timeouts", "lost-retransmissions"]);
                s.happen(&mut d, mishap, segments);
            }
            "static-window" | "no-dupthresh" => {
                let bit = if family == "static-window" { 2 } else { 4 };
                s.settings.insert("tcp_recovery".into(), 1 + bit);
                let mishap = d.one(&["late-segments", "bursts", "random-losses", "d-sack"]);
                s.happen(&mut d, mishap, segments);
            }
            _ => s.happen(&mut d, family, segments),
        }
        s
    }

    /// One without any mishap.
    fn plain(d: &mut Draw, family: &str, seed: u64) -> Scenario {
        Scenario {
            family: family.into(),
            seed,
            congestion: d.one(&["cubic", "cubic", "reno"]).into(),
            mss: 1460,
            sack: true,
            dsack: true,
            buffer: 1 << 21,
            rate: d.one(&[1000, 2000, 5000, 10_000, 20_000, 50_000]),
            delay: d.one(&[2500, 5000, 10_000, 15_000, 25_000, 40_000, 60_000, 100_000]),
            queue: d.one(&[20, 50, 100, 1000]),
            ..Scenario::default()
        }
    }

    /// Payload bytes of a full segment.
    pub fn payload(&self) -> u64 {
        u64::from(self.mss) - if self.timestamps { 12 } else { 0 }
    }

    /// All that is written.
    pub fn bytes(&self) -> u64 {
        self.writes.iter().map(|(_, bytes)| bytes).sum()
    }

    fn mishap(&mut self, d: &mut Draw, segments: u64) {
        let which = d.one(&[
            "random-losses",
            "random-losses",
            "bursts",
            "tails",
            "trains",
            "lost-retransmissions",
            "late-segments",
            "lost-acks",
            "application-limited",
            "delay-spikes",
            "timeouts",
            "late-acks",
            "receive-window",
            "congestion",
        ]);
        self.happen(d, which, segments);
    }

    /// Draws what happens to `n` segments.
    fn happen(&mut self, d: &mut Draw, what: &str, n: u64) {
        match what {
            "random-losses" => self.losses(d, n),
            "bursts" => {
                for _ in 0..d.range(1, 2) {
                    let (first, len) = (d.range(0, n - 3), d.range(2, 12));
                    self.drop.extend((first..n.min(first + len)).map(|i| (i, 1)));
                }
            }
            "congestion" => {
                self.queue = d.one(&[4, 6, 8, 10, 15]);
                self.rate = d.one(&[500, 1000, 2000, 5000]);
            }
            "d-sack" => {
                for _ in 0..d.range(1, 3) {
                    self.twice.push((d.range(0, n - 1), 1, d.range(0, 2 * self.delay / 1000)));
                }
                self.late_some(d, n);
            }
            "delay-spikes" => {
                for _ in 0..d.range(1, 2) {
                    let from = d.range(0, 10 * self.delay / 1000);
                    self.holds.push((from, from + d.range(50, 700)));
                }
                if d.chance(0.3) {
                    self.losses(d, n);
                }
            }
            "idle" => {
                let (parts, mss) = (d.range(2, 4), self.payload());
                self.writes.clear();
                let mut at = 0;
                for _ in 0..parts {
                    self.writes.push((at, n.div_ceil(parts) * mss));
                    at += d.range(200, 3000) + 8 * self.delay / 1000;
                }
                if d.chance(0.5) {
                    self.losses(d, n);
                }
            }
            "late-acks" => {
                for _ in 0..d.range(1, 8) {
                    let most = d.one(&[1, self.delay / 1000, 2 * self.delay / 1000 + 50]);
                    self.late_acks.push((d.range(0, n - 1), d.range(1, most.max(1))));
                }
                if d.chance(0.5) {
                    self.losses(d, n);
                }
            }
            "late-segments" => self.late_some(d, n),
            "long-transfers" => {
                self.queue = d.one(&[8, 15, 25, 40]);
                self.rate = d.one(&[2000, 5000, 10_000]);
                if d.chance(0.5) {
                    let p = d.one(&[0.005, 0.01, 0.02]);
                    self.drop = (0..n).filter(|_| d.chance(p)).map(|i| (i, 1)).collect();
                }
            }
            "lost-acks" => {
                let p = d.one(&[0.05, 0.1, 0.3, 0.5]);
                self.drop_acks = (0..3 * n).filter(|_| d.chance(p)).collect();
                if d.chance(0.5) {
                    self.losses(d, n);
                }
            }
            "lost-retransmissions" => {
                for _ in 0..d.range(1, 3) {
                    let i = d.range(0, n - 1);
                    let times = d.range(2, 3) as u32;
                    self.drop.extend((1..=times).map(|t| (i, t)));
                }
                if d.chance(0.5) {
                    self.losses(d, n);
                }
            }
            "receive-window" => {
                let mss = self.payload();
                self.buffer = mss * d.range(4, 24);
                if d.chance(0.5) {
                    // The slowest readers see window probes.
                    let every = if d.chance(0.3) { d.range(300, 900) } else { d.range(5, 60) };
                    self.reads = Some((every, mss * d.range(1, 6)));
                }
                if d.chance(0.6) {
                    self.losses(d, n);
                }
            }
            "tails" => {
                let first = n - d.range(1, 8);
                self.drop.extend((first..n).map(|i| (i, 1)));
                if d.chance(0.2) {
                    self.drop.push((n - 1, 2));
                }
            }
            "timeouts" => {
                // All of a window, and some of what is retransmitted.
                let first = d.range(0, n / 2);
                let len = d.range(8, 24);
                self.drop.extend((first..n.min(first + len)).map(|i| (i, 1)));
                for _ in 0..d.range(1, 3) {
                    self.drop.push((d.range(first, n.min(first + len) - 1), 2));
                }
                self.drop.push((first, 2));
            }
            "trains" => {
                let (first, every) = (d.range(0, n / 2), d.range(2, 4));
                self.drop.extend((0..d.range(2, 8)).map(|i| (first + i * every, 1)));
            }
            // Also "application-limited".
            _ => {
                let mss = self.payload();
                self.writes.clear();
                let (mut at, mut left) = (0, n * mss);
                while left > 0 {
                    let bytes = match d.range(0, 3) {
                        0 => d.range(1, mss - 1),
                        1 => mss,
                        _ => mss * d.range(2, 12),
                    };
                    self.writes.push((at, bytes.min(left)));
                    left -= bytes.min(left);
                    at += if d.chance(0.1) {
                        d.range(300, 900)
                    } else {
                        d.range(1, 3 * self.delay / 1000)
                    };
                }
                if d.chance(0.7) {
                    self.losses(d, n);
                }
            }
        }
        self.drop.sort_unstable();
        self.drop.dedup();
    }

    /// Losses at random, of retransmissions too.
    fn losses(&mut self, d: &mut Draw, n: u64) {
        let p = d.one(&[0.01, 0.02, 0.05, 0.1, 0.2]);
        for i in 0..n {
            for transmission in 1..=3 {
                if d.chance(p) {
                    self.drop.push((i, transmission));
                }
            }
        }
    }

    /// Some segments, some of them in a row, or a share of all.
    fn marks(&mut self, d: &mut Draw, n: u64) {
        if d.chance(0.3) {
            let p = d.one(&[0.02, 0.1, 0.3, 1.0]);
            self.mark = (0..n).filter(|_| d.chance(p)).map(|i| (i, 1)).collect();
            return;
        }
        for _ in 0..d.range(1, 4) {
            let (first, len) = (d.range(0, n - 1), d.one(&[1, 1, 2, 10]));
            self.mark.extend((first..n.min(first + len)).map(|i| (i, 1)));
        }
        self.mark.sort_unstable();
        self.mark.dedup();
    }

    fn late_some(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 6) {
            let most = d.one(&[1, 2 * self.delay / 4000 + 1, 2 * self.delay / 1000, 250]);
            self.late.push((d.range(0, n - 1), 1, d.range(1, most.max(1))));
        }
    }
}
