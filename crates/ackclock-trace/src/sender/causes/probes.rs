//! Tail loss probes (RFC 8985 section 7): the one in flight, and those that may have been timeouts.
//!
//! A single segment that goes out again after silence may be either. If the timer expires again
//! after the same time, it was a probe; after twice the time, it was a timeout, since a timer that
//! has expired doubles. What goes out once it is acknowledged may tell ([`Aftermath`]). If nothing
//! does, it was what this sender is seen to do elsewhere. If nothing is seen elsewhere, other
//! connections of the same host may tell ([`crate::hosts`]).

use ackclock_tcp::{Span, Time};

use super::aftermath::{Aftermath, Answer, NewData, Told};
use crate::connection::Timeout;
use crate::sender::input::Sent;
use crate::sender::stream::Stream;
use crate::sender::stream::timers::{TICKS, Timers, nearly};
use crate::ways::Evidence;

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// It is answered when this position is acknowledged.
    end: u64,
    at: Time,
}

/// A probe that may have been a timeout.
#[derive(Debug)]
pub(crate) struct Ambiguous {
    /// What is to be said if it was one.
    pub timeout: Timeout,
    /// How long the sender was idle before it.
    pub waited: Span,
    pub rto: Span,
    /// A probe's timer had been set, if this sender has one.
    pub armed: bool,
    /// Whether it was a timeout, as far as what followed tells.
    pub told: Option<bool>,
}

#[derive(Debug, Default)]
pub(crate) struct Probes {
    in_flight: Option<Probe>,
    /// End of the last probe that sent data again. Until an ACK goes beyond it or reports that it
    /// was spurious, there is no other one (RFC 8985 section 7.3, Linux's `tlp_high_seq`).
    open: Option<u64>,
    ambiguous: Vec<Ambiguous>,
    /// What follows the last ambiguous one, as long as it may tell.
    aftermath: Option<Box<Aftermath>>,
    /// Probes that can have been nothing else, and chances to send one that were not used.
    habit: Evidence,
    of_new_data: u32,
}

/// What a segment of new data meets that goes out after silence.
pub(crate) struct Silence {
    /// Time without progress and new data, and without ACKs.
    idle: Span,
    since_ack: Span,
    /// A single segment is outstanding.
    single: bool,
    /// The window was full, so that something held the segment back.
    held_back: bool,
}

impl Silence {
    /// The one that `sent` ends.
    pub fn before(sent: &Sent, stream: &Stream) -> Silence {
        let (windows, mss) = (&stream.windows, u64::from(stream.terms.mss));
        Silence {
            idle: stream.moments.idle(sent.at),
            since_ack: stream.moments.since_ack(sent.at),
            single: stream.outstanding.len() == 1,
            held_back: windows.pipe() + mss > windows.cwnd(),
        }
    }

    /// What ends it is a probe if the sender has waited for about as long as a probe does, and
    /// nothing else let it send.
    pub fn ends_with_probe(&self, timers: &Timers) -> bool {
        let pto = timers.pto(self.single);
        let in_time = self.idle >= nearly(pto) && self.idle.0 <= pto.0 / 10 * 11 + TICKS.0;
        in_time && self.held_back && self.since_ack >= nearly(pto)
    }
}

impl Probes {
    /// No probe waits for its answer.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_none()
    }

    /// A probe may go out: the last one is over. Up to `una` all is acknowledged.
    pub fn may_follow(&self, una: u64) -> bool {
        self.in_flight.is_none() && self.open.is_none_or(|end| una > end)
    }

    /// An ACK has gone beyond the last probe, up to `una`, and nothing said that it was spurious:
    /// that has lowered cwnd (RFC 8985 section 7.4.2, `tcp_process_tlp_ack`).
    pub fn has_lowered(&self, una: u64) -> bool {
        self.open.is_some_and(|end| una > end)
    }

    /// When the probe in flight was sent.
    pub fn sent_at(&self) -> Option<Time> {
        self.in_flight.map(|probe| probe.at)
    }

    /// Probes that carried new data.
    pub fn of_new_data(&self) -> u32 {
        self.of_new_data
    }

    /// A probe goes out that ends at position `end`; `doubt` if it may also be a timeout, with what
    /// follows.
    pub fn sent(&mut self, at: Time, end: u64, doubt: Option<(Ambiguous, Aftermath)>) {
        self.in_flight = Some(Probe { end, at });
        self.open = Some(end);
        match doubt {
            Some((ambiguous, aftermath)) => {
                self.ambiguous.push(ambiguous);
                self.aftermath = Some(Box::new(aftermath));
            }
            None => self.habit.used += 1,
        }
    }

    /// What goes out and comes back may tell whether the last one was a timeout.
    #[inline]
    pub fn watches(&self) -> bool {
        self.aftermath.is_some()
    }

    /// New data goes out.
    #[cold]
    pub fn watch_new_data(&mut self, new: &NewData) {
        let told = self.aftermath.as_mut().and_then(|after| after.new_data(new));
        if let (Some(told), Some(last)) = (told, self.ambiguous.last_mut()) {
            last.told = match told {
                Told::Timeout => Some(true),
                Told::Probe => Some(false),
                Told::Nothing => None,
            };
            self.aftermath = None;
        }
    }

    /// Data that can be marked goes out, from here on, with CWR or without. CWR is on the first new
    /// data after a timeout, which lowers cwnd (RFC 3168 section 6.1.2, `tcp_enter_loss`), and
    /// after a probe only once an ACK goes beyond that. `lowered`: up to where data had gone out
    /// when something else last lowered cwnd, which CWR on the first new data behind that says.
    #[cold]
    pub fn watch_cwr(&mut self, position: u64, cwr: bool, lowered: u64) {
        let last = self.ambiguous.last_mut().filter(|_| self.open == Some(position));
        if let Some(last) = last.filter(|last| !cwr || lowered <= last.timeout.position) {
            last.told = Some(cwr);
            self.aftermath = None;
        }
    }

    /// An ACK comes. `undone`: it may have let the sender restore cwnd, so that what goes out from
    /// now on tells nothing.
    #[cold]
    pub fn watch_answer(&mut self, answer: &Answer, undone: bool) {
        self.aftermath.take_if(|after| undone || !after.acked(answer));
    }

    /// New data goes out as a probe does; if one is in flight, it is none.
    pub fn sent_new_data(&mut self, sent: &Sent) {
        if self.is_idle() {
            self.of_new_data = self.of_new_data.saturating_add(1);
            self.in_flight = Some(Probe { end: sent.end(), at: sent.at });
        }
    }

    /// A probe is answered when all is acknowledged that was outstanding with it. `dsack`:
    /// something has arrived twice.
    pub fn acked(&mut self, ack: u64, dsack: bool) {
        self.in_flight.take_if(|probe| ack >= probe.end);
        self.open.take_if(|end| dsack && ack >= *end);
    }

    /// A duplicate ACK says that the probe was spurious: one with a D-SACK, or one without SACK
    /// blocks, without data and with the window of before (RFC 8985 section 7.4.2,
    /// `tcp_process_tlp_ack`).
    pub fn repeated(&mut self, ack: u64) {
        self.open.take_if(|end| ack >= *end);
    }

    /// A recovery or a timeout takes over from the probe.
    pub fn forget(&mut self) {
        (self.in_flight, self.open) = (None, None);
    }

    /// A chance was not used: the timer expired, or an ACK came, where a probe would have come
    /// first.
    pub fn was_missing(&mut self, stream: &Stream) {
        self.habit.unused += u32::from(!stream.waits_for_probe());
    }

    /// The retransmission that may have been a timeout, as an index, if one is still in doubt.
    pub fn in_doubt(&self) -> Option<usize> {
        self.ambiguous.last().map(|a| a.timeout.retransmission)
    }

    /// At `at` the timer sends a segment again that was sent at `before` by what may have been a
    /// probe. Returns that, and whether it was a timeout. `first_expiry`: no timeout was seen since
    /// the last progress.
    pub fn resolve(
        &mut self,
        at: Time,
        before: Time,
        first_expiry: bool,
    ) -> Option<(Ambiguous, bool)> {
        let last = self.ambiguous.pop()?;
        self.aftermath = None;
        let waited = at.since(before);
        let doubled = waited.0.abs_diff(last.waited.0 * 2) < waited.0.abs_diff(last.rto.0);
        let was_timeout = first_expiry && doubled;
        self.count(was_timeout, last.armed);
        Some((last, was_timeout))
    }

    fn count(&mut self, was_timeout: bool, armed: bool) {
        if was_timeout {
            self.habit.unused += u32::from(armed);
        } else {
            self.habit.used += 1;
        }
    }

    /// Whether this sender sends probes.
    pub fn habit(&self) -> Evidence {
        self.habit
    }

    /// At the end: those that were in doubt, the last one first, and whether each was a timeout.
    pub fn settle(&mut self) -> Vec<(Option<bool>, Ambiguous)> {
        let all = std::mem::take(&mut self.ambiguous);
        for one in &all {
            one.told.into_iter().for_each(|was_timeout| self.count(was_timeout, one.armed));
        }
        let without = self.habit.leaning().map(|sends| !sends);
        let told = |one: &Ambiguous| one.told.or(without);
        all.into_iter().rev().map(|one| (told(&one), one)).collect()
    }
}
