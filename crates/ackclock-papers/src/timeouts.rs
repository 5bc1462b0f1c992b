//! The class and the window of each timeout: Lin & Kung section 4.1 and figure 1.

use ackclock_net::{FlowId, Recorder};
use ackclock_tcp::TimeoutClass::{self, BackedOff, LostRetransmission, MultipleLosses, NonTrigger};
use ackclock_tcp::{Event, EventKind};

pub(crate) const CLASSES: [TimeoutClass; 3] = [NonTrigger, MultipleLosses, LostRetransmission];

/// The timeouts and windows of transfers, in whole segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Window and segments outstanding at each timeout, by class.
    timeouts: [Vec<(u64, u64)>; 3],
    /// Timeouts of a segment that had one already. They are of the class lost retransmission.
    repeated: usize,
    /// Timeouts whose class a capture does not show.
    unknown: usize,
    /// ACKs of new data, and the sum of the windows at them.
    acks: u64,
    windows: u64,
}

/// Records the timeouts and windows of one transfer.
pub(crate) struct Windows<'a> {
    mss: u64,
    /// The receiver's window as of the last ACK.
    offered: u64,
    /// The segment of the last timeout.
    timed_out: Option<u64>,
    tally: &'a mut Tally,
}

impl<'a> Windows<'a> {
    /// Of a flow whose full segment has `mss` bytes.
    pub fn new(mss: u64, tally: &'a mut Tally) -> Self {
        Windows { mss, offered: u64::MAX, timed_out: None, tally }
    }

    fn window(&self, cwnd: u64) -> u64 {
        cwnd.min(self.offered) / self.mss
    }
}

impl Recorder for Windows<'_> {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        match event.kind {
            EventKind::Acked { ack, newly_acked, window_edge, .. } => {
                self.offered = window_edge.saturating_sub(ack);
                if newly_acked > 0 {
                    self.tally.acks += 1;
                    self.tally.windows += self.window(event.cwnd);
                }
            }
            EventKind::TimedOut { seq, class, flight, cwnd_before, .. } => {
                let sizes = (self.window(cwnd_before), flight.div_ceil(self.mss));
                // Lin & Kung have no class for repeated timeouts.
                let class = if class == BackedOff { LostRetransmission } else { class };
                self.tally.timeouts[class as usize].push(sizes);
                self.tally.repeated += usize::from(self.timed_out.replace(seq) == Some(seq));
            }
            _ => {}
        }
    }
}

impl Tally {
    fn all(&self) -> usize {
        self.timeouts.iter().map(Vec::len).sum::<usize>() + self.unknown
    }

    /// Adds the timeouts of a sender that was captured.
    pub fn add_captured(&mut self, sender: &ackclock_trace::Flow) {
        let mss = u64::from(sender.mss.max(1));
        let mut timed_out = None;
        for timeout in &sender.timeouts {
            let sizes = (timeout.cwnd / mss, timeout.flight.div_ceil(mss));
            match timeout.class {
                class @ (NonTrigger | MultipleLosses | LostRetransmission) => {
                    self.timeouts[class as usize].push(sizes);
                }
                BackedOff => self.timeouts[LostRetransmission as usize].push(sizes),
                _ => self.unknown += 1,
            }
            let position = Some(timeout.position);
            self.repeated += usize::from(timed_out == position);
            timed_out = position;
        }
    }

    /// How many.
    pub fn count(&self) -> f64 {
        self.all() as f64
    }

    /// The share of all timeouts whose class is not known.
    pub fn share_unknown(&self) -> f64 {
        percent(self.unknown, self.all())
    }

    /// The share of all timeouts that are of these classes and of which `counts` is true, by their
    /// window and the segments outstanding; in percent, NaN without timeouts.
    pub fn share(&self, classes: &[TimeoutClass], counts: impl Fn(u64, u64) -> bool) -> f64 {
        let of = |class: &TimeoutClass| {
            self.timeouts[*class as usize].iter().filter(|t| counts(t.0, t.1)).count()
        };
        percent(classes.iter().map(of).sum(), self.all())
    }

    /// The share of all timeouts whose segment timed out before.
    pub fn share_repeated(&self) -> f64 {
        percent(self.repeated, self.all())
    }

    /// The share of a class in the timeouts whose segment did not time out before.
    pub fn share_of_first(&self, class: TimeoutClass) -> f64 {
        let repeated = if class == LostRetransmission { self.repeated } else { 0 };
        percent(self.timeouts[class as usize].len() - repeated, self.all() - self.repeated)
    }

    /// The mean window over all ACKs of new data, in segments.
    pub fn mean_window(&self) -> f64 {
        self.windows as f64 / self.acks as f64
    }
}

/// NaN of nothing.
fn percent(part: usize, whole: usize) -> f64 {
    ackclock_report::percent(part as u64, whole as u64).unwrap_or(f64::NAN)
}

#[cfg(test)]
pub(crate) mod tests;
