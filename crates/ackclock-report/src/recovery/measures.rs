//! The numbers of the paper's tables, each under a name.

use super::{Distribution, Kind, RecoveryStats, TimedOutIn};

/// A number of [`RecoveryStats`].
#[derive(Debug)]
pub struct RecoveryMeasure {
    /// Its name, unique among all measures.
    pub name: &'static str,
    /// Its unit; empty for a count or a ratio.
    pub unit: &'static str,
    /// What it is, in words of the paper. [`RecoveryStats`] has the definitions in full.
    pub definition: &'static str,
    /// Its value; NaN where nothing was measured.
    pub value: fn(&RecoveryStats) -> f64,
}

/// The measures of one table or figure of the paper.
#[derive(Debug)]
pub struct RecoveryTable {
    /// Which one, and what it shows.
    pub title: &'static str,
    /// Its rows.
    pub measures: &'static [RecoveryMeasure],
}

/// All measures in the order of [`RECOVERY_TABLES`].
pub fn recovery_measures() -> impl Iterator<Item = &'static RecoveryMeasure> {
    RECOVERY_TABLES.iter().flat_map(|table| table.measures)
}

const fn m(
    name: &'static str,
    unit: &'static str,
    definition: &'static str,
    value: fn(&RecoveryStats) -> f64,
) -> RecoveryMeasure {
    RecoveryMeasure { name, unit, definition, value }
}

/// NaN of nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { f64::NAN } else { part as f64 / whole as f64 }
}

/// NaN of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    crate::percent(part, whole).unwrap_or(f64::NAN)
}

fn kind(s: &RecoveryStats, kind: Kind) -> f64 {
    percent(s.repaired(kind), s.retransmissions())
}

fn timeout(s: &RecoveryStats, state: TimedOutIn) -> f64 {
    percent(s.repaired_timeouts(state), s.retransmissions())
}

fn fast(s: &RecoveryStats) -> u64 {
    s.retransmissions_of(Kind::Fast)
}

/// NaN unless the network reports.
fn network(s: &RecoveryStats, value: f64) -> f64 {
    if s.sees_network() { value } else { f64::NAN }
}

/// A quantile of microseconds in milliseconds.
fn ms(d: &Distribution, q: f64) -> f64 {
    d.quantile(q) / 1000.0
}

/// The tables of the paper in its order, and what is measured beside.
pub const RECOVERY_TABLES: [RecoveryTable; 13] = [
    RecoveryTable {
        title: "Table 1: retransmissions and responses",
        measures: &[
            m("retransmission-rate", "%", "segments that are retransmissions", |s| {
                percent(s.retransmissions(), s.segments)
            }),
            m("responses-with-retransmissions", "%", "responses with retransmissions", |s| {
                percent(s.latency_lossy.len(), s.latency.len())
            }),
        ],
    },
    RecoveryTable {
        title: "Table 2: retransmissions by kind, of all retransmissions",
        measures: &[
            m("fast-retransmits", "%", "fast retransmits", |s| kind(s, Kind::Fast)),
            m("timeout-retransmits", "%", "timeout retransmits", |s| kind(s, Kind::Timeout)),
            m("timeouts-in-open", "%", "timeout retransmits in Open", |s| {
                timeout(s, TimedOutIn::Open)
            }),
            m("timeouts-in-disorder", "%", "timeout retransmits in Disorder", |s| {
                timeout(s, TimedOutIn::Disorder)
            }),
            m("timeouts-in-recovery", "%", "timeout retransmits in Recovery", |s| {
                timeout(s, TimedOutIn::Recovery)
            }),
            m("timeouts-in-loss", "%", "timeout retransmits in Loss (not in the paper)", |s| {
                timeout(s, TimedOutIn::Loss)
            }),
            m("timeouts-backed-off", "%", "timeout retransmits with exponential backoff", |s| {
                timeout(s, TimedOutIn::Backoff)
            }),
            m("slow-start-retransmits", "%", "slow start retransmits", |s| {
                kind(s, Kind::SlowStart)
            }),
            m("probe-retransmits", "%", "tail loss probes and fillers (not in the paper)", |s| {
                kind(s, Kind::Probe)
            }),
            m("failed-retransmits", "%", "failed retransmits", |s| {
                percent(s.failed(), s.retransmissions())
            }),
        ],
    },
    RecoveryTable {
        title: "Table 3: fast recovery; \"retransmit\" is a fast retransmit",
        measures: &[
            m("fast-retransmits-per-recovery", "", "fast retransmits per recovery", |s| {
                ratio(fast(s), s.recoveries)
            }),
            m("dsacks-per-recovery", "%", "D-SACKs per recovery", |s| {
                percent(s.dsacks, s.recoveries)
            }),
            m("dsacks-per-retransmit", "%", "D-SACKs per retransmit", |s| {
                percent(s.dsacks, fast(s))
            }),
            m("lost-retransmits-per-recovery", "%", "retransmits judged lost per recovery", |s| {
                percent(s.lost_fast_retransmits, s.recoveries)
            }),
            m(
                "lost-retransmits-per-retransmit",
                "%",
                "retransmits judged lost per retransmit",
                |s| percent(s.lost_fast_retransmits, fast(s)),
            ),
            m(
                "dropped-retransmits-per-recovery",
                "%",
                "retransmits dropped by the network per recovery",
                |s| network(s, percent(s.dropped_fast_retransmits, s.recoveries)),
            ),
            m(
                "dropped-retransmits-per-retransmit",
                "%",
                "retransmits dropped by the network per retransmit",
                |s| network(s, percent(s.dropped_fast_retransmits, fast(s))),
            ),
        ],
    },
    RecoveryTable {
        title: "Table 5: pipe - ssthresh at the start of recovery",
        measures: &[
            m("pipe-below-ssthresh", "%", "pipe < ssthresh", |s| {
                100.0 * s.pipe_over_ssthresh.share(|v| v < 0)
            }),
            m("pipe-at-ssthresh", "%", "pipe = ssthresh", |s| {
                100.0 * s.pipe_over_ssthresh.share(|v| v == 0)
            }),
            m("pipe-above-ssthresh", "%", "pipe > ssthresh", |s| {
                100.0 * s.pipe_over_ssthresh.share(|v| v > 0)
            }),
            m("pipe-over-ssthresh-min", "segments", "least", |s| {
                s.pipe_over_ssthresh.quantile(0.0)
            }),
            m("pipe-over-ssthresh-p1", "segments", "1 %", |s| s.pipe_over_ssthresh.quantile(0.01)),
            m("pipe-over-ssthresh-p50", "segments", "50 %", |s| s.pipe_over_ssthresh.quantile(0.5)),
            m("pipe-over-ssthresh-p99", "segments", "99 %", |s| {
                s.pipe_over_ssthresh.quantile(0.99)
            }),
            m("pipe-over-ssthresh-max", "segments", "greatest", |s| {
                s.pipe_over_ssthresh.quantile(1.0)
            }),
        ],
    },
    RecoveryTable {
        title: "Table 6: cwnd - ssthresh just before recovery ends",
        measures: &[
            m("cwnd-at-ssthresh", "%", "cwnd = ssthresh", |s| {
                100.0 * s.cwnd_over_ssthresh.share(|v| v == 0)
            }),
            m("cwnd-over-ssthresh-p5", "segments", "5 %", |s| s.cwnd_over_ssthresh.quantile(0.05)),
            m("cwnd-over-ssthresh-p10", "segments", "10 %", |s| s.cwnd_over_ssthresh.quantile(0.1)),
            m("cwnd-over-ssthresh-p25", "segments", "25 %", |s| {
                s.cwnd_over_ssthresh.quantile(0.25)
            }),
            m("cwnd-over-ssthresh-p50", "segments", "50 %", |s| s.cwnd_over_ssthresh.quantile(0.5)),
            m("cwnd-over-ssthresh-p75", "segments", "75 %", |s| {
                s.cwnd_over_ssthresh.quantile(0.75)
            }),
            m("cwnd-over-ssthresh-p90", "segments", "90 %", |s| s.cwnd_over_ssthresh.quantile(0.9)),
            m("cwnd-over-ssthresh-p95", "segments", "95 %", |s| {
                s.cwnd_over_ssthresh.quantile(0.95)
            }),
            m("cwnd-over-ssthresh-p99", "segments", "99 %", |s| {
                s.cwnd_over_ssthresh.quantile(0.99)
            }),
        ],
    },
    RecoveryTable {
        title: "Figure 5: time from the start of recovery until Open",
        measures: &[
            m("recovery-time-p10", "ms", "10 %", |s| ms(&s.recovery_time, 0.1)),
            m("recovery-time-p25", "ms", "25 %", |s| ms(&s.recovery_time, 0.25)),
            m("recovery-time-p50", "ms", "50 %", |s| ms(&s.recovery_time, 0.5)),
            m("recovery-time-p75", "ms", "75 %", |s| ms(&s.recovery_time, 0.75)),
            m("recovery-time-p90", "ms", "90 %", |s| ms(&s.recovery_time, 0.9)),
            m("recovery-time-p95", "ms", "95 %", |s| ms(&s.recovery_time, 0.95)),
            m("recovery-time-p99", "ms", "99 %", |s| ms(&s.recovery_time, 0.99)),
            m("recovery-time-mean", "ms", "mean", |s| s.recovery_time.mean() / 1000.0),
        ],
    },
    RecoveryTable {
        title: "Table 7: cwnd after recovery",
        measures: &[
            m("cwnd-after-recovery-p10", "segments", "10 %", |s| s.cwnd_after.quantile(0.1)),
            m("cwnd-after-recovery-p25", "segments", "25 %", |s| s.cwnd_after.quantile(0.25)),
            m("cwnd-after-recovery-p50", "segments", "50 %", |s| s.cwnd_after.quantile(0.5)),
            m("cwnd-after-recovery-p75", "segments", "75 %", |s| s.cwnd_after.quantile(0.75)),
            m("cwnd-after-recovery-p90", "segments", "90 %", |s| s.cwnd_after.quantile(0.9)),
            m("cwnd-after-recovery-p95", "segments", "95 %", |s| s.cwnd_after.quantile(0.95)),
            m("cwnd-after-recovery-p99", "segments", "99 %", |s| s.cwnd_after.quantile(0.99)),
        ],
    },
    RecoveryTable {
        title: "Table 8: retransmissions and timeouts, counted",
        measures: &[
            m("count-retransmissions", "", "total retransmissions", |s| s.retransmissions() as f64),
            m("count-fast-retransmits", "", "fast retransmissions", |s| fast(s) as f64),
            m("count-timeouts-in-recovery", "", "timeouts in Recovery", |s| {
                s.timeouts_in(TimedOutIn::Recovery) as f64
            }),
            m("count-lost-retransmits", "", "lost retransmissions, as the sender judged", |s| {
                s.lost_retransmits as f64
            }),
            m("count-recoveries", "", "recoveries (not in the paper)", |s| s.recoveries as f64),
            m("count-timeouts", "", "timeouts (not in the paper)", |s| s.timeouts() as f64),
            m("count-timeouts-of-first-segment", "", "of these, of a first segment", |s| {
                s.timeouts_of_first as f64
            }),
            m("count-timeouts-in-disorder", "", "timeouts in Disorder (section 6.1)", |s| {
                s.timeouts_in(TimedOutIn::Disorder) as f64
            }),
        ],
    },
    RecoveryTable {
        title: "Table 9: latency of responses with retransmissions",
        measures: &[
            m("latency-lossy-p25", "ms", "25 %", |s| ms(&s.latency_lossy, 0.25)),
            m("latency-lossy-p50", "ms", "50 %", |s| ms(&s.latency_lossy, 0.5)),
            m("latency-lossy-p90", "ms", "90 %", |s| ms(&s.latency_lossy, 0.9)),
            m("latency-lossy-p99", "ms", "99 %", |s| ms(&s.latency_lossy, 0.99)),
            m("latency-lossy-mean", "ms", "mean", |s| s.latency_lossy.mean() / 1000.0),
            m("latency-p25", "ms", "25 % of all responses", |s| ms(&s.latency, 0.25)),
            m("latency-p50", "ms", "50 % of all responses", |s| ms(&s.latency, 0.5)),
            m("latency-p90", "ms", "90 % of all responses", |s| ms(&s.latency, 0.9)),
            m("latency-p99", "ms", "99 % of all responses", |s| ms(&s.latency, 0.99)),
            m("latency-mean", "ms", "mean of all responses", |s| s.latency.mean() / 1000.0),
        ],
    },
    RecoveryTable {
        title: "Table 10: transfers (the retransmission rate is in table 1)",
        measures: &[
            m("transmit-time", "s", "network transmit time per connection", |s| {
                ratio(s.transmit_ns, s.flows) / 1e9
            }),
            m("time-in-recovery", "%", "time in loss recovery", |s| {
                percent(s.recovery_ns, s.transmit_ns)
            }),
            m("bytes-in-recovery", "%", "bytes sent in fast recovery", |s| {
                percent(s.bytes_in_recovery, s.bytes)
            }),
            m("fast-retransmits-lost", "%", "fast retransmits lost", |s| {
                let lost = if s.sees_network() {
                    s.dropped_fast_retransmits
                } else {
                    s.lost_fast_retransmits
                };
                percent(lost, fast(s))
            }),
            m("slow-start-after-recovery", "%", "slow start after fast recovery", |s| {
                percent(s.slow_starts, s.exit_ratio.len())
            }),
        ],
    },
    RecoveryTable {
        title: "Table 11: latency of responses with retransmissions and more than one segment",
        measures: &[
            m("latency-lossy-long-p5", "ms", "5 %", |s| ms(&s.latency_lossy_long, 0.05)),
            m("latency-lossy-long-p10", "ms", "10 %", |s| ms(&s.latency_lossy_long, 0.1)),
            m("latency-lossy-long-p50", "ms", "50 %", |s| ms(&s.latency_lossy_long, 0.5)),
            m("latency-lossy-long-p90", "ms", "90 %", |s| ms(&s.latency_lossy_long, 0.9)),
            m("latency-lossy-long-p99", "ms", "99 %", |s| ms(&s.latency_lossy_long, 0.99)),
        ],
    },
    RecoveryTable {
        title: "Section 6.1: early retransmit and undo",
        measures: &[
            m("early-retransmits", "%", "recoveries begun by early retransmit", |s| {
                percent(s.early_retransmits, s.recoveries)
            }),
            m(
                "early-retransmits-spurious",
                "%",
                "early retransmits reported spurious by D-SACK",
                |s| percent(s.early_spurious, s.early_retransmits),
            ),
            m("count-undos", "", "undo events", |s| s.undos as f64),
            m("undos-per-recovery", "%", "undo events per recovery", |s| {
                percent(s.undos, s.recoveries)
            }),
        ],
    },
    RecoveryTable {
        title: "Not in the paper: how recovery behaves",
        measures: &[
            m("timeouts-per-1000-recoveries", "", "timeouts per 1,000 recoveries", |s| {
                1000.0 * ratio(s.timeouts(), s.recoveries)
            }),
            m("window-at-exit", "", "cwnd after recovery over ssthresh, mean", |s| {
                s.exit_ratio.mean() / 1000.0
            }),
            m("peak-burst", "segments", "most segments released by one ACK or timer", |s| match s
                .segments
            {
                0 => f64::NAN,
                _ => s.peak_burst as f64,
            }),
            m("burst-in-recovery-p50", "segments", "the same in a recovery: 50 %", |s| {
                s.burst_in_recovery.quantile(0.5)
            }),
            m("burst-in-recovery-p99", "segments", "99 %", |s| s.burst_in_recovery.quantile(0.99)),
            m("burst-in-recovery-max", "segments", "greatest", |s| {
                s.burst_in_recovery.quantile(1.0)
            }),
            m(
                "losses-in-recovery",
                "",
                "segments sent in recovery and dropped, per recovery",
                |s| network(s, ratio(s.dropped_in_recovery, s.recoveries)),
            ),
            m("spurious-bytes", "bytes", "retransmitted bytes that brought nothing new", |s| {
                network(s, s.spurious_bytes as f64)
            }),
        ],
    },
];
