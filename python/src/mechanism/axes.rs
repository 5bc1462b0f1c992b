//! The traits of the axes, answered by Python. The shapes of answers are those of the classes in
//! `ackclock/mechanism.py`.

use ackclock_tcp::recovery::ambiguity::Ambiguity;
use ackclock_tcp::recovery::detect::{Detect, Lost};
use ackclock_tcp::recovery::fill::{Fill, Filler};
use ackclock_tcp::recovery::probe::{Probe, ProbeNow};
use ackclock_tcp::recovery::regulate::Regulate;
use ackclock_tcp::recovery::response::Response;
use ackclock_tcp::recovery::retransmission::{DetectRetransmission, Tick};
use ackclock_tcp::recovery::segmentation::{Segmentation, Sending};
use ackclock_tcp::recovery::select::{Next, Select, Urgent};
use ackclock_tcp::recovery::timer::Timer;
use ackclock_tcp::recovery::undo::{Undo, Verdict};
use ackclock_tcp::recovery::window::{Window, Windows};

use ackclock_tcp::{AckSummary, Cause, DUPTHRESH, Span, State, Time};
use pyo3::exceptions::PyValueError;

use super::{Object, raise};
use crate::state::{Ack, State as Seen, seconds, span, time};

fn seen(s: &State) -> Seen {
    Seen(s.clone())
}

fn both(s: &State, a: &AckSummary) -> (Seen, Ack) {
    (seen(s), Ack(*a))
}

fn no_such(axis: &str, what: &str) -> ! {
    raise(PyValueError::new_err(format!("{axis} has no answer `{what}`")))
}

/// `Lost`: what, a position, a time.
type LostAnswer = Option<(String, u64, f64)>;

fn lost(answer: LostAnswer) -> Lost {
    let Some((what, position, at)) = answer else { return Lost::Nothing };
    match what.as_str() {
        "head" => Lost::Head,
        "below" => Lost::Below(position),
        "sent_before" => Lost::SentBefore(time(Some(at)), position),
        other => no_such("Lost", other),
    }
}

impl Detect for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn dupthresh(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("dupthresh", || both(s, a)).unwrap_or(DUPTHRESH)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        lost(self.call("on_ack", || both(s, a)).flatten())
    }

    fn deadline(&self) -> Time {
        time(self.call("deadline", || ()).flatten())
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        lost(self.call("on_deadline", || (seen(s),)).flatten())
    }
}

impl Ambiguity for Object {
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool {
        self.call("admits", || both(s, a)).unwrap_or(true)
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) {
        self.notify("on_advance", || both(s, a))
    }
}

impl DetectRetransmission for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn on_enter(&mut self, s: &State) {
        self.notify("on_enter", || (seen(s),))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick {
        let answer: Option<Option<(String, u64)>> = self.call("on_ack", || both(s, a));
        let Some((what, position)) = answer.flatten() else { return Tick::Nothing };
        match what.as_str() {
            "lost" => Tick::Lost,
            "lost_before" => Tick::LostBefore(position),
            "mark" => Tick::Mark,
            "round_trip" => Tick::RoundTrip,
            other => no_such("Tick", other),
        }
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        self.notify("on_transmit", || (seen(s), cause.name()))
    }
}

/// `Windows`: ssthresh and cwnd.
fn windows(answer: Option<(u64, u64)>, s: &State) -> Windows {
    answer.map_or_else(|| Windows::unchanged(s), |(ssthresh, cwnd)| Windows { ssthresh, cwnd })
}

impl Response for Object {
    fn on_enter(&mut self) {
        self.notify("on_enter", || ())
    }

    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        windows(self.call("on_lost", || (seen(s),)).flatten(), s)
    }

    fn on_exit(&mut self, s: &State, cwnd: u64) -> u64 {
        self.call("on_exit", || (seen(s), cwnd)).unwrap_or(cwnd)
    }
}

impl Select for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn on_enter(&mut self, s: &State) {
        self.notify("on_enter", || (seen(s),))
    }

    fn ends(&self, s: &State, a: &AckSummary) -> bool {
        self.call("ends", || both(s, a)).unwrap_or(a.ack >= s.recover)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Urgent {
        let answer: Option<Option<(bool, bool)>> = self.call("on_ack", || both(s, a));
        let urgent = |(retransmit_head, restart_timer)| Urgent { retransmit_head, restart_timer };
        answer.flatten().map_or_else(Urgent::default, urgent)
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        let answer: Option<Option<(String, usize, bool)>> = self.call("next", || (seen(s),));
        let (what, index, counts) = answer.flatten()?;
        Some(match what.as_str() {
            "sequential" => Next::Sequential,
            "retransmit" => Next::Retransmit { index, counts },
            other => no_such("Next", other),
        })
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        self.notify("on_transmit", || (seen(s), cause.name()))
    }
}

impl Fill for Object {
    fn on_enter(&mut self, s: &State) {
        self.notify("on_enter", || (seen(s),))
    }

    fn next(&mut self, s: &State) -> Option<Filler> {
        let answer: Option<Option<(String, u64)>> = self.call("next", || (seen(s),));
        let (what, number) = answer.flatten()?;
        Some(match what.as_str() {
            "retransmit" => Filler::Retransmit { index: number as usize },
            "header_only" => Filler::HeaderOnly { position: number },
            other => no_such("Filler", other),
        })
    }
}

impl Regulate for Object {
    fn in_flight(&self, s: &State) -> u64 {
        self.call("in_flight", || (seen(s),)).unwrap_or_else(|| s.board.pipe())
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.call("on_enter", || both(s, a)).unwrap_or(s.ssthresh)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.call("on_ack", || both(s, a)).unwrap_or(s.cwnd)
    }

    fn on_lost(&mut self, s: &State, bytes: u64) -> u64 {
        self.call("on_lost", || (seen(s), bytes)).unwrap_or(s.cwnd)
    }

    fn on_timeout(&mut self, s: &State) -> u64 {
        self.call("on_timeout", || (seen(s),)).unwrap_or(s.mss)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.call("on_exit", || both(s, a)).unwrap_or(s.ssthresh)
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, len: u64) -> u64 {
        self.call("on_transmit", || (seen(s), cause.name(), len)).unwrap_or(s.cwnd)
    }
}

impl Probe for Object {
    fn allowance(&self, s: &State) -> u64 {
        self.call("allowance", || (seen(s),)).unwrap_or(0)
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("on_advance", || both(s, a)).unwrap_or(0)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("on_exit", || both(s, a)).unwrap_or(0)
    }

    fn deadline(&self, s: &State) -> Time {
        time(self.call("deadline", || (seen(s),)).flatten())
    }

    fn on_deadline(&mut self, s: &State) -> ProbeNow {
        match self.call("on_deadline", || (seen(s),)) {
            Some(true) => ProbeNow::NewOrLast,
            _ => ProbeNow::Nothing,
        }
    }
}

impl Undo for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn on_response(&mut self, s: &State, timeout: bool) {
        self.notify("on_response", || (seen(s), timeout))
    }

    fn on_retransmit(&mut self, s: &State, seq: u64, len: u32) {
        self.notify("on_retransmit", || (seen(s), seq, len))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        let answer: Option<Option<String>> = self.call("on_ack", || both(s, a));
        let Some(what) = answer.flatten() else { return Verdict::Open };
        match what.as_str() {
            "spurious" => Verdict::Spurious,
            "hold" => Verdict::Hold,
            "new_first" => Verdict::NewFirst,
            "send_new" => Verdict::SendNew,
            "needed" => Verdict::Needed,
            other => no_such("Verdict", other),
        }
    }
}

impl Window for Object {
    fn initial(&self, mss: u64) -> u64 {
        // RFC 6928 section 2, as the trait has it.
        self.call("initial", || (mss,)).unwrap_or_else(|| (10 * mss).min((2 * mss).max(14_600)))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.call("on_ack", || both(s, a)).unwrap_or(s.cwnd)
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        self.call("on_loss", || (seen(s), flight)).unwrap_or(s.ssthresh)
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.call("on_timeout", || (seen(s), flight, repeated)).unwrap_or(s.ssthresh)
    }

    fn on_undo(&mut self, s: &State) {
        self.notify("on_undo", || (seen(s),))
    }
}

impl Timer for Object {
    fn on_sample(&mut self, s: &State, sent: Time) -> bool {
        self.call("on_sample", || (seen(s), seconds(sent))).unwrap_or(false)
    }

    fn rto(&self) -> Span {
        self.call("rto", || ()).map_or(Span::from_secs(1), span)
    }

    fn srtt(&self) -> Span {
        self.call("srtt", || ()).map_or(Span::ZERO, span)
    }

    fn rttvar(&self) -> Span {
        self.call("rttvar", || ()).map_or(Span::ZERO, span)
    }

    fn min_rto(&self) -> Span {
        self.call("min_rto", || ()).map_or(Span::from_secs(1), span)
    }

    fn expiry(&self, s: &State, rto: Span) -> Time {
        let at: Option<f64> = self.call("expiry", || (seen(s), rto.secs_f64()));
        at.map_or(s.now + rto, |at| time(Some(at)))
    }
}

impl Segmentation for Object {
    fn on_write(&mut self, s: &State, from: u64) {
        self.notify("on_write", || (seen(s), from))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) {
        self.notify("on_ack", || both(s, a))
    }

    fn next(&mut self, s: &State, in_flight: u64) -> Option<u32> {
        self.call("next", || (seen(s), in_flight)).flatten()
    }

    fn held(&self) -> bool {
        self.call("held", || ()).unwrap_or(false)
    }

    fn on_sent(&mut self, s: &State, sending: Sending) -> bool {
        let Sending { seq, len, first, cause, in_flight } = sending;
        let sending = (seq, len, first, cause.name(), in_flight);
        self.call("on_sent", || (seen(s), sending)).unwrap_or(false)
    }
}
