//! The families of scenarios, which draw them from a seed.

use ackclock_net::Rng;

use super::scenario::Scenario;

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

/// What can happen to the segments of a transfer.
#[derive(Clone, Copy)]
enum Mishap {
    ApplicationLimited,
    Bursts,
    Congestion,
    DSack,
    DelaySpikes,
    Idle,
    LateAcks,
    LateSegments,
    LongTransfers,
    LostAcks,
    LostRetransmissions,
    RandomLosses,
    ReceiveWindow,
    Tails,
    Timeouts,
    Trains,
}

impl Mishap {
    /// What a family is about that has no more to it; `None` for others.
    fn of_family(family: &str) -> Option<Mishap> {
        Some(match family {
            "application-limited" => Mishap::ApplicationLimited,
            "bursts" => Mishap::Bursts,
            "congestion" => Mishap::Congestion,
            "d-sack" => Mishap::DSack,
            "delay-spikes" => Mishap::DelaySpikes,
            "idle" => Mishap::Idle,
            "late-acks" => Mishap::LateAcks,
            "late-segments" => Mishap::LateSegments,
            "long-transfers" => Mishap::LongTransfers,
            "lost-acks" => Mishap::LostAcks,
            "lost-retransmissions" => Mishap::LostRetransmissions,
            "random-losses" => Mishap::RandomLosses,
            "receive-window" => Mishap::ReceiveWindow,
            "tails" => Mishap::Tails,
            "timeouts" => Mishap::Timeouts,
            "trains" => Mishap::Trains,
            _ => return None,
        })
    }
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
    /// The scenario of one of the [`FAMILIES`] and a seed.
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
                s.happen(&mut d, Mishap::DelaySpikes, segments);
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
                let mishap = d.one(&[Mishap::LateSegments, Mishap::DelaySpikes, Mishap::DSack]);
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
                let mishap =
                    d.one(&[Mishap::Tails, Mishap::Tails, Mishap::Timeouts, Mishap::RandomLosses]);
                s.happen(&mut d, mishap, segments);
            }
            "no-f-rto" => {
                s.settings.insert("tcp_frto".into(), 0);
                let mishap =
                    d.one(&[Mishap::DelaySpikes, Mishap::Timeouts, Mishap::LostRetransmissions]);
                s.happen(&mut d, mishap, segments);
            }
            "static-window" | "no-dupthresh" => {
                let bit = if family == "static-window" { 2 } else { 4 };
                s.settings.insert("tcp_recovery".into(), 1 + bit);
                let mishap = d.one(&[
                    Mishap::LateSegments,
                    Mishap::Bursts,
                    Mishap::RandomLosses,
                    Mishap::DSack,
                ]);
                s.happen(&mut d, mishap, segments);
            }
            _ => {
                if let Some(mishap) = Mishap::of_family(family) {
                    s.happen(&mut d, mishap, segments);
                }
            }
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

    fn mishap(&mut self, d: &mut Draw, segments: u64) {
        let which = d.one(&[
            Mishap::RandomLosses,
            Mishap::RandomLosses,
            Mishap::Bursts,
            Mishap::Tails,
            Mishap::Trains,
            Mishap::LostRetransmissions,
            Mishap::LateSegments,
            Mishap::LostAcks,
            Mishap::ApplicationLimited,
            Mishap::DelaySpikes,
            Mishap::Timeouts,
            Mishap::LateAcks,
            Mishap::ReceiveWindow,
            Mishap::Congestion,
        ]);
        self.happen(d, which, segments);
    }

    /// Draws what happens to `n` segments.
    fn happen(&mut self, d: &mut Draw, what: Mishap, n: u64) {
        match what {
            Mishap::ApplicationLimited => self.application_limited(d, n),
            Mishap::Bursts => self.bursts(d, n),
            Mishap::Congestion => self.congestion(d),
            Mishap::DSack => self.duplicates(d, n),
            Mishap::DelaySpikes => self.delay_spikes(d, n),
            Mishap::Idle => self.idle(d, n),
            Mishap::LateAcks => self.late_acks(d, n),
            Mishap::LateSegments => self.late_segments(d, n),
            Mishap::LongTransfers => self.long_transfers(d, n),
            Mishap::LostAcks => self.lost_acks(d, n),
            Mishap::LostRetransmissions => self.lost_retransmissions(d, n),
            Mishap::RandomLosses => self.losses(d, n),
            Mishap::ReceiveWindow => self.receive_window(d, n),
            Mishap::Tails => self.tails(d, n),
            Mishap::Timeouts => self.timeouts(d, n),
            Mishap::Trains => self.trains(d, n),
        }
        self.drop.sort_unstable();
        self.drop.dedup();
    }

    fn bursts(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 2) {
            let (first, len) = (d.range(0, n - 3), d.range(2, 12));
            self.drop.extend((first..n.min(first + len)).map(|i| (i, 1)));
        }
    }

    fn congestion(&mut self, d: &mut Draw) {
        self.queue = d.one(&[4, 6, 8, 10, 15]);
        self.rate = d.one(&[500, 1000, 2000, 5000]);
    }

    fn duplicates(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 3) {
            self.twice.push((d.range(0, n - 1), 1, d.range(0, 2 * self.delay / 1000)));
        }
        self.late_segments(d, n);
    }

    fn delay_spikes(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 2) {
            let from = d.range(0, 10 * self.delay / 1000);
            self.holds.push((from, from + d.range(50, 700)));
        }
        if d.chance(0.3) {
            self.losses(d, n);
        }
    }

    fn idle(&mut self, d: &mut Draw, n: u64) {
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

    fn late_acks(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 8) {
            let most = d.one(&[1, self.delay / 1000, 2 * self.delay / 1000 + 50]);
            self.late_acks.push((d.range(0, n - 1), d.range(1, most.max(1))));
        }
        if d.chance(0.5) {
            self.losses(d, n);
        }
    }

    fn long_transfers(&mut self, d: &mut Draw, n: u64) {
        self.queue = d.one(&[8, 15, 25, 40]);
        self.rate = d.one(&[2000, 5000, 10_000]);
        if d.chance(0.5) {
            let p = d.one(&[0.005, 0.01, 0.02]);
            self.drop = (0..n).filter(|_| d.chance(p)).map(|i| (i, 1)).collect();
        }
    }

    fn lost_acks(&mut self, d: &mut Draw, n: u64) {
        let p = d.one(&[0.05, 0.1, 0.3, 0.5]);
        self.drop_acks = (0..3 * n).filter(|_| d.chance(p)).collect();
        if d.chance(0.5) {
            self.losses(d, n);
        }
    }

    fn lost_retransmissions(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 3) {
            let i = d.range(0, n - 1);
            let times = d.range(2, 3) as u32;
            self.drop.extend((1..=times).map(|t| (i, t)));
        }
        if d.chance(0.5) {
            self.losses(d, n);
        }
    }

    fn receive_window(&mut self, d: &mut Draw, n: u64) {
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

    fn tails(&mut self, d: &mut Draw, n: u64) {
        let first = n - d.range(1, 8);
        self.drop.extend((first..n).map(|i| (i, 1)));
        if d.chance(0.2) {
            self.drop.push((n - 1, 2));
        }
    }

    fn timeouts(&mut self, d: &mut Draw, n: u64) {
        // All of a window, and some of what is retransmitted.
        let first = d.range(0, n / 2);
        let len = d.range(8, 24);
        self.drop.extend((first..n.min(first + len)).map(|i| (i, 1)));
        for _ in 0..d.range(1, 3) {
            self.drop.push((d.range(first, n.min(first + len) - 1), 2));
        }
        self.drop.push((first, 2));
    }

    fn trains(&mut self, d: &mut Draw, n: u64) {
        let (first, every) = (d.range(0, n / 2), d.range(2, 4));
        self.drop.extend((0..d.range(2, 8)).map(|i| (first + i * every, 1)));
    }

    fn application_limited(&mut self, d: &mut Draw, n: u64) {
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
            at += if d.chance(0.1) { d.range(300, 900) } else { d.range(1, 3 * self.delay / 1000) };
        }
        if d.chance(0.7) {
            self.losses(d, n);
        }
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

    fn late_segments(&mut self, d: &mut Draw, n: u64) {
        for _ in 0..d.range(1, 6) {
            let most = d.one(&[1, 2 * self.delay / 4000 + 1, 2 * self.delay / 1000, 250]);
            self.late.push((d.range(0, n - 1), 1, d.range(1, most.max(1))));
        }
    }
}
