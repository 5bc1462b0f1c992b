//! Mechanisms as a user writes them, outside the crate and with its public interface only: one for
//! each plug point.

use std::fmt::Write;

use ackclock_tcp::recovery::detect::{Detect, Lost};
use ackclock_tcp::recovery::probe::{Probe, ProbeNow};
use ackclock_tcp::recovery::regulate::Regulate;
use ackclock_tcp::recovery::response::Response;
use ackclock_tcp::recovery::retransmission::{DetectRetransmission, Tick};
use ackclock_tcp::recovery::segmentation::{Outgoing, Segmentation};
use ackclock_tcp::recovery::select::{Next, OnAck, Select};
use ackclock_tcp::recovery::timer::{Estimates, Timer};
use ackclock_tcp::recovery::undo::{Undo, Verdict};
use ackclock_tcp::recovery::window::{Window, Windows};
use ackclock_tcp::{
    AckSummary, Cause, Event, EventKind, Phase, Record, Registry, SackBlock, SackBlocks, Segment,
    Sender, SenderConfig, Seq, Span, State, Strategy, Time,
};

const MS: u64 = 1_000_000;

struct Script {
    sender: Sender,
    now: Time,
    isn: u32,
}

/// Runs `script` with ten segments of 1000 bytes out, with and without a wrap of the sequence
/// numbers among them.
fn run(
    composition: &str,
    change: impl Fn(&mut Strategy),
    bytes: u64,
    script: impl Fn(&mut Script),
) {
    for isn in [0, 3500u32.wrapping_neg()] {
        let mut strategy = Registry::default().parse(composition).unwrap().build();
        change(&mut strategy);
        let config = SenderConfig {
            isn: Seq(isn),
            mss: 1000,
            initial_window: Some(10),
            initial_rwnd: 64_000,
            wscale: 0,
            events: true,
            ..SenderConfig::default()
        };
        let mut x = Script { sender: Sender::new(config, strategy), now: Time::ZERO, isn };
        x.sender.write(x.now, bytes);
        let first: Vec<String> = (0..bytes.div_ceil(1000).min(10)).map(|n| n.to_string()).collect();
        assert_eq!(x.sent(), first.join(" "));
        script(&mut x);
    }
}

impl Script {
    fn sent(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..100 {
            let Some(t) = self.sender.poll_transmit(self.now) else { return out };
            let letter = match t.cause {
                Cause::New => "",
                Cause::FastRetransmit => "F",
                Cause::Recovery if t.transmission > 2 => "L",
                Cause::Recovery => "P",
                Cause::SlowStart => "S",
                Cause::Timeout | Cause::BackedOffTimeout => "T",
                Cause::LimitedTransmit
                | Cause::FRto
                | Cause::TailLossProbe
                | Cause::Marker
                | Cause::WindowProbe => "+",
                Cause::Filler => "D",
                _ => "?",
            };
            let space = if out.is_empty() { "" } else { " " };
            write!(out, "{space}{}{letter}", t.position / 1000).unwrap();
        }
        panic!("it never stops sending: {out}");
    }

    /// At `ms`, an ACK up to segment `n` with these SACK blocks; what it makes the sender send.
    fn ack(&mut self, ms: u64, n: u32, blocks: &[(u32, u32)]) -> String {
        self.now = Time(ms * MS);
        let seq = |n: u32| Seq(self.isn.wrapping_add(n * 1000));
        let mut sack = SackBlocks::NONE;
        for &(l, r) in blocks {
            sack.push(SackBlock { left: seq(l), right: seq(r) });
        }
        let segment = Segment { ack: seq(n), wnd: 64_000, sack, ..Segment::default() };
        self.sender.on_segment(self.now, &segment);
        self.sent()
    }

    /// The next deadline, which is at `ms`; what it makes the sender send.
    fn fire(&mut self, ms: u64) -> String {
        assert_eq!(self.sender.next_deadline(), Time(ms * MS));
        self.now = Time(ms * MS);
        self.sender.on_deadline(self.now);
        self.sent()
    }

    fn windows(&self) -> (u64, u64) {
        (self.sender.state().cwnd, self.sender.state().ssthresh)
    }

    fn events(&mut self) -> Vec<EventKind> {
        std::iter::from_fn(|| self.sender.poll_event()).map(|e: Event| e.kind).collect()
    }
}

/// (a) Loss by time, as RACK (RFC 8985 section 6.2): lost is what was sent before the most recently
/// sent segment that arrived, and is still missing a quarter of a round trip after it should have.
#[derive(Default)]
struct ByTime {
    newest: Time,
    end: u64,
    rtt: Span,
    deadline: Option<Time>,
}

impl ByTime {
    fn judge(&mut self, s: &State) -> Lost {
        let grace = Span(self.rtt.nanos() / 4);
        let due = |r: &Record| r.last_sent + self.rtt + grace;
        let earlier = |r: &&Record| !r.sacked && (r.last_sent, r.end()) < (self.newest, self.end);
        let live = |r: &&Record| !r.lost || r.retransmitted;
        let missing = || s.board.iter().filter(earlier).filter(live).map(due);
        self.deadline = missing().filter(|&due| due > s.now).min();
        match missing().filter(|&due| due <= s.now).max() {
            Some(_) => {
                Lost::SentBefore(Time(s.now.nanos() - self.rtt.nanos() - grace.nanos()), u64::MAX)
            }
            None => Lost::Nothing,
        }
    }
}

impl Detect for ByTime {
    fn name(&self) -> &'static str {
        "by-time"
    }

    fn watches_deliveries(&self) -> bool {
        true
    }

    fn on_delivered(&mut self, r: &Record, now: Time) {
        if (r.last_sent, r.end()) > (self.newest, self.end) {
            (self.newest, self.end, self.rtt) = (r.last_sent, r.end(), now.since(r.last_sent));
        }
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> Lost {
        self.judge(s)
    }

    fn deadline(&self) -> Time {
        self.deadline.unwrap_or(Time::NEVER)
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        self.judge(s)
    }
}

/// What is lost and not on its way, retransmissions included; then new data.
struct AnyLost;

impl Select for AnyLost {
    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> OnAck {
        OnAck { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        match s.board.iter().position(|r| r.lost && !r.retransmitted) {
            Some(index) => Some(Next::Retransmit { index, counts: true }),
            None => s.can_send_sequential().then_some(Next::Sequential),
        }
    }
}

#[test]
fn detection_by_time() {
    let by_time = |s: &mut Strategy| {
        s.detect = Box::new(ByTime::default());
        s.select = Box::new(AnyLost);
    };
    run("sack", by_time, 20_000, |x| {
        // 0 is missing; 100 ms of round trip and 25 ms of grace.
        assert_eq!(x.ack(100, 0, &[(1, 2)]), "");
        assert_eq!(x.ack(100, 0, &[(1, 10)]), "");
        assert_eq!(x.fire(125), "0F 10 11 12 13");
        assert_eq!(x.windows(), (5_000, 5_000));
        let lost =
            |e: &EventKind| matches!(e, EventKind::Lost { seq: 0, len: 1000, by: "by-time", .. });
        assert_eq!(x.events().iter().filter(|e| lost(e)).count(), 1);
        // 10 to 13, sent with 0's retransmission and after it, arrive; the retransmission does not.
        assert_eq!(x.ack(225, 0, &[(10, 14), (1, 10)]), "14 15 16 17");
        // RFC 5681 section 4.3: lowered twice. In the pipe are 14 to 17.
        assert_eq!(x.fire(250), "");
        assert_eq!(x.windows(), (2_500, 2_500));
        assert_eq!(x.ack(325, 0, &[(10, 16), (1, 10)]), "");
        assert_eq!(x.ack(326, 0, &[(10, 17), (1, 10)]), "0L");
    });
    // Reordering within the grace is no loss.
    run("sack", by_time, 20_000, |x| {
        assert_eq!(x.ack(100, 0, &[(1, 4)]), "");
        assert_eq!(x.ack(120, 4, &[]), "10 11 12 13 14");
        assert_eq!((x.sender.state().phase, x.sender.stats().recoveries), (Phase::Open, 0));
        assert_eq!(x.sender.next_deadline(), Time(1120 * MS));
    });
}

/// (b) A retransmission is lost once a window of further duplicates has arrived since it was sent
/// (the ACK clock of Lin & Kung section 6.2, coarsely).
#[derive(Default)]
struct ByCount {
    flight: u64,
    duplicates: u64,
}

impl DetectRetransmission for ByCount {
    fn name(&self) -> &'static str {
        "by-count"
    }

    fn on_enter(&mut self, s: &State) {
        (self.flight, self.duplicates) = (s.flight() / s.mss, u64::from(s.dupacks));
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Tick {
        self.duplicates =
            if a.newly_acked > 0 { 0 } else { self.duplicates + u64::from(a.duplicate) };
        if self.duplicates == self.flight + 2 { Tick::Lost } else { Tick::Nothing }
    }

    fn on_transmit(&mut self, _s: &State, cause: Cause) {
        if cause == Cause::Recovery {
            self.duplicates = 0;
        }
    }
}

#[test]
fn detection_of_a_lost_retransmission() {
    let by_count = |s: &mut Strategy| s.retransmission = Some(Box::new(ByCount::default()));
    run("newreno", by_count, 40_000, |x| {
        let sent: Vec<String> = (0..12).map(|n| x.ack(100 + n, 0, &[])).collect();
        assert_eq!(sent, ["", "", "0F", "", "", "10", "11", "12", "13", "14", "15", "0L"]);
        // RFC 5681 section 4.3: lower twice.
        assert_eq!(x.windows(), (8_000 + 8_000 - 2_500, 2_500));
        let by: Vec<&str> = x
            .events()
            .iter()
            .filter_map(|e| if let EventKind::Lost { by, .. } = e { Some(*by) } else { None })
            .collect();
        assert_eq!(by, ["dupack", "by-count"]);
        assert_eq!(x.ack(300, 16, &[]), "16 17");
        assert_eq!(x.windows(), (2_000, 2_500));
    });
}

/// (c) Undo when a D-SACK reports every segment that was retransmitted (RFC 3708 section 3).
#[derive(Default)]
struct ByDsack {
    sent_again: u64,
}

impl Undo for ByDsack {
    fn name(&self) -> &'static str {
        "by-dsack"
    }

    fn on_response(&mut self, _s: &State, _timeout: bool) {
        self.sent_again = 0;
    }

    fn on_retransmit(&mut self, _s: &State, _seq: u64, len: u32) {
        self.sent_again += u64::from(len);
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Verdict {
        let Some((left, right)) = a.dsack else { return Verdict::Open };
        self.sent_again = self.sent_again.saturating_sub(right - left);
        if self.sent_again == 0 { Verdict::Spurious } else { Verdict::Open }
    }
}

#[test]
fn undo_on_a_dsack() {
    let by_dsack = |s: &mut Strategy| s.undo.push(Box::new(ByDsack::default()));
    // 0 was late. The D-SACK comes a round trip after the recovery has ended.
    run("sack", by_dsack, 40_000, |x| {
        assert_eq!(x.ack(100, 0, &[(1, 4)]), "0F");
        assert_eq!(x.ack(101, 10, &[]), "10 11 12 13 14");
        assert_eq!((x.windows(), x.sender.state().phase), ((5_000, 5_000), Phase::Open));
        assert_eq!(x.ack(200, 10, &[(0, 1)]), "15 16 17 18 19");
        assert_eq!(x.windows(), (10_000, u64::MAX));
        assert_eq!(
            x.events().iter().filter(|e| **e == EventKind::Undone { by: "by-dsack" }).count(),
            1
        );
        // It is undone once.
        assert_eq!(x.ack(201, 10, &[(0, 1)]), "");
        assert_eq!(x.windows(), (10_000, u64::MAX));
    });
    // Within recovery: what inflated cwnd is not kept.
    run("newreno", by_dsack, 40_000, |x| {
        let sent: Vec<String> = (0..9).map(|n| x.ack(100 + n, 0, &[])).collect();
        assert_eq!(sent, ["", "", "0F", "", "", "10", "11", "12", "13"]);
        assert_eq!(x.windows(), (14_000, 5_000));
        assert_eq!(x.ack(200, 9, &[(0, 1)]), "14 15 16 17 18 19");
        assert_eq!(x.windows(), (11_000, u64::MAX));
        assert_eq!(x.sender.state().phase, Phase::Open);
    });
    // Two segments retransmitted, one D-SACK: not all of it was spurious.
    run("sack", by_dsack, 40_000, |x| {
        assert_eq!(x.ack(100, 0, &[(2, 7)]), "0F 1P");
        assert_eq!(x.ack(101, 10, &[]), "10 11 12 13 14");
        assert_eq!(x.ack(200, 10, &[(0, 1)]), "");
        assert_eq!(x.ack(201, 10, &[(1, 2)]), "15 16 17 18 19");
    });
}

/// (c') F-RTO (RFC 5682 section 2.1), the simplest of its cases.
#[derive(Default)]
struct Forward {
    step: u8,
}

impl Undo for Forward {
    fn on_response(&mut self, _s: &State, timeout: bool) {
        self.step = u8::from(timeout);
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        let step = std::mem::take(&mut self.step);
        if step == 0 || (a.newly_acked == 0 && !a.duplicate) {
            self.step = step;
            return Verdict::Open;
        }
        let new_data = s.written > s.snd_max && s.window_edge >= s.snd_max + s.mss;
        match (step, a.newly_acked > 0) {
            (1, true) if a.ack < s.recover && new_data => {
                self.step = 2;
                Verdict::SendNew
            }
            (2, true) => Verdict::Spurious,
            (2, false) => Verdict::Needed,
            _ => Verdict::Open,
        }
    }
}

#[test]
fn undo_of_a_timeout() {
    let forward = |s: &mut Strategy| s.undo.push(Box::new(Forward::default()));
    // A delay spike: the first transmissions arrive after all.
    run("newreno", forward, 40_000, |x| {
        assert_eq!(x.fire(1000), "0T");
        assert_eq!(x.ack(1100, 1, &[]), "10+ 11+");
        assert_eq!((x.windows(), x.sender.state().phase), ((2_000, 5_000), Phase::Loss));
        assert_eq!(x.ack(1110, 2, &[]), "12");
        assert_eq!((x.windows(), x.sender.state().phase), ((11_000, u64::MAX), Phase::Open));
    });
    // Real losses: step 3a goes on with the retransmissions.
    run("newreno", forward, 40_000, |x| {
        assert_eq!(x.fire(1000), "0T");
        assert_eq!(x.ack(1100, 1, &[]), "10+ 11+");
        assert_eq!(x.ack(1110, 1, &[]), "1S 2S");
        assert_eq!((x.windows(), x.sender.state().phase), ((2_000, 5_000), Phase::Loss));
        assert_eq!(x.ack(1200, 2, &[]), "3S 4S");
    });
}

/// A verdict about the slow start after a timeout, once that is over.
struct Belated(Verdict);

impl Undo for Belated {
    fn on_response(&mut self, _s: &State, _timeout: bool) {}

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> Verdict {
        if s.phase == Phase::Open { self.0 } else { Verdict::Open }
    }
}

/// It sends nothing again as new data, and nothing beyond cwnd.
#[test]
fn a_verdict_that_comes_too_late() {
    for verdict in [Verdict::Needed, Verdict::SendNew] {
        run(
            "newreno",
            |s| s.undo.push(Box::new(Belated(verdict))),
            40_000,
            |x| {
                assert_eq!(x.fire(1000), "0T");
                assert_eq!(x.ack(1100, 10, &[]), "10 11");
                assert_eq!((x.windows(), x.sender.state().phase), ((2_000, 5_000), Phase::Open));
                assert_eq!(x.ack(1200, 11, &[]), "12 13");
                assert_eq!(x.ack(1300, 12, &[]), "14 15");
                assert_eq!(x.windows(), (4_000, 5_000));
            },
        );
    }
}

/// (d) A tail probe (RFC 8985 section 7), two round trips after the last transmission, once until
/// something arrives.
#[derive(Default)]
struct TailProbe {
    rtt: Option<Span>,
    probed: bool,
}

impl Probe for TailProbe {
    fn allowance(&self, _s: &State) -> u64 {
        0
    }

    fn on_advance(&mut self, _s: &State, a: &AckSummary) -> u32 {
        (self.rtt, self.probed) = (a.rtt.or(self.rtt), false);
        0
    }

    fn deadline(&self, s: &State) -> Time {
        match (self.rtt, s.board.last()) {
            (Some(rtt), Some(last)) if !self.probed && !s.recovering() => {
                last.last_sent + rtt.times(2)
            }
            _ => Time::NEVER,
        }
    }

    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        self.probed = true;
        ProbeNow::NewOrLast
    }
}

#[test]
fn tail_probe() {
    let probe = |s: &mut Strategy| s.probes.push(Box::new(TailProbe::default()));
    // No new data: the last segment again. 4 to 9 are lost; the probe's SACK shows it.
    run("sack", probe, 10_000, |x| {
        assert_eq!(x.ack(100, 4, &[]), "");
        assert_eq!(x.fire(200), "9+");
        // RFC 8985 section 7.3: the timer starts anew, and there is no second probe.
        assert_eq!(x.sender.next_deadline(), Time(1200 * MS));
        assert_eq!(x.ack(300, 10, &[]), "");
        assert_eq!((x.sender.next_deadline(), x.sender.stats().timeouts), (Time::NEVER, 0));
    });
    // New data that cwnd holds back goes first.
    run("sack", probe, 40_000, |x| {
        assert_eq!(x.ack(100, 1, &[]), "10 11");
        assert_eq!(x.fire(300), "12+");
        assert_eq!(x.ack(400, 1, &[(12, 13)]), "");
        assert_eq!(x.sender.next_deadline(), Time(1300 * MS));
    });
}

/// (e) Exactly one segment for each ACK (the second half of Lin & Kung's recovery, section 5).
#[derive(Default)]
struct OneForOne {
    credit: u64,
}

impl Regulate for OneForOne {
    fn in_flight(&self, s: &State) -> u64 {
        s.cwnd.saturating_sub(self.credit)
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // The retransmission that begins recovery takes it.
        self.credit = s.mss;
        s.ssthresh
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        self.credit = s.mss;
        s.cwnd
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.flight() + s.mss
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.credit = self.credit.saturating_sub(len);
        s.cwnd
    }
}

#[test]
fn one_segment_for_each_ack() {
    let one = |s: &mut Strategy| s.regulate = Box::new(OneForOne::default());
    run("newreno", one, 40_000, |x| {
        let sent: Vec<String> = (0..8).map(|n| x.ack(100 + n, 0, &[])).collect();
        assert_eq!(sent, ["", "", "0F", "10", "11", "12", "13", "14"]);
        // A partial ACK's retransmission is its segment.
        assert_eq!(x.ack(200, 4, &[]), "4P");
        assert_eq!(x.ack(201, 4, &[]), "15");
        assert_eq!(x.ack(300, 15, &[]), "16");
        assert_eq!((x.windows(), x.sender.state().phase), ((2_000, 5_000), Phase::Open));
    });
    run("sack", one, 40_000, |x| {
        assert_eq!(x.ack(100, 0, &[(2, 5)]), "0F");
        assert_eq!(x.ack(101, 0, &[(2, 6)]), "1P");
        assert_eq!(x.ack(102, 0, &[(2, 7)]), "10");
        assert_eq!(x.ack(103, 0, &[(2, 10)]), "11");
    });
}

/// RFC 7765 section 4: with little outstanding the timer counts from the earliest outstanding
/// transmission.
struct Restart;

impl Timer for Restart {
    fn on_sample(&mut self, _s: &State, _sent: Time) -> Option<Estimates> {
        Some(self.estimates())
    }

    fn rto(&self) -> Span {
        Span::from_secs(1)
    }

    fn min_rto(&self) -> Span {
        Span::from_secs(1)
    }

    fn expiry(&self, s: &State, rto: Span) -> Time {
        let few = s.board.len() < 4 && s.written == s.snd_max;
        let earliest = s.board.head().filter(|_| few).map_or(s.now, |r| r.last_sent);
        earliest + rto
    }
}

#[test]
fn timer_restart() {
    let restart = |s: &mut Strategy| s.timer = Box::new(Restart);
    run("newreno", restart, 10_000, |x| {
        assert_eq!(x.ack(100, 1, &[]), "");
        assert_eq!(x.sender.next_deadline(), Time(1100 * MS));
        assert_eq!(x.ack(110, 8, &[]), "");
        assert_eq!(x.fire(1000), "8T");
    });
}

/// The response to a lost retransmission is a decision of its own (Miyake & Inamura's I, II and
/// III).
#[test]
fn a_response_decides_about_a_lost_retransmission() {
    struct Keep;
    impl Response for Keep {
        fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
            Windows { ssthresh: s.ssthresh, cwnd: s.cwnd }
        }
    }
    let keep = |s: &mut Strategy| {
        s.retransmission = Some(Box::new(ByCount::default()));
        s.response = Box::new(Keep);
    };
    run("newreno", keep, 40_000, |x| {
        let sent: Vec<String> = (0..12).map(|n| x.ack(100 + n, 0, &[])).collect();
        assert_eq!(sent[11], "0L");
        assert_eq!(x.windows(), (5_000 + 11_000, 5_000));
    });
}

struct Answers(u32);

impl Segmentation for Answers {
    fn on_write(&mut self, _s: &State, _from: u64) {}

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) {}

    fn held(&self) -> bool {
        false
    }

    fn on_sent(&mut self, _s: &State, _segment: Outgoing) -> bool {
        false
    }

    fn next(&mut self, _s: &State, _in_flight: u64) -> Option<u32> {
        Some(self.0)
    }
}

/// No more goes than a segment, nor than there is; nothing is no segment.
#[test]
fn segmentation_that_answers_too_much() {
    let answers = |len| move |s: &mut Strategy| s.segmentation = Some(Box::new(Answers(len)));
    run("newreno", answers(u32::MAX), 9_500, |x| {
        assert_eq!(x.sender.state().snd_max, 9_500);
    });
    let mut strategy = Registry::default().parse("newreno").unwrap().build();
    answers(0)(&mut strategy);
    let mut sender = Sender::new(SenderConfig::default(), strategy);
    sender.write(Time::ZERO, 9_500);
    assert_eq!(sender.poll_transmit(Time::ZERO), None);
}

/// A law that leaves ssthresh unset leaves the window unlimited.
#[test]
fn a_law_that_lowers_nothing() {
    struct Unlimited;
    impl Window for Unlimited {
        fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
            s.cwnd
        }
        fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
            s.ssthresh
        }
        fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
            s.ssthresh
        }
    }
    let unlimited = |s: &mut Strategy| s.window = Box::new(Unlimited);
    run("newreno", unlimited, 60_000, |x| {
        (0..3).for_each(|_| drop(x.ack(100, 0, &[])));
        assert!(x.sender.state().cwnd > 1 << 40, "{}", x.sender.state().cwnd);
        // The end of a recovery leaves what is outstanding (RFC 6582 section 3.2).
        x.ack(200, 10, &[]);
        assert!(x.sender.state().cwnd >= 50_000, "{}", x.sender.state().cwnd);
    });
}

/// Numbers beyond all bounds, on each axis whose answers the sender counts with.
struct Boundless;

impl Probe for Boundless {
    fn on_advance(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        u32::MAX
    }

    fn on_exit(&mut self, _s: &State, _a: &AckSummary) -> u32 {
        u32::MAX
    }
}

impl Regulate for Boundless {
    fn in_flight(&self, _s: &State) -> u64 {
        u64::MAX
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }
}

impl Undo for Boundless {
    fn on_response(&mut self, _s: &State, _timeout: bool) {}

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> Verdict {
        if s.phase == Phase::Open || s.snd_una > 0 {
            return Verdict::Open;
        }
        let windows = Windows { ssthresh: 5_000, cwnd: u64::MAX };
        Verdict::Restore { windows, losses_stand: false, goes_on: false }
    }
}

#[test]
fn what_is_beyond_all_bounds_is_bounded() {
    let probe = |s: &mut Strategy| s.probes.push(Box::new(Boundless));
    run("newreno", probe, 40_000, |x| {
        assert_eq!(x.ack(100, 1, &[]), "10 11");
        assert_eq!(x.sender.state().dupacks, u32::MAX / 2);
        assert_eq!(x.ack(101, 1, &[]), "");
        assert_eq!(x.sender.state().dupacks, u32::MAX / 2 + 1);
    });
    run("newreno", probe, 40_000, |x| {
        assert_eq!([(); 3].map(|()| x.ack(100, 0, &[])), ["", "", "0F"]);
        assert_eq!(x.ack(101, 10, &[]), "10+ 11");
        assert_eq!(x.sender.state().dupacks, u32::MAX / 2);
        assert_eq!(x.ack(102, 10, &[]), "");
        assert_eq!(x.sender.state().dupacks, u32::MAX / 2 + 1);
    });
    // No room for anything but the retransmission, which pacing puts off: 22 segments in 100 ms.
    let regulate = |s: &mut Strategy| s.regulate = Box::new(Boundless);
    run("newreno+linux-pacing", regulate, 40_000, |x| {
        assert_eq!(x.ack(100, 1, &[]), "10 11");
        assert_eq!([(); 3].map(|()| x.ack(101, 1, &[])), ["", "", ""]);
        x.now = x.sender.next_deadline();
        assert_eq!(x.now, Time(104_545_454));
        x.sender.on_deadline(x.now);
        assert_eq!(x.sent(), "1F");
        assert_eq!(x.sender.next_deadline(), Time(1_100 * MS));
    });
    let undo = |s: &mut Strategy| s.undo.push(Box::new(Boundless));
    run("linux", undo, 40_000, |x| {
        assert_eq!(x.ack(100, 0, &[(1, 4)]), "0F");
        let rest: Vec<String> = (10..40).map(|n| n.to_string()).collect();
        assert_eq!(x.ack(101, 0, &[(1, 5)]), rest.join(" "));
        assert_eq!(x.windows(), (1 << 48, 5_000));
        // CUBIC counts whole segments, and keeps 717/1024 of them.
        assert_eq!(x.ack(102, 10, &[]), "");
        assert_eq!(x.windows(), (281_474_976_710_000, 5_000));
        assert_eq!(x.ack(103, 10, &[(11, 14)]), "10F");
        assert_eq!(x.windows(), (29_000, 197_087_459_278_000));
        // Its curve begins far below that: one segment for two of the 27 delivered.
        assert_eq!(x.ack(104, 40, &[]), "");
        assert_eq!(x.windows(), (197_087_459_291_000, 197_087_459_278_000));
    });
}
