//! Follows one flow through the states of section 3.2 of the PRR paper.

use std::collections::VecDeque;

use ackclock_tcp::{Cause, Event, EventKind, Time};

use super::{Kind, RecoveryStats, TimedOutIn};

/// Transmissions that are remembered until the network says what became of them. More than this
/// many at a time on their way, and the oldest ones are not told apart any more.
const REMEMBERED: usize = 4096;

/// Responses whose latency is measured at the same time; those written beyond it are not measured.
const RESPONSES: usize = 1024;

/// The states of section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Disorder,
    Recovery,
    Loss,
}

/// A retransmission, or a segment sent during fast recovery.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    seq: u64,
    number: u32,
    in_recovery: bool,
    fast: bool,
    /// The one that began a recovery by early retransmit, until a D-SACK reports it.
    early: bool,
}

/// One write of the application.
#[derive(Clone, Copy, Debug)]
struct Response {
    seq: u64,
    end: u64,
    written: Time,
    retransmitted: bool,
}

/// Takes the events of one flow in the order of time and tells a [`RecoveryStats`], which many
/// flows may share.
#[derive(Clone, Debug)]
pub struct RecoveryTracker {
    mss: u64,
    state: State,
    /// The time of the last event.
    now: Time,
    /// The end of what was written or sent, the end of what was sent, and what of it is
    /// acknowledged.
    end: u64,
    sent: u64,
    una: u64,
    /// When the recovery began that has not led back to Open yet.
    entered: Option<Time>,
    /// The recovery was begun by early retransmit and has sent nothing yet.
    early: bool,
    /// The last timeout: where the sender was, and its segment.
    timed_out: TimedOutIn,
    timed_out_at: Option<u64>,
    /// Retransmissions since something was last acknowledged.
    pending: [u64; Kind::COUNT],
    pending_timeouts: [u64; TimedOutIn::COUNT],
    /// Segments released by the input at hand, and whether it is a write.
    burst: u64,
    by_write: bool,
    /// The largest burst of this recovery.
    recovery_burst: u64,
    transmissions: VecDeque<Transmission>,
    responses: VecDeque<Response>,
}

impl RecoveryTracker {
    /// For a flow whose full segment has `mss` bytes.
    pub fn new(mss: u32) -> Self {
        RecoveryTracker {
            mss: u64::from(mss.max(1)),
            state: State::Open,
            now: Time::ZERO,
            end: 0,
            sent: 0,
            una: 0,
            entered: None,
            early: false,
            timed_out: TimedOutIn::Open,
            timed_out_at: None,
            pending: [0; Kind::COUNT],
            pending_timeouts: [0; TimedOutIn::COUNT],
            burst: 0,
            by_write: false,
            recovery_burst: 0,
            transmissions: VecDeque::new(),
            responses: VecDeque::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event, stats: &mut RecoveryStats) {
        self.advance(event.at, stats);
        match event.kind {
            EventKind::Sent { seq, len, cause, transmission, .. } if len > 0 => {
                self.on_sent(seq, len, cause, transmission, stats);
            }
            EventKind::Acked { .. } => self.on_acked(event, stats),
            EventKind::Written { seq, len } => self.on_written(seq, len),
            EventKind::Lost { seq, transmission, .. } if transmission > 1 => {
                stats.lost_retransmits += 1;
                stats.lost_fast_retransmits +=
                    u64::from(self.find(seq, transmission).is_some_and(|t| t.fast));
            }
            EventKind::RecoveryEntered { pipe, by, .. } => self.on_entered(event, pipe, by, stats),
            EventKind::RecoveryLeft { by_timeout, cwnd_before } => {
                self.on_left(event, by_timeout, cwnd_before, stats)
            }
            EventKind::TimedOut { seq, .. } => self.on_timed_out(seq, stats),
            EventKind::MssChanged { lost: 1.., .. } => {
                self.end_bursts(stats);
                self.burst = 0;
                self.state = State::Loss;
            }
            EventKind::Undone { .. } => {
                stats.undos += 1;
                self.end_bursts(stats);
                self.reopen(event.cwnd, stats);
            }
            EventKind::Arrived { seq, len, spurious } => {
                stats.arrived += 1;
                // Of a segment that the network duplicated, nothing is spurious of the sender's.
                if spurious && self.transmissions.iter().rev().any(|t| t.seq == seq && t.number > 1)
                {
                    stats.spurious_bytes = stats.spurious_bytes.saturating_add(len.into());
                }
            }
            EventKind::Dropped { seq, transmission, .. } => {
                stats.dropped += 1;
                if let Some(t) = self.find(seq, transmission) {
                    stats.dropped_in_recovery += u64::from(t.in_recovery);
                    stats.dropped_fast_retransmits += u64::from(t.fast);
                }
            }
            _ => {}
        }
        self.una = self.una.max(event.snd_una);
    }

    /// The flow is over, or the run is, at `at`.
    pub fn finish(mut self, at: Time, stats: &mut RecoveryStats) {
        self.advance(at, stats);
        super::add_each(&mut stats.failed, &self.pending);
        super::add_each(&mut stats.failed_timeouts, &self.pending_timeouts);
    }

    /// Counts the time until `at` for the state so far.
    fn advance(&mut self, at: Time, stats: &mut RecoveryStats) {
        let elapsed = at.0.saturating_sub(self.now.0);
        self.now = self.now.max(at);
        if self.una < self.end {
            stats.transmit_ns = stats.transmit_ns.saturating_add(elapsed);
            if matches!(self.state, State::Recovery | State::Loss) {
                stats.recovery_ns = stats.recovery_ns.saturating_add(elapsed);
            }
        }
        // A timer that leaves no event of its own, as that of early retransmit.
        if elapsed > 0 {
            (self.burst, self.by_write) = (0, false);
        }
    }

    fn on_sent(
        &mut self,
        seq: u64,
        len: u32,
        cause: Cause,
        transmission: u32,
        stats: &mut RecoveryStats,
    ) {
        stats.flows += u64::from(self.sent == 0);
        stats.segments += 1;
        stats.bytes = stats.bytes.saturating_add(len.into());
        let end = seq.saturating_add(len.into());
        (self.sent, self.end) = (self.sent.max(end), self.end.max(end));
        let in_recovery = self.state == State::Recovery;
        if in_recovery {
            stats.bytes_in_recovery = stats.bytes_in_recovery.saturating_add(len.into());
        }
        let kind = (transmission > 1).then(|| self.retransmission(cause, stats));
        if kind.is_some() {
            for response in self.responses.iter_mut().filter(|r| r.seq < end && seq < r.end) {
                response.retransmitted = true;
            }
        }
        if in_recovery || kind.is_some() {
            let early = std::mem::take(&mut self.early) && kind == Some(Kind::Fast);
            if self.transmissions.len() == REMEMBERED {
                self.transmissions.pop_front();
            }
            let fast = kind == Some(Kind::Fast);
            self.transmissions.push_back(Transmission {
                seq,
                number: transmission,
                in_recovery,
                fast,
                early,
            });
        }
        if !self.by_write {
            self.burst += 1;
            stats.peak_burst = stats.peak_burst.max(self.burst);
            if in_recovery {
                self.recovery_burst = self.recovery_burst.max(self.burst);
            }
        }
    }

    /// Counts a retransmission.
    fn retransmission(&mut self, cause: Cause, stats: &mut RecoveryStats) -> Kind {
        let kind = match cause {
            Cause::TailLossProbe | Cause::Filler => Kind::Probe,
            Cause::Timeout | Cause::BackedOffTimeout => Kind::Timeout,
            _ if self.state == State::Recovery => Kind::Fast,
            _ => Kind::SlowStart,
        };
        stats.retransmissions[kind as usize] += 1;
        self.pending[kind as usize] += 1;
        if kind == Kind::Timeout {
            stats.timeout_retransmits[self.timed_out as usize] += 1;
            self.pending_timeouts[self.timed_out as usize] += 1;
        }
        kind
    }

    fn on_acked(&mut self, event: &Event, stats: &mut RecoveryStats) {
        let EventKind::Acked {
            ack,
            dupacks,
            newly_acked,
            newly_sacked,
            ref sack,
            sacks,
            dsack,
            ..
        } = event.kind
        else {
            return;
        };
        (self.burst, self.by_write) = (0, false);
        if newly_acked > 0 || newly_sacked > 0 {
            (self.pending, self.pending_timeouts) = ([0; Kind::COUNT], [0; TimedOutIn::COUNT]);
        }
        let sack = sack.get(..sacks.into()).unwrap_or_default();
        if let Some(&(duplicate, _)) = sack.first().filter(|_| dsack) {
            stats.dsacks += 1;
            if let Some(t) = self.transmissions.iter_mut().find(|t| t.early && t.seq == duplicate) {
                t.early = false;
                stats.early_spurious += 1;
            }
        }
        if matches!(self.state, State::Open | State::Disorder) {
            let disorder = dupacks > 0 || sack.iter().any(|(_, right)| *right > ack);
            self.state = if disorder { State::Disorder } else { State::Open };
        }
        while let Some(response) = self.responses.front().copied().filter(|r| r.end <= ack) {
            self.responses.pop_front();
            let latency = micros(event.at, response.written);
            stats.latency.record(latency);
            if response.retransmitted {
                stats.latency_lossy.record(latency);
                if response.end - response.seq > self.mss {
                    stats.latency_lossy_long.record(latency);
                }
            }
        }
    }

    fn on_written(&mut self, seq: u64, len: u64) {
        (self.burst, self.by_write) = (0, true);
        let end = seq.saturating_add(len);
        self.end = self.end.max(end);
        if len > 0 && self.responses.len() < RESPONSES {
            self.responses.push_back(Response {
                seq,
                end,
                written: self.now,
                retransmitted: false,
            });
        }
    }

    fn on_entered(&mut self, event: &Event, pipe: u64, by: &str, stats: &mut RecoveryStats) {
        stats.recoveries += 1;
        self.early = matches!(by, "er" | "er-1" | "er-2");
        stats.early_retransmits += u64::from(self.early);
        let pipe = pipe.div_ceil(self.mss);
        stats.pipe_over_ssthresh.record(difference(pipe, event.ssthresh / self.mss));
        self.state = State::Recovery;
        self.entered.get_or_insert(event.at);
        self.recovery_burst = 0;
    }

    fn on_left(
        &mut self,
        event: &Event,
        by_timeout: bool,
        cwnd_before: u64,
        stats: &mut RecoveryStats,
    ) {
        if self.state == State::Recovery {
            stats
                .cwnd_over_ssthresh
                .record(difference(cwnd_before / self.mss, event.ssthresh / self.mss));
            self.end_bursts(stats);
            if by_timeout {
                // TimedOut follows, and wants to know the state.
                return;
            }
            stats.slow_starts += u64::from(event.cwnd < event.ssthresh);
            let ratio = u128::from(event.cwnd) * 1000 / u128::from(event.ssthresh.max(1));
            stats.exit_ratio.record(i64::try_from(ratio).unwrap_or(i64::MAX));
            if event.snd_nxt < self.sent {
                // It had begun after a timeout, whose slow start goes on.
                self.state = State::Loss;
                return;
            }
        }
        self.reopen(event.cwnd, stats);
    }

    fn on_timed_out(&mut self, seq: u64, stats: &mut RecoveryStats) {
        (self.burst, self.by_write) = (0, false);
        self.timed_out = match self.state {
            _ if self.timed_out_at == Some(seq) => TimedOutIn::Backoff,
            State::Open => TimedOutIn::Open,
            State::Disorder => TimedOutIn::Disorder,
            State::Recovery => TimedOutIn::Recovery,
            State::Loss => TimedOutIn::Loss,
        };
        stats.timeouts[self.timed_out as usize] += 1;
        stats.timeouts_of_first += u64::from(seq == 0);
        self.timed_out_at = Some(seq);
        self.state = State::Loss;
    }

    /// The fast recovery, if there is one, sends no more.
    fn end_bursts(&mut self, stats: &mut RecoveryStats) {
        if self.state == State::Recovery {
            stats.burst_in_recovery.record(difference(self.recovery_burst, 0));
        }
    }

    fn reopen(&mut self, cwnd: u64, stats: &mut RecoveryStats) {
        self.state = State::Open;
        if let Some(entered) = self.entered.take() {
            stats.recovery_time.record(micros(self.now, entered));
            stats.cwnd_after.record(difference(cwnd / self.mss, 0));
        }
    }

    /// The latest of the remembered transmissions with this number.
    fn find(&self, seq: u64, number: u32) -> Option<&Transmission> {
        self.transmissions.iter().rev().find(|t| t.seq == seq && t.number == number)
    }
}

/// To the nearest.
fn micros(later: Time, earlier: Time) -> i64 {
    difference(later.0.saturating_sub(earlier.0).saturating_add(500) / 1000, 0)
}

fn difference(a: u64, b: u64) -> i64 {
    let whole = |n| i64::try_from(n).unwrap_or(i64::MAX);
    whole(a) - whole(b)
}
