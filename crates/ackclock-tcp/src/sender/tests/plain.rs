//! The short path of plain ACKs and the full one: the same segments, deadlines and state after each
//! input of random histories.

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::*;
use crate::dice::Dice;
use crate::recovery::probe::Probe;
use crate::recovery::undo::{Undo, Verdict};
use crate::recovery::window::{Window, Windows};
use crate::summary::AckSummary;

const HISTORIES: u64 = 100_000;
const INPUTS: u64 = 24;

/// Strategies whose plain ACKs take the short path.
const SHORT: [&str; 19] = [
    "newreno",
    "sack",
    "rack-tlp",
    "prr",
    "fack",
    "oracle",
    "newreno+lt",
    "tahoe+smallwnd+b2b",
    "sack+er+ack-heuristic",
    "newreno+hystart+cubic+ts-heuristic+rto-restart",
    "linux",
    "last-mile",
    "sack+linux-reno",
    "sack+linux-prr",
    "rack-tlp+linux-timer",
    "sack+dsack-undo",
    "newreno+eifel",
    "sack+f-rto",
    "sack+eifel+rfc4015",
];

/// An ACK from a receiver that may be honest: most advance by a segment, some by a part of one or
/// by several, or not at all; some carry SACK blocks or another window.
fn ack(s: &State, isn: Seq, timestamps: bool, dice: &mut Dice) -> Segment {
    let step = match dice.below(8) {
        0 => 0,
        1 => dice.below(3000),
        2 => 2000,
        3 => s.flight(),
        _ => s.board.head().map_or(0, |head| u64::from(head.len)),
    };
    let position = (s.snd_una + step).min(s.snd_max);
    let mut segment = Segment { ack: Seq::at(isn, position), wnd: 60_000, ..Segment::default() };
    if dice.below(16) == 0 {
        segment.wnd = dice.below(6000) as u16;
    }
    if dice.below(16) == 0 {
        segment.len = 100;
    }
    if s.flight() > 2000 && dice.below(4) == 0 {
        let left = position + 1000 * dice.below(4);
        let right = left + 1000 * (1 + dice.below(2));
        segment.sack.push(SackBlock { left: Seq::at(isn, left), right: Seq::at(isn, right) });
    }
    let ecr = s.now.timestamp().wrapping_sub(dice.below(80) as u32);
    segment.timestamps = timestamps.then_some(Timestamps { val: 0, ecr });
    segment
}

#[test]
fn the_short_path_does_what_the_full_one_does() {
    let registry = Registry::default();
    let strategies = SHORT.map(|name| registry.parse(name).expect(name));
    let mut plain = 0;
    for history in 0..HISTORIES {
        let mut dice = Dice(history);
        let strategy = &strategies[history as usize % SHORT.len()];
        let isn = Seq(if dice.below(2) == 0 { 0 } else { 3500u32.wrapping_neg() });
        let timestamps = dice.below(4) == 0;
        let config = SenderConfig { isn, timestamps, nagle: dice.below(8) == 0, ..window(4) };
        let mut pair = [(); 2].map(|()| Sender::new(config.clone(), strategy.build()));
        assert!(pair[0].wants.plain, "{}", strategy.name());
        let wants = &mut pair[1].wants;
        (wants.plain, wants.sends_plainly, wants.sends_in_flight) = (false, false, false);
        let mut now = Time::ZERO;
        for _ in 0..INPUTS {
            now += Span::from_millis(dice.below(60));
            let before = pair[0].s.snd_una;
            match dice.below(12) {
                0 | 1 => {
                    let bytes = dice.below(12_000);
                    pair.iter_mut().for_each(|c| c.write(now, bytes));
                }
                2 => {
                    now = now.max(pair[0].next_deadline().min(now + Span::from_secs(3)));
                    pair.iter_mut().for_each(|c| c.on_deadline(now));
                }
                3 if dice.below(8) == 0 => pair.iter_mut().for_each(|c| c.close(now)),
                4 if dice.below(16) == 0 => {
                    let mss = 500 + dice.below(1000) as u32;
                    pair.iter_mut().for_each(|c| c.set_mss(now, mss));
                }
                _ => {
                    let segment = ack(&pair[0].s, isn, timestamps, &mut dice);
                    pair.iter_mut().for_each(|c| c.on_segment(now, &segment));
                    plain += u64::from(pair[0].s.snd_una > before && !pair[0].s.recovering());
                }
            }
            // A driver may read deadlines before it has taken everything, or take it later.
            let [short, full] = pair.each_ref().map(|c| c.next_deadline());
            assert_eq!(short, full, "history {history}, before it sends");
            if dice.below(16) == 0 {
                continue;
            }
            loop {
                let [short, full] = pair.each_mut().map(|c| c.poll_transmit(now));
                assert_eq!(short, full, "history {history}");
                if short.is_none() {
                    break;
                }
            }
            let [short, full] = pair.each_ref().map(|c| {
                let s = &c.s;
                (s.snd_una, s.cwnd, s.ssthresh, s.srtt, s.board.pipe(), c.next_deadline())
            });
            assert_eq!(short, full, "history {history}");
        }
        let [short, full] = pair.map(|c| format!("{:?} {:?} {:?}", c.s, c.stats, c.saved));
        assert_eq!(short, full, "history {history}");
    }
    assert!(plain > 2 * HISTORIES, "{plain} ACKs advanced");
}

#[test]
fn what_must_see_every_ack_takes_the_full_path() {
    let registry = Registry::default();
    let wants = |name: &str, events| {
        let strategy = registry.parse(name).expect(name).build();
        Sender::new(SenderConfig { events, ..config() }, strategy).wants
    };
    for name in ["ns2-newreno", "sack+linux-tso"] {
        assert!(!wants(name, false).plain, "{name}");
    }
    assert!(!wants("sack", true).plain);
    assert!(wants("linux", false).sends_in_flight);
    assert!(wants("rack-tlp", false).sends_plainly);
    assert!(wants("sack", false).skips_detection);
    assert!(!wants("rack-tlp", false).skips_detection);
    for (name, sack) in [("rack-tlp", true), ("linux", true), ("linux", false), ("rack+er", true)] {
        let strategy = registry.parse(name).expect(name).build();
        let wants = Sender::new(SenderConfig { sack, ..config() }, strategy).wants;
        let sums = name != "rack+er" && sack;
        assert_eq!((wants.sums_plain_acks, wants.reports_plainly), (sums, !sums), "{name}, {sack}");
    }
    assert!(!wants("sack+er", false).skips_detection);
    assert!(!wants("sack+ts-heuristic", false).skips_advance);
}

/// How often it is asked whether a plain ACK would change nothing for it, and how many it is shown.
struct Counting {
    skips: bool,
    asked: Arc<[AtomicU32; 2]>,
}

impl Probe for Counting {
    fn skips_plain_acks(&self) -> bool {
        self.asked[0].fetch_add(1, Relaxed);
        self.skips
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary, _law: &mut dyn Window) -> Option<Windows> {
        self.asked[1].fetch_add(1, Relaxed);
        None
    }
}

/// A probe is shown plain ACKs unless it has declared that they change nothing for it. It is asked
/// that again once it has seen anything else. (Debug builds ask once more for each ACK, to
/// compare.)
#[test]
fn a_probe_sees_plain_acks_unless_it_has_declared_otherwise() {
    let compared = u32::from(cfg!(debug_assertions));
    for (skips, asked, shown) in [(true, 2 + 3 * compared, 1), (false, 5, 6)] {
        let counts = Arc::new([const { AtomicU32::new(0) }; 2]);
        let mut strategy = Registry::default().parse("newreno").expect("it is known").build();
        strategy.probes.push(Box::new(Counting { skips, asked: counts.clone() }));
        let mut sender = Sender::new(window(4), strategy);
        sender.write(Time::ZERO, 40_000);
        // The fourth is no plain ACK: it brings data.
        for (position, len) in [(1, 0), (2, 0), (3, 0), (3, 100), (4, 0), (5, 0)] {
            while sender.poll_transmit(Time::ZERO).is_some() {}
            let ack = Seq::at(sender.config.isn, 1000 * position);
            let segment = Segment { ack, len, wnd: 60_000, ..Segment::default() };
            sender.on_segment(Time::ZERO, &segment);
        }
        let counted = counts.each_ref().map(|count| count.load(Relaxed));
        assert_eq!(counted, [asked, shown], "skips: {skips}");
    }
}

/// Skips plain ACKs, and counts those that it is shown all the same.
struct Shown(Arc<AtomicU32>);

impl Undo for Shown {
    fn on_response(&mut self, _s: &State, _timeout: bool) {}

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> Verdict {
        self.0.fetch_add(1, Relaxed);
        Verdict::Open
    }
}

/// Linux's undo forgets the first retransmission on the first ACK after the recovery, and sums that
/// ACK up. Only the three before it take the full path: two with SACK blocks, and the one that ends
/// the recovery.
#[test]
fn the_first_ack_after_a_recovery_of_linux_is_plain() {
    let shown = Arc::new(AtomicU32::new(0));
    let mut strategy = Registry::default().parse("linux").expect("it is known").build();
    strategy.undo.push(Box::new(Shown(shown.clone())));
    let mut sender = Sender::new(SenderConfig { sack: true, ..window(10) }, strategy);
    sender.write(Time::ZERO, 40_000);
    let counts = [(0, Some(4)), (0, Some(9)), (10, None), (11, None), (12, None)].map(
        |(position, sacked): (u32, Option<u32>)| {
            let now = sender.state().now;
            while sender.poll_transmit(now).is_some() {}
            let at = |segments| Seq::at(sender.config.isn, 1000 * u64::from(segments));
            let mut segment = Segment { ack: at(position), wnd: 60_000, ..Segment::default() };
            if let Some(right) = sacked {
                segment.sack.push(SackBlock { left: at(1), right: at(right) });
            }
            sender.on_segment(now + Span::from_millis(50), &segment);
            shown.load(Relaxed)
        },
    );
    assert_eq!(counts, [1, 2, 3, 3, 3]);
    assert_eq!(sender.stats().recoveries, 1);
}
