//! The statistics of recovery from events made by hand: which event moves which row of which table
//! of the PRR paper.

use ackclock_report::{
    Kind, RECOVERY_TABLES, RecoveryStats, RecoveryTracker, TimedOutIn, recovery_measures,
    recovery_table,
};
use ackclock_tcp::{Cause, Event, EventKind, Time, TimeoutClass};

const MSS: u64 = 1000;

/// One flow. Data is named by segments of 1000 bytes, counted from 0.
struct Flow {
    tracker: RecoveryTracker,
    stats: RecoveryStats,
    /// What the next events show.
    event: Event,
}

impl Flow {
    fn new() -> Flow {
        let kind = EventKind::Undone { by: "" };
        let event =
            Event { at: Time::ZERO, cwnd: 10_000, ssthresh: 5_000, snd_una: 0, snd_nxt: 0, kind };
        Flow { tracker: RecoveryTracker::new(MSS as u32), stats: RecoveryStats::default(), event }
    }

    fn is(&mut self, kind: EventKind) {
        self.event.kind = kind;
        self.tracker.event(&self.event, &mut self.stats);
    }

    fn at(&mut self, ms: u64) -> &mut Flow {
        self.event.at = Time(ms * 1_000_000);
        self
    }

    fn windows(&mut self, cwnd: u64, ssthresh: u64) -> &mut Flow {
        (self.event.cwnd, self.event.ssthresh) = (cwnd, ssthresh);
        self
    }

    fn written(&mut self, first: u64, count: u64) -> &mut Flow {
        self.is(EventKind::Written { seq: first * MSS, len: count * MSS });
        self
    }

    fn sent(&mut self, segment: u64, cause: Cause, transmission: u32) -> &mut Flow {
        self.event.snd_nxt = self.event.snd_nxt.max((segment + 1) * MSS);
        self.is(EventKind::Sent {
            seq: segment * MSS,
            len: MSS as u32,
            cause,
            transmission,
            detected_by: None,
        });
        self
    }

    /// So many new segments from the first.
    fn new_data(&mut self, first: u64, count: u64) -> &mut Flow {
        for segment in first..first + count {
            self.sent(segment, Cause::New, 1);
        }
        self
    }

    fn acked(&mut self, ack: u64, dupacks: u32, sack: &[(u64, u64)]) -> &mut Flow {
        self.acked_with(ack, dupacks, sack, false)
    }

    /// The first of these blocks is a D-SACK.
    fn dsacked(&mut self, ack: u64, sack: &[(u64, u64)]) -> &mut Flow {
        self.acked_with(ack, 0, sack, true)
    }

    fn acked_with(
        &mut self,
        ack: u64,
        dupacks: u32,
        sack: &[(u64, u64)],
        dsack: bool,
    ) -> &mut Flow {
        let newly_acked = (ack * MSS).saturating_sub(self.event.snd_una);
        let mut ranges = [(0, 0); 4];
        for (range, (left, right)) in ranges.iter_mut().zip(sack) {
            *range = (left * MSS, right * MSS);
        }
        self.event.snd_una += newly_acked;
        let newly_sacked = if sack.iter().any(|(_, right)| *right > ack) { MSS } else { 0 };
        let (ack, window_edge, sacks) = (ack * MSS, 1 << 20, sack.len() as u8);
        self.is(EventKind::Acked {
            ack,
            dupacks,
            newly_acked,
            newly_sacked,
            window_edge,
            sack: ranges,
            sacks,
            dsack,
        });
        self
    }

    fn entered(&mut self, pipe: u64, by: &'static str) -> &mut Flow {
        self.is(EventKind::RecoveryEntered { recover: self.event.snd_nxt, flight: pipe, pipe, by });
        self
    }

    fn left(&mut self, by_timeout: bool, cwnd_before: u64) -> &mut Flow {
        self.is(EventKind::RecoveryLeft { by_timeout, cwnd_before });
        self
    }

    fn timed_out(&mut self, segment: u64) -> &mut Flow {
        let (seq, class) = (segment * MSS, TimeoutClass::NonTrigger);
        // The backoff of a timer outlasts the acknowledgment of what it retransmitted (Karn's
        // rule): it is not what counts.
        self.is(EventKind::TimedOut { seq, class, backoff: 7, flight: 0, cwnd_before: 0, rto: 0 });
        self
    }

    fn lost(&mut self, segment: u64, transmission: u32) -> &mut Flow {
        self.is(EventKind::Lost { seq: segment * MSS, len: MSS as u32, transmission, by: "" });
        self
    }

    fn dropped(&mut self, segment: u64, transmission: u32) -> &mut Flow {
        self.is(EventKind::Dropped {
            seq: segment * MSS,
            len: MSS as u32,
            transmission,
            link: 0,
            why: "",
        });
        self
    }

    fn arrived(&mut self, segment: u64, spurious: bool) -> &mut Flow {
        self.is(EventKind::Arrived { seq: segment * MSS, len: MSS as u32, spurious });
        self
    }

    fn undone(&mut self) -> &mut Flow {
        self.is(EventKind::Undone { by: "" });
        self
    }

    /// The statistics when the flow ends at the last event's time.
    fn end(&mut self) -> RecoveryStats {
        let mut stats = self.stats.clone();
        self.tracker.clone().finish(self.event.at, &mut stats);
        stats
    }

    fn measured(&mut self, names: &[&str]) -> Vec<f64> {
        let stats = self.end();
        names.iter().map(|name| value(&stats, name)).collect()
    }
}

fn value(stats: &RecoveryStats, name: &str) -> f64 {
    let measure = recovery_measures().find(|m| m.name == name);
    (measure.unwrap_or_else(|| panic!("there is no measure {name}")).value)(stats)
}

/// The rows of table 2 that are not zero, in percent.
fn table_2(flow: &mut Flow) -> Vec<(&'static str, f64)> {
    let stats = flow.end();
    let rows = RECOVERY_TABLES[1].measures.iter().map(|m| (m.name, (m.value)(&stats)));
    rows.filter(|(_, share)| *share != 0.0).collect()
}

/// Ten segments on their way.
fn ten() -> Flow {
    let mut flow = Flow::new();
    flow.new_data(0, 10);
    flow
}

/// Segment 0 retransmitted in a recovery.
fn recovering() -> Flow {
    let mut flow = ten();
    flow.acked(0, 3, &[(1, 4)]).entered(6_000, "is-lost").sent(0, Cause::FastRetransmit, 2);
    flow
}

/// Segment 0 retransmitted upon a timeout in Open.
fn after_timeout() -> Flow {
    let mut flow = ten();
    flow.timed_out(0).sent(0, Cause::Timeout, 2);
    flow
}

#[test]
fn all_that_recovery_sends_again_are_fast_retransmits() {
    let mut flow = recovering();
    flow.sent(4, Cause::Recovery, 2).sent(0, Cause::Recovery, 3).sent(5, Cause::SlowStart, 2);
    flow.sent(10, Cause::New, 1).acked(11, 0, &[]).left(false, 5_000);
    assert_eq!(table_2(&mut flow), [("fast-retransmits", 100.0)]);
    assert_eq!(flow.end().retransmissions_of(Kind::Fast), 4);
}

#[test]
fn a_timeout_in_open() {
    let mut flow = after_timeout();
    flow.acked(10, 0, &[]);
    assert_eq!(table_2(&mut flow), [("timeout-retransmits", 100.0), ("timeouts-in-open", 100.0)]);
}

#[test]
fn a_timeout_after_duplicates_is_one_in_disorder() {
    // Without SACK the duplicates tell, with SACK a block above the ACK does.
    for (dupacks, sack) in [(1, &[][..]), (0, &[(2, 3)])] {
        let mut flow = ten();
        flow.acked(0, dupacks, sack).timed_out(0).sent(0, Cause::Timeout, 2).acked(10, 0, &[]);
        assert_eq!(
            table_2(&mut flow),
            [("timeout-retransmits", 100.0), ("timeouts-in-disorder", 100.0)]
        );
    }
}

#[test]
fn an_ack_of_new_data_ends_disorder_unless_a_hole_is_left() {
    let mut flow = ten();
    flow.acked(0, 2, &[(2, 3), (5, 6)])
        .acked(4, 0, &[(5, 6)])
        .timed_out(4)
        .sent(4, Cause::Timeout, 2)
        .acked(10, 0, &[]);
    assert_eq!(table_2(&mut flow)[1], ("timeouts-in-disorder", 100.0));
    let mut flow = ten();
    flow.acked(0, 2, &[(2, 3)]).acked(4, 0, &[]).timed_out(4).sent(4, Cause::Timeout, 2).acked(
        10,
        0,
        &[],
    );
    assert_eq!(table_2(&mut flow)[1], ("timeouts-in-open", 100.0));
}

#[test]
fn a_timeout_in_recovery() {
    let mut flow = recovering();
    flow.left(true, 5_000).timed_out(0).sent(0, Cause::Timeout, 3).acked(10, 0, &[]);
    assert_eq!(
        table_2(&mut flow),
        [("fast-retransmits", 50.0), ("timeout-retransmits", 50.0), ("timeouts-in-recovery", 50.0)]
    );
}

#[test]
fn the_second_timeout_of_a_segment_is_backed_off_that_of_another_is_in_loss() {
    let mut flow = after_timeout();
    flow.timed_out(0).sent(0, Cause::Timeout, 3).acked(1, 0, &[]).timed_out(1).sent(
        1,
        Cause::Timeout,
        2,
    );
    flow.acked(10, 0, &[])
        .left(false, 1_000)
        .new_data(10, 1)
        .timed_out(10)
        .sent(10, Cause::Timeout, 2)
        .acked(11, 0, &[]);
    let quarter = |name| (name, 25.0);
    assert_eq!(
        table_2(&mut flow),
        [
            ("timeout-retransmits", 100.0),
            ("timeouts-in-open", 50.0),
            quarter("timeouts-in-loss"),
            quarter("timeouts-backed-off")
        ]
    );
}

#[test]
fn after_a_timeout_the_rest_is_sent_again_in_slow_start() {
    let mut flow = after_timeout();
    flow.acked(1, 0, &[]).sent(1, Cause::SlowStart, 2).sent(2, Cause::SlowStart, 2).acked(
        10,
        0,
        &[],
    );
    let [timeout, _, slow] = table_2(&mut flow).try_into().unwrap();
    assert_eq!((timeout.1, slow), (100.0 / 3.0, ("slow-start-retransmits", 200.0 / 3.0)));
}

/// A recovery that began in the slow start after a timeout and ends within it.
#[test]
fn slow_start_goes_on_after_a_recovery_within_it() {
    let mut flow = after_timeout();
    flow.acked(1, 3, &[(2, 5)]).entered(3_000, "dupack").sent(1, Cause::FastRetransmit, 2).acked(
        5,
        0,
        &[],
    );
    flow.event.snd_nxt = 5_000;
    flow.left(false, 2_000).sent(5, Cause::SlowStart, 2);
    assert_eq!(
        (flow.stats.retransmissions_of(Kind::Fast), flow.stats.retransmissions_of(Kind::SlowStart)),
        (1, 1)
    );
    assert_eq!(flow.end().recovery_time.len(), 0, "this is not Open yet");
    flow.timed_out(5);
    assert_eq!(flow.end().timeouts_in(TimedOutIn::Loss), 1);
}

#[test]
fn probes_and_limited_data_are_no_fast_retransmits() {
    let mut flow = ten();
    flow.sent(9, Cause::TailLossProbe, 2).acked(9, 0, &[]);
    assert_eq!(table_2(&mut flow), [("probe-retransmits", 100.0)]);
    let mut flow = recovering();
    flow.sent(9, Cause::Filler, 2).acked(10, 0, &[]);
    assert_eq!(table_2(&mut flow), [("fast-retransmits", 50.0), ("probe-retransmits", 50.0)]);
    // A header alone is no segment of data, and a probe of new data no retransmission.
    let mut flow = ten();
    flow.is(EventKind::Sent {
        seq: 10_000,
        len: 0,
        cause: Cause::Filler,
        transmission: 0,
        detected_by: None,
    });
    flow.sent(10, Cause::TailLossProbe, 1);
    assert_eq!((flow.stats.segments, flow.stats.retransmissions()), (11, 0));
}

#[test]
fn what_is_sent_after_the_last_progress_failed() {
    let mut flow = recovering();
    flow.acked(1, 0, &[(2, 5)]).sent(1, Cause::Recovery, 2);
    assert_eq!(table_2(&mut flow), [("fast-retransmits", 50.0), ("failed-retransmits", 50.0)]);
    // An ACK that tells nothing new is no progress, nor is a D-SACK; a SACK is.
    flow.acked(1, 0, &[]).acked(1, 0, &[(0, 1)]).left(true, 5_000).timed_out(1).sent(
        1,
        Cause::Timeout,
        3,
    );
    let third = 100.0 / 3.0;
    assert_eq!(
        table_2(&mut flow),
        [("fast-retransmits", third), ("failed-retransmits", 2.0 * third)]
    );
    // They count among the absolute numbers all the same.
    assert_eq!(
        flow.measured(&["count-fast-retransmits", "count-timeouts-in-recovery"]),
        [2.0, 1.0]
    );
    flow.acked(1, 0, &[(5, 6)]);
    let rows: Vec<_> = table_2(&mut flow).into_iter().map(|row| row.0).collect();
    assert_eq!(rows, ["fast-retransmits", "timeout-retransmits", "timeouts-in-recovery"]);
}

const TABLE_3: [&str; 7] = [
    "fast-retransmits-per-recovery",
    "dsacks-per-recovery",
    "dsacks-per-retransmit",
    "lost-retransmits-per-recovery",
    "lost-retransmits-per-retransmit",
    "dropped-retransmits-per-recovery",
    "dropped-retransmits-per-retransmit",
];

#[test]
fn table_3_counts_per_recovery_and_per_fast_retransmit() {
    let mut flow = recovering();
    flow.sent(4, Cause::Recovery, 2);
    let measured = flow.measured(&TABLE_3);
    assert_eq!(measured[..5], [2.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(measured[5..].iter().all(|m| m.is_nan()), "the network said nothing");
    // A first transmission is no retransmission; the sender and the network need not agree.
    flow.lost(0, 2).lost(4, 1).dropped(4, 1).sent(0, Cause::Recovery, 3);
    assert_eq!(flow.measured(&TABLE_3), [3.0, 0.0, 0.0, 100.0, 100.0 / 3.0, 0.0, 0.0]);
    flow.dropped(4, 2).dropped(0, 3);
    assert_eq!(flow.measured(&TABLE_3)[5..], [200.0, 200.0 / 3.0]);
    assert_eq!(flow.end().lost_retransmits, 1);
}

#[test]
fn the_lost_retransmission_of_a_timeout_is_no_lost_fast_retransmit() {
    let mut flow = after_timeout();
    flow.acked(0, 3, &[(1, 4)]).lost(0, 2).dropped(0, 2).entered(5_000, "rack").sent(
        0,
        Cause::FastRetransmit,
        3,
    );
    assert_eq!((flow.stats.lost_retransmits, flow.stats.lost_fast_retransmits), (1, 0));
    assert_eq!((flow.stats.dropped, flow.stats.dropped_fast_retransmits), (1, 0));
}

#[test]
fn dsacks_are_counted_by_the_recovery() {
    let mut flow = recovering();
    flow.acked(0, 4, &[(1, 5)]);
    assert_eq!(flow.stats.dsacks, 0);
    flow.dsacked(5, &[(4, 5)]);
    assert_eq!(flow.stats.dsacks, 1);
    flow.dsacked(5, &[(7, 8), (6, 9)]).acked(5, 0, &[(8, 9), (6, 8)]);
    assert_eq!(flow.stats.dsacks, 2);
    assert_eq!(flow.measured(&TABLE_3[1..3]), [200.0, 200.0]);
}

const TABLE_5: [&str; 8] = [
    "pipe-below-ssthresh",
    "pipe-at-ssthresh",
    "pipe-above-ssthresh",
    "pipe-over-ssthresh-min",
    "pipe-over-ssthresh-p1",
    "pipe-over-ssthresh-p50",
    "pipe-over-ssthresh-p99",
    "pipe-over-ssthresh-max",
];

/// A begun segment is one of the pipe's, and none of ssthresh's.
#[test]
fn table_5_counts_in_segments() {
    let mut flow = ten();
    for (pipe, ssthresh) in [(5_000, 5_000), (5_001, 5_000), (4_999, 5_999), (3_000, 5_000)] {
        flow.windows(ssthresh, ssthresh).entered(pipe, "is-lost").left(false, ssthresh);
    }
    assert_eq!(flow.measured(&TABLE_5), [25.0, 50.0, 25.0, -2.0, -2.0, 0.0, 1.0, 1.0]);
}

#[test]
fn table_6_takes_both_ends_and_the_window_before() {
    let mut flow = recovering();
    flow.windows(5_000, 5_000).left(false, 4_999);
    flow.windows(5_000, 7_000).entered(9_000, "is-lost").left(true, 7_500).timed_out(0);
    let names = [
        "cwnd-at-ssthresh",
        "cwnd-over-ssthresh-p5",
        "cwnd-over-ssthresh-p50",
        "cwnd-over-ssthresh-p75",
    ];
    assert_eq!(flow.measured(&names), [50.0, -1.0, -1.0, 0.0]);
    // The end of the slow start after a timeout is none of a recovery, nor is an undo.
    flow.windows(3_000, 5_000).left(false, 3_000).entered(9_000, "is-lost").undone();
    assert_eq!(flow.end().cwnd_over_ssthresh.len(), 2);
}

#[test]
fn a_recovery_lasts_until_open_also_by_way_of_a_timeout() {
    let mut flow = ten();
    flow.at(100).acked(0, 3, &[(1, 4)]).entered(6_000, "is-lost").sent(0, Cause::FastRetransmit, 2);
    flow.at(400).windows(6_000, 6_000).acked(10, 0, &[]).left(false, 5_000);
    assert_eq!(flow.measured(&["recovery-time-p50", "cwnd-after-recovery-p50"]), [300.0, 6.0]);
    flow.new_data(10, 5).at(1_000).entered(6_000, "is-lost");
    flow.at(2_000).left(true, 5_000).windows(1_000, 2_000).timed_out(10).sent(
        10,
        Cause::Timeout,
        2,
    );
    flow.windows(4_000, 2_000).at(2_500).acked(15, 0, &[]).left(false, 4_000);
    let names = [
        "recovery-time-p50",
        "recovery-time-p75",
        "cwnd-after-recovery-p50",
        "cwnd-after-recovery-p75",
    ];
    assert_eq!(flow.measured(&names), [300.0, 1_500.0, 4.0, 6.0]);
    // A timeout in Open is no recovery; an undo ends one; one that does not end does not count.
    flow.timed_out(15)
        .at(3_000)
        .left(false, 4_000)
        .at(4_000)
        .entered(6_000, "rack")
        .windows(9_999, 2_000)
        .at(4_001)
        .undone();
    flow.at(5_000).entered(6_000, "rack").at(6_000);
    assert_eq!(flow.measured(&["recovery-time-p10", "cwnd-after-recovery-p90"]), [1.0, 9.0]);
    assert_eq!(flow.end().recovery_time.len(), 3);
}

#[test]
fn a_second_recovery_before_open_is_part_of_the_first() {
    let mut flow = recovering();
    flow.at(100).left(true, 5_000).timed_out(0).sent(0, Cause::Timeout, 3).acked(1, 3, &[(2, 5)]);
    flow.at(200)
        .entered(3_000, "is-lost")
        .sent(1, Cause::FastRetransmit, 2)
        .at(300)
        .acked(10, 0, &[])
        .left(false, 3_000);
    assert_eq!(
        (flow.measured(&["recovery-time-p50"]), flow.end().recovery_time.len()),
        (vec![300.0], 1)
    );
    assert_eq!(flow.measured(&["count-recoveries"]), [2.0]);
}

#[test]
fn table_8_counts() {
    let mut flow = recovering();
    flow.sent(4, Cause::Recovery, 2).lost(0, 2).left(true, 5_000).timed_out(0).sent(
        0,
        Cause::Timeout,
        3,
    );
    flow.timed_out(0).sent(0, Cause::Timeout, 4).acked(10, 0, &[]).left(false, 1_000);
    flow.new_data(10, 2).acked(10, 1, &[]).timed_out(10);
    let names = RECOVERY_TABLES[7].measures.iter().map(|m| m.name).collect::<Vec<_>>();
    assert_eq!(flow.measured(&names), [4.0, 2.0, 1.0, 1.0, 1.0, 3.0, 2.0, 1.0]);
}

#[test]
fn table_9_measures_responses_and_knows_which_were_hit() {
    let mut flow = Flow::new();
    flow.written(0, 2).new_data(0, 2).at(50).written(2, 1).new_data(2, 1);
    // Of segment 2 only the second response knows.
    flow.at(300).timed_out(2).sent(2, Cause::Timeout, 2).at(310).acked(1, 0, &[]);
    assert_eq!(flow.end().latency.len(), 0, "the last byte counts");
    flow.at(400).acked(2, 0, &[]).at(550).acked(3, 0, &[]);
    let names = [
        "latency-p25",
        "latency-p99",
        "latency-mean",
        "latency-lossy-p50",
        "responses-with-retransmissions",
    ];
    assert_eq!(flow.measured(&names), [400.0, 500.0, 450.0, 500.0, 50.0]);
    // It is one segment long; the next one is two.
    assert_eq!(flow.end().latency_lossy_long.len(), 0);
    flow.written(3, 2).new_data(3, 2).sent(4, Cause::TailLossProbe, 2).at(650).acked(5, 0, &[]);
    assert_eq!(flow.measured(&["latency-lossy-long-p50", "latency-lossy-p25"]), [100.0, 100.0]);
    // And of segment 5 the one that begins at 6 knows nothing.
    flow.written(5, 1).written(6, 1).new_data(5, 2).sent(5, Cause::TailLossProbe, 2).acked(
        7,
        0,
        &[],
    );
    assert_eq!((flow.end().latency.len(), flow.end().latency_lossy.len()), (5, 3));
}

#[test]
fn table_10_counts_the_time_with_unacknowledged_data() {
    let mut flow = Flow::new();
    flow.at(1_000)
        .written(0, 10)
        .at(1_100)
        .new_data(0, 10)
        .at(1_200)
        .acked(0, 3, &[(1, 4)])
        .entered(6_000, "is-lost");
    flow.sent(0, Cause::FastRetransmit, 2).new_data(10, 1);
    // 300 ms in recovery, 500 ms after a timeout, then 1 s idle.
    flow.at(1_500)
        .left(true, 5_000)
        .timed_out(0)
        .sent(0, Cause::Timeout, 3)
        .at(2_000)
        .acked(11, 0, &[])
        .left(false, 9_000);
    flow.at(3_000);
    let names = ["transmit-time", "time-in-recovery", "retransmission-rate", "bytes-in-recovery"];
    assert_eq!(flow.measured(&names), [1.0, 80.0, 200.0 / 13.0, 200.0 / 13.0]);
    // A second connection halves the time per connection, until it has some of its own.
    let mut both = flow.end();
    both.add(&ten().end());
    assert_eq!(value(&both, "transmit-time"), 0.5);
}

#[test]
fn slow_start_after_recovery_is_a_window_below_ssthresh() {
    let mut flow = recovering();
    flow.windows(4_999, 5_000).left(false, 5_000);
    flow.windows(5_000, 5_000).entered(6_000, "is-lost").left(false, 5_000);
    assert_eq!(flow.measured(&["slow-start-after-recovery", "window-at-exit"]), [50.0, 0.9995]);
    // After a timeout there always is one; that is not meant.
    flow.windows(1_000, 5_000)
        .entered(6_000, "is-lost")
        .left(true, 5_000)
        .timed_out(0)
        .left(false, 1_000);
    assert_eq!(flow.measured(&["slow-start-after-recovery", "window-at-exit"]), [50.0, 0.9995]);
}

#[test]
fn fast_retransmits_lost_are_the_networks_where_it_reports() {
    let mut flow = recovering();
    flow.lost(0, 2).sent(0, Cause::Recovery, 3);
    assert_eq!(flow.measured(&["fast-retransmits-lost"]), [50.0]);
    flow.arrived(1, false);
    assert_eq!(flow.measured(&["fast-retransmits-lost"]), [0.0]);
    flow.dropped(0, 2).dropped(0, 3);
    assert_eq!(flow.measured(&["fast-retransmits-lost"]), [100.0]);
}

/// What is retransmitted for its size is no fast retransmission, and its recovery ends in Open.
#[test]
fn a_smaller_mss_ends_a_recovery() {
    let mut flow = recovering();
    flow.is(EventKind::MssChanged { mss: 500, lost: 0 });
    flow.sent(2, Cause::Recovery, 2);
    flow.is(EventKind::MssChanged { mss: 500, lost: 4_000 });
    flow.sent(2, Cause::SlowStart, 3).sent(3, Cause::SlowStart, 2).acked(10, 0, &[]);
    assert_eq!(flow.measured(&["fast-retransmits", "slow-start-retransmits"]), [50.0, 50.0]);
}

#[test]
fn early_retransmits_and_undos() {
    const NAMES: [&str; 4] =
        ["early-retransmits", "early-retransmits-spurious", "count-undos", "undos-per-recovery"];
    let mut flow = ten();
    flow.entered(2_000, "er-2").sent(0, Cause::FastRetransmit, 2).sent(1, Cause::Recovery, 2);
    // A D-SACK for another segment says nothing about the early one; a second one for it nothing
    // new.
    flow.dsacked(3, &[(1, 2)]);
    assert_eq!(flow.measured(&NAMES), [100.0, 0.0, 0.0, 0.0]);
    flow.dsacked(3, &[(0, 1)]).dsacked(3, &[(0, 1)]).undone();
    assert_eq!(flow.measured(&NAMES), [100.0, 100.0, 1.0, 100.0]);
    flow.entered(2_000, "dupack")
        .sent(3, Cause::FastRetransmit, 2)
        .acked(10, 0, &[(3, 4)])
        .left(false, 5_000);
    assert_eq!(flow.measured(&NAMES), [50.0, 100.0, 1.0, 50.0]);
}

#[test]
fn a_burst_is_what_one_ack_or_timer_releases() {
    const NAMES: [&str; 2] = ["peak-burst", "burst-in-recovery-max"];
    let mut flow = Flow::new();
    flow.written(0, 20).new_data(0, 10);
    assert_eq!(flow.measured(&NAMES)[0], 0.0, "what a write releases does not count");
    flow.at(100).acked(2, 0, &[]).new_data(10, 2).acked(4, 0, &[]).new_data(12, 2);
    assert_eq!(flow.measured(&NAMES)[0], 2.0, "two ACKs at the same instant are two inputs");
    flow.at(200)
        .acked(4, 3, &[])
        .entered(5_000, "dupack")
        .sent(4, Cause::FastRetransmit, 2)
        .new_data(14, 2);
    // A timer that leaves no event.
    flow.at(300)
        .new_data(16, 1)
        .at(400)
        .acked(17, 0, &[])
        .windows(5_000, 5_000)
        .left(false, 5_000)
        .new_data(17, 5);
    assert_eq!(flow.measured(&NAMES), [5.0, 3.0]);
    // Each recovery has its own.
    flow.at(500)
        .acked(17, 3, &[])
        .entered(5_000, "dupack")
        .sent(17, Cause::FastRetransmit, 2)
        .left(false, 5_000);
    assert_eq!(flow.end().burst_in_recovery.cdf().collect::<Vec<_>>(), [(1, 0.5), (3, 1.0)]);
}

#[test]
fn losses_caused_during_recovery_are_of_what_was_sent_in_it() {
    let mut flow = recovering();
    flow.new_data(10, 2)
        .dropped(9, 1)
        .dropped(10, 1)
        .dropped(0, 2)
        .acked(10, 0, &[])
        .left(false, 5_000);
    flow.new_data(12, 1).dropped(12, 1).dropped(11, 1);
    assert_eq!(flow.measured(&["losses-in-recovery"]), [3.0]);
    assert_eq!(flow.stats.dropped, 5);
}

#[test]
fn spurious_bytes_are_of_retransmissions() {
    let mut flow = recovering();
    // Segments 1 and 10 were duplicated by the network, the one sent before recovery, the other
    // within.
    flow.new_data(10, 1).arrived(1, false).arrived(1, true).arrived(10, true).arrived(0, false);
    assert_eq!(flow.measured(&["spurious-bytes"]), [0.0]);
    flow.arrived(0, true);
    assert_eq!(flow.measured(&["spurious-bytes"]), [1_000.0]);
}

#[test]
fn timeouts_per_1000_recoveries() {
    let mut flow = recovering();
    flow.left(false, 5_000).timed_out(4).timed_out(4);
    assert_eq!(flow.measured(&["timeouts-per-1000-recoveries"]), [2_000.0]);
    assert_eq!(flow.end().timeouts_in(TimedOutIn::Backoff), 1);
}

#[test]
fn names_are_unique_and_nothing_is_measured_of_nothing() {
    let mut names: Vec<_> = recovery_measures().map(|m| m.name).collect();
    names.sort();
    names.windows(2).for_each(|w| assert_ne!(w[0], w[1]));
    let nothing = RecoveryStats::default();
    for m in recovery_measures() {
        let value = (m.value)(&nothing);
        if m.name.starts_with("count-") {
            assert_eq!(value, 0.0, "{}", m.name);
        } else {
            assert!(value.is_nan(), "{} is {value}", m.name);
        }
    }
}

#[test]
fn the_tables_have_a_column_for_each() {
    let (one, two) = (recovering().end(), after_timeout().end());
    let text = recovery_table(&[("prr", &one), ("tahoe", &two)]);
    let table: Vec<&str> = text.split("\n\n").nth(7).unwrap().lines().collect();
    assert_eq!(
        table[..4],
        [
            "Table 8: retransmissions and timeouts, counted",
            "                                                         unit    prr  tahoe",
            "total retransmissions                                              1      1",
            "fast retransmissions                                               1      0",
        ]
    );
    assert_eq!(text.split("\n\n").count(), RECOVERY_TABLES.len());
    assert!(
        text.contains(
            "\n99 %                                                 segments      -      -\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("\nfailed retransmits                                          %"),
        "{text}"
    );
}

#[test]
fn json_has_every_measure_and_the_distribution() {
    let mut flow = recovering();
    flow.at(5).windows(5_000, 5_000).acked(10, 0, &[]).left(false, 5_000);
    let json = serde_json::to_value(flow.end()).unwrap();
    assert_eq!(json.as_object().unwrap().len(), recovery_measures().count() + 1);
    assert_eq!(json["recovery-time-p50"], 5.0);
    assert_eq!(json["recovery_time_cdf"], serde_json::json!([[5.0, 1.0]]));
    assert!(json["latency-p50"].is_null());
}
