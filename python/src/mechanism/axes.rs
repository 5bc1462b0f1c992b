//! The traits of the axes, answered by Python. What a class does not define is as the trait has it
//! for a mechanism that wraps no other. Questions whether a mechanism wants to be called are
//! answered by what its class defines.

use ackclock_tcp::recovery::ambiguity::Ambiguity;
use ackclock_tcp::recovery::detect::{Detect, Emulated, Lost, Notice, Notices};
use ackclock_tcp::recovery::fill::{Fill, Filler};
use ackclock_tcp::recovery::pacing::Pacing;
use ackclock_tcp::recovery::probe::{Probe, ProbeNow};
use ackclock_tcp::recovery::regulate::Regulate;
use ackclock_tcp::recovery::response::Response;
use ackclock_tcp::recovery::retransmission::{DetectRetransmission, Tick};
use ackclock_tcp::recovery::segmentation::{Outgoing, Segmentation};
use ackclock_tcp::recovery::select::{Next, OnAck, Select};
use ackclock_tcp::recovery::timer::{Estimates, Timed, Timer};
use ackclock_tcp::recovery::undo::{Undo, Verdict};
use ackclock_tcp::recovery::window::{Window, Windows};
use ackclock_tcp::{AckSummary, Cause, DUPTHRESH, Record, Span, State, Time};

use super::Object;
use super::answers::{
    BothWindows, emulated, filler, lost, next, notices, on_ack, probe_now, tick, timed, verdict,
    windows, windows_or_same,
};
use super::law::with_law;
use crate::state::{self, Ack, Past, Seconds, Segment, State as Seen, seconds, time};

fn seen(s: &State) -> Seen {
    Seen(s.clone())
}

fn both(s: &State, a: &AckSummary) -> (Seen, Ack) {
    (seen(s), Ack(*a))
}

impl Detect for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn watches_deliveries(&self) -> bool {
        self.defines(&["on_delivered", "observe"])
    }

    fn on_delivered(&mut self, r: &Record, now: Time) {
        self.notify("on_delivered", || (Segment(*r), seconds(now)))
    }

    fn dupthresh(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("dupthresh", || both(s, a)).unwrap_or(DUPTHRESH)
    }

    fn on_handshake(&mut self, rtt: Span) {
        self.notify("on_handshake", || (rtt.secs_f64(),))
    }

    fn emulate(&mut self, s: &State, a: &AckSummary) -> Option<Emulated> {
        self.call("emulate", || both(s, a)).flatten().map(emulated)
    }

    fn observe(&mut self, s: &State, a: &AckSummary) {
        self.notify("observe", || both(s, a))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        lost(self.call("on_ack", || both(s, a)).flatten())
    }

    fn counts_advances(&self) -> bool {
        self.call("counts_advances", || ()).unwrap_or(false)
    }

    fn deadline(&self) -> Time {
        time(self.call("deadline", || ()).flatten())
    }

    fn armed(&self) -> bool {
        self.call("armed", || ()).unwrap_or_else(|| Detect::deadline(self) != Time::NEVER)
    }

    fn on_spurious(&mut self, s: &State, a: &AckSummary, undone: bool, losses_stand: bool) {
        self.notify("on_spurious", || (seen(s), Ack(*a), undone, losses_stand))
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        self.after("deadline", s.now, s.now);
        lost(self.call("on_deadline", || (seen(s),)).flatten())
    }

    fn notices(&self) -> Notices {
        notices(self.call("notices", || ()))
    }

    fn on_notice(&mut self, s: &State, notice: Notice) -> Lost {
        lost(self.call("on_notice", || (seen(s), state::Notice(notice))).flatten())
    }

    fn keeps_sacks(&self, s: &State) -> bool {
        self.call("keeps_sacks", || (seen(s),)).unwrap_or(false)
    }

    fn counts_repeat(&self, s: &State, a: &AckSummary) -> bool {
        self.call("counts_repeat", || both(s, a)).unwrap_or(false)
    }

    fn recounts(&self) -> bool {
        self.call("recounts", || ()).unwrap_or(true)
    }

    fn on_timeout(&mut self, s: &State) -> Time {
        let since: Option<Past> = self.call("on_timeout", || (seen(s),)).flatten();
        since.map_or(Time::NEVER, |Past(time)| time)
    }
}

impl Ambiguity for Object {
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool {
        self.call("admits", || both(s, a)).unwrap_or(true)
    }

    fn admits_after_timeout(&self) -> bool {
        self.call("admits_after_timeout", || ()).unwrap_or(false)
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
        tick(self.call("on_ack", || both(s, a)).flatten())
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        self.notify("on_transmit", || (seen(s), cause.name()))
    }
}

impl Response for Object {
    fn on_enter(&mut self) {
        self.notify("on_enter", || ())
    }

    fn on_lost(&mut self, s: &State, law: &mut dyn Window) -> Windows {
        let answer = with_law(law, |law| self.call("on_lost", || (seen(s), law)));
        windows_or_same(answer.flatten(), s)
    }

    fn on_exit(&mut self, s: &State, cwnd: u64) -> u64 {
        self.call("on_exit", || (seen(s), cwnd)).unwrap_or(cwnd)
    }
}

impl Select for Object {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn goes_back(&self) -> bool {
        self.call("goes_back", || ()).unwrap_or(false)
    }

    fn uses_sacks_after_timeout(&self) -> bool {
        self.call("uses_sacks_after_timeout", || ()).unwrap_or(true)
    }

    fn everywhere(&self) -> bool {
        self.call("everywhere", || ()).unwrap_or(false)
    }

    fn refits(&self) -> bool {
        self.call("refits", || ()).unwrap_or(false)
    }

    fn ends_loss(&self, s: &State) -> bool {
        self.call("ends_loss", || (seen(s),)).unwrap_or(s.snd_una >= s.recover)
    }

    fn on_enter(&mut self, s: &State) {
        self.notify("on_enter", || (seen(s),))
    }

    fn ends(&self, s: &State, a: &AckSummary) -> bool {
        self.call("ends", || both(s, a)).unwrap_or(a.ack >= s.recover)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> OnAck {
        self.call("on_ack", || both(s, a)).flatten().map_or_else(OnAck::default, on_ack)
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        self.call("next", || (seen(s),)).flatten().map(next)
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
        self.call("next", || (seen(s),)).flatten().map(filler)
    }
}

impl Regulate for Object {
    fn in_flight(&self, s: &State) -> u64 {
        self.call("in_flight", || (seen(s),)).unwrap_or_else(|| s.board.pipe())
    }

    fn everywhere(&self) -> bool {
        self.call("everywhere", || ()).unwrap_or(false)
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

    fn limits(&self) -> bool {
        self.defines(&["most"])
    }

    fn most(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("most", || both(s, a)).unwrap_or(u32::MAX)
    }

    fn deflated(&self, s: &State) -> Option<u64> {
        self.call("deflated", || (seen(s),)).flatten()
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        self.call("on_round_trip", || (seen(s),)).unwrap_or(s.cwnd)
    }
}

impl Probe for Object {
    fn allowance(&self, s: &State) -> u64 {
        self.call("allowance", || (seen(s),)).unwrap_or(0)
    }

    fn allows_old_data(&self) -> bool {
        self.call("allows_old_data", || ()).unwrap_or(false)
    }

    fn one(&self, s: &State, a: &AckSummary) -> Option<u64> {
        self.call("one", || both(s, a)).flatten()
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("on_advance", || both(s, a)).unwrap_or(0)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u32 {
        self.call("on_exit", || both(s, a)).unwrap_or(0)
    }

    fn reported(&self, s: &State, a: &AckSummary) -> bool {
        self.call("reported", || both(s, a)).unwrap_or(false)
    }

    fn on_ack_first(&mut self, s: &State, a: &AckSummary, law: &mut dyn Window) -> Option<Windows> {
        let ask = |law| self.call("on_ack_first", || (seen(s), Ack(*a), law));
        with_law(law, ask).flatten().map(windows)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary, law: &mut dyn Window) -> Option<Windows> {
        let ask = |law| self.call("on_ack", || (seen(s), Ack(*a), law));
        with_law(law, ask).flatten().map(windows)
    }

    fn deadline(&self, s: &State) -> Time {
        time(self.call("deadline", || (seen(s),)).flatten())
    }

    fn on_deadline(&mut self, s: &State) -> ProbeNow {
        self.after("deadline", s.now, s.now);
        probe_now(self.call("on_deadline", || (seen(s),)).flatten())
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
        verdict(self.call("on_ack", || both(s, a)).flatten())
    }

    fn respond(&mut self, s: &State, a: &AckSummary) -> Option<Windows> {
        self.call("respond", || both(s, a)).flatten().map(windows)
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

    fn after_detection(&self) -> bool {
        self.call("after_detection", || ()).unwrap_or(false)
    }

    fn on_measured(&mut self, s: &State, a: &AckSummary) -> Option<u64> {
        self.call("on_measured", || both(s, a)).flatten()
    }

    fn measures(&self) -> bool {
        self.defines(&["on_measured", "on_sent", "on_start"])
    }

    fn on_sent(&mut self, s: &State, in_flight: u64, rto: Span) -> Option<Windows> {
        self.call("on_sent", || (seen(s), in_flight, rto.secs_f64())).flatten().map(windows)
    }

    fn on_start(&mut self, s: &State, idle: Span) {
        self.notify("on_start", || (seen(s), idle.secs_f64()))
    }

    fn on_idle(&mut self, s: &State, idle: Span, rto: Span) -> Windows {
        let args = || (seen(s), idle.secs_f64(), rto.secs_f64());
        let answer: Option<BothWindows> = self.call("on_idle", args);
        // RFC 5681 section 4.1, as the trait has it.
        windows(answer.unwrap_or((s.ssthresh, s.cwnd.min(s.initial_window))))
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        self.call("on_loss", || (seen(s), flight)).unwrap_or(s.ssthresh)
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.call("on_timeout", || (seen(s), flight, repeated)).unwrap_or(s.ssthresh)
    }

    fn on_go_back(&mut self, s: &State) {
        self.notify("on_go_back", || (seen(s),))
    }

    fn ends_slow_start(&self, s: &State) -> bool {
        self.call("ends_slow_start", || (seen(s),)).unwrap_or(false)
    }

    fn pacing_rate(&self, s: &State) -> Option<u64> {
        self.call("pacing_rate", || (seen(s),)).flatten()
    }

    fn on_undo(&mut self, s: &State) {
        self.notify("on_undo", || (seen(s),))
    }
}

impl Timer for Object {
    fn on_sample(&mut self, s: &State, sent: Time) -> Option<Estimates> {
        let used = self.call("on_sample", || (seen(s), seconds(sent))).unwrap_or(false);
        used.then(|| self.estimates())
    }

    fn set_min_rto(&mut self, min: Span) {
        self.notify("set_min_rto", || (min.secs_f64(),))
    }

    fn samples_sacks(&self) -> bool {
        self.call("samples_sacks", || ()).unwrap_or(false)
    }

    fn times(&self) -> bool {
        self.defines(&["on_new", "on_advance"])
    }

    fn on_new(&mut self, s: &State, end: u64) {
        self.notify("on_new", || (seen(s), end))
    }

    fn on_response(&mut self, timeout: bool) {
        self.notify("on_response", || (timeout,))
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) -> Timed {
        timed(self.call("on_advance", || both(s, a)).flatten())
    }

    fn serves_all(&self) -> bool {
        self.call("serves_all", || ()).unwrap_or(false)
    }

    fn rto(&self) -> Span {
        self.call("rto", || ()).map_or(Span::from_secs(1), Seconds::span)
    }

    fn srtt(&self) -> Span {
        self.call("srtt", || ()).map_or(Span::ZERO, Seconds::span)
    }

    fn rttvar(&self) -> Span {
        self.call("rttvar", || ()).map_or(Span::ZERO, Seconds::span)
    }

    fn retime(&mut self, srtt: Span, rttvar: Span) {
        self.notify("retime", || (srtt.secs_f64(), rttvar.secs_f64()))
    }

    fn min_rto(&self) -> Span {
        self.call("min_rto", || ()).map_or(Span::from_secs(1), Seconds::span)
    }

    fn max_rto(&self) -> Span {
        self.call("max_rto", || ()).map_or(Span::from_secs(60), Seconds::span)
    }

    fn restarts_on(&self, cause: Cause, replaces_lost: bool) -> bool {
        self.call("restarts_on", || (cause.name(), replaces_lost)).unwrap_or(false)
    }

    fn expiry(&self, s: &State, rto: Span) -> Time {
        let at = self.call("expiry", || (seen(s), rto.secs_f64()));
        self.after("expiry", s.now, at.map_or(s.now + rto, Seconds::time))
    }
}

impl Pacing for Object {
    fn update(&mut self, s: &State, law: Option<u64>) {
        self.notify("update", || (seen(s), law))
    }

    fn next(&self, s: &State) -> Time {
        self.call("next", || (seen(s),)).map_or(s.now, Seconds::time)
    }

    fn on_sent(&mut self, s: &State, len: u32) {
        self.notify("on_sent", || (seen(s), len))
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

    fn on_sent(&mut self, s: &State, segment: Outgoing) -> bool {
        self.call("on_sent", || (seen(s), state::Outgoing(segment))).unwrap_or(false)
    }
}
