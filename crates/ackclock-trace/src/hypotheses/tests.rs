use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{
    Cause, Composition, Registry, Segment, Sender, SenderConfig, Seq, Span, Time, TimeoutClass,
};

use super::candidates::{Candidate, Least, candidates};
use super::division::Divided;
use super::script::Script;
use super::start::{Outage, Start, outages};
use super::trial::{Budget, Lists, Says, Setting, run};
use super::{Entry, Looks, Passed, calm, settings, verdict, verdicts};
use crate::connection::Kind;
use crate::lifetime::Limit;
use crate::sender::{Acked, Dsack, Opening, Sent, Sight, Terms};
use crate::standards::LEAST_RTO;
use crate::steps;

pub(super) const MSS: u64 = 1000;

/// Time between the capture, at the receiver, and the sender, and back; there is nothing behind it.
const RTT: f64 = 50.0;

pub(crate) fn ms(t: f64) -> Time {
    Time::ZERO + Span((t * 1e6) as u64) + Span::from_secs(10)
}

pub(super) fn terms(sack: bool) -> Terms {
    Terms {
        start: ms(0.0),
        header: 40,
        mss: MSS as u32,
        sack,
        cut: false,
        timestamps: false,
        sight: Sight::Received,
        near: false,
        opening: Opening::Seen,
        opens: true,
        handshake_rtt: Some(Span::from_millis(RTT as u64)).into(),
        events: false,
    }
}

/// A full segment arrives.
pub(crate) fn seen(t: f64, segment: u64) -> Entry {
    Entry::Sent(Sent {
        frame: t as u64,
        at: ms(t),
        position: segment * MSS,
        seq: Seq((segment * MSS) as u32),
        len: MSS as u32,
        ..Sent::default()
    })
}

/// The receiver has all before segment `n`, and these.
pub(crate) fn ack(t: f64, n: u64, sacks: &[(u64, u64)]) -> Entry {
    let mut sack = [(0, 0); 4];
    sacks.iter().zip(&mut sack).for_each(|((a, b), block)| *block = (a * MSS, b * MSS));
    Entry::Acked(Acked {
        frame: 0,
        at: ms(t),
        ack: n * MSS,
        window: 60_000,
        scaled: true,
        sack,
        sacks: sacks.len() as u8,
        dsack: Dsack::None,
        tsecr: None,
        stamp: None,
        with_data: false,
        ece: false,
        timed: true,
        skips: false,
        overdue: false,
    })
}

/// Three segments and a fourth that is lost before the capture: first, then once more after
/// `again`, each in ms after the ACK of the third.
fn lost_tail(again: &[f64]) -> Vec<Entry> {
    let mut all = vec![ack(0.0, 0, &[]), seen(50.0, 0), seen(50.1, 1), seen(50.2, 2)];
    all.push(ack(50.2, 3, &[]));
    for after in again {
        all.push(seen(50.2 + RTT + after, 3));
    }
    all.push(ack(50.2 + RTT + again[again.len() - 1], 4, &[]));
    all
}

fn kind_and_class(entries: &[Entry], sack: bool) -> (Option<Kind>, Option<TimeoutClass>, f64) {
    let (all, ..) = verdicts(terms(sack), entries, Span::from_millis(RTT as u64));
    let last = all.last().expect("hypotheses agree");
    (last.kind, last.says.expiry.map(|expiry| expiry.class), last.probability)
}

/// What is seen once, and looks like new data after a pause, is what the retransmission timer sent:
/// 200 ms after the last ACK had reached the sender, and what RFC 6298 adds.
#[test]
fn a_lost_tail_is_sent_by_the_timer() {
    let (kind, class, probability) = kind_and_class(&lost_tail(&[200.0]), false);
    assert_eq!((kind, class), (Some(Kind::Timeout), Some(TimeoutClass::NonTrigger)));
    // An application may have paused.
    assert!(probability > 0.6, "{probability}");
}

/// 600 ms after it, one was lost in between: the timer's interval doubles.
#[test]
fn a_retransmission_that_was_lost_unseen_is_counted() {
    let (kind, class, probability) = kind_and_class(&lost_tail(&[600.0]), false);
    assert_eq!((kind, class), (Some(Kind::BackedOffTimeout), Some(TimeoutClass::BackedOff)));
    assert!(probability > 0.6, "{probability}");
}

/// RFC 6298's timer is due after 1 s. What comes 5 ms sooner may have been sent by it: where it
/// was set and where it expired are known to a sixteenth of the round trip each. What comes 20 ms
/// sooner was not.
#[test]
fn a_timer_may_expire_a_little_early() {
    let delay = Span::from_millis(RTT as u64);
    let start = Start { delay, resumed: None, outage: None, window: None };
    let candidate = candidates(false).iter().find(|c| c.least == Least::Whole).unwrap();
    let setting = Setting { candidate, ..commonest(false, Span::from_secs(1), 10) };
    let kind = |after: f64| {
        let entries = lost_tail(&[after]);
        let script = Script::new(terms(false), &entries, &start, false).unwrap();
        let mut lists = Lists::default();
        run(&script, &setting, Budget { most: 1e9, best: &[] }, &mut lists);
        lists.says.last().and_then(|says| says.kind)
    };
    assert_eq!([980.0, 995.0, 1000.0].map(kind), [None, Some(Kind::Timeout), Some(Kind::Timeout)]);
}

/// A clock of 500 ms ticks at any time that it is asked to: that costs as much as so small a part
/// of its phases is improbable. Its timer has no least interval, so that each counts once.
#[test]
fn the_phase_of_ticks_is_paid_for() {
    let entries = lost_tail(&[600.0]);
    let start =
        Start { delay: Span::from_millis(RTT as u64), resumed: None, outage: None, window: None };
    let script = Script::new(terms(false), &entries, &start, false).expect("something was sent");
    let mut seen = BTreeSet::new();
    for s in settings(&script, false).filter(|s| s.candidate.least == Least::Ticks) {
        // Times are known to a sixteenth of the round trip.
        assert!((s.cost - (500.0 / (RTT as f32 / 16.0)).ln()).abs() < 0.01, "{}", s.cost);
        let begins = (s.initial_window, s.initial_ssthresh, s.tick_phase);
        assert!(seen.insert((std::ptr::from_ref(s.candidate) as usize, begins)));
    }
    assert!(!seen.is_empty());
}

/// At 437 ms no timer in use expires: the application has paused.
#[test]
fn a_pause_is_no_timeout() {
    let (kind, class, _) = kind_and_class(&lost_tail(&[437.0]), false);
    assert_eq!((kind, class), (None, None));
}

/// Where no ACK has come, nothing says how far the sender is.
#[test]
fn nothing_is_said_without_the_delay() {
    let all = [seen(50.0, 0), seen(250.0, 0)];
    assert!(verdicts(terms(false), &all, Span::ZERO).0.is_empty());
}

/// Of a connection that began before the capture nothing says what the sender has outstanding,
/// until a quiet moment has come.
#[test]
fn nothing_is_said_without_the_beginning() {
    const BEFORE: u64 = 16_000;
    let mut all = lost_tail(&[200.0]);
    for entry in &mut all {
        match entry {
            Entry::Sent(sent) | Entry::Late(sent) => sent.position += BEFORE * MSS,
            Entry::Acked(acked) => acked.ack += BEFORE * MSS,
        }
    }
    let unseen = Terms { opening: Opening::Unseen, handshake_rtt: None.into(), ..terms(false) };
    assert!(verdicts(unseen, &all, Span::from_millis(50)).0.is_empty());
}

/// A transfer of 100 segments by NewReno with an initial window of two, over a path of 25 ms that
/// takes 0.1 ms for a segment. The first transmissions of segments `lost` are lost before the
/// capture, the ACKs of the first ones of `unheard` behind it. `min_rto`: the least timeout, if not
/// 1 s. What passes, and the kind of each segment that does.
fn transfer(
    lost: Range<u64>,
    unheard: Range<u64>,
    min_rto: Option<Span>,
) -> (Vec<Entry>, Vec<Option<Cause>>) {
    transfer_by("newreno+rfc6298-timer", lost, unheard, min_rto)
}

/// The same by another strategy. The sender numbers its packets.
fn transfer_by(
    strategy: &str,
    lost: Range<u64>,
    unheard: Range<u64>,
    min_rto: Option<Span>,
) -> (Vec<Entry>, Vec<Option<Cause>>) {
    let strategy = Registry::default().parse(strategy).unwrap().build();
    let config = SenderConfig {
        isn: Seq(0),
        mss: MSS as u32,
        initial_window: Some(2),
        initial_rwnd: 60_000,
        wscale: 0,
        sack: false,
        min_rto,
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(config, strategy);
    let (mut entries, mut causes) = (vec![ack(0.0, 0, &[])], Vec::new());
    let (mut acks, mut have, mut next) = (VecDeque::new(), [false; 100], 0.0_f64);
    let mut now = 25.0;
    let mut number = 0;
    sender.write(ms(now), 100 * MSS);
    while sender.acked() < 100 * MSS {
        while let Some(transmit) = sender.poll_transmit(ms(now)) {
            if transmit.transmission == 0 {
                continue;
            }
            next = (now + 25.0).max(next + 0.1);
            number += 1;
            let segment = transmit.position / MSS;
            if lost.contains(&segment) && transmit.transmission == 1 {
                continue;
            }
            entries.push(seen(next, segment));
            if let Some(Entry::Sent(sent)) = entries.last_mut() {
                sent.ip_id = Some(number);
            }
            causes.push((transmit.transmission > 1).then_some(transmit.cause));
            have[segment as usize] = true;
            let una = have.iter().position(|have| !have).unwrap_or(100) as u64;
            entries.push(ack(next, una, &[]));
            if transmit.transmission > 1 || !unheard.contains(&segment) {
                acks.push_back((next + 25.0, una));
            }
        }
        let due = sender.next_deadline();
        match acks.pop_front() {
            Some((at, una)) if ms(at) <= due => {
                now = at;
                let ack = Seq((una * MSS) as u32);
                sender.on_segment(ms(at), &Segment { ack, wnd: 60_000, ..Segment::default() });
            }
            waits => {
                waits.into_iter().for_each(|ack| acks.push_front(ack));
                now = due.since(ms(0.0)).0 as f64 / 1e6;
                sender.on_deadline(due);
            }
        }
    }
    (entries, causes)
}

/// The kinds that are found of what was retransmitted, and the one that there is.
fn found_and_true(
    terms: Terms,
    (entries, causes): &(Vec<Entry>, Vec<Option<Cause>>),
    delay: f64,
) -> (Vec<Kind>, Vec<Cause>) {
    let (all, ..) = verdicts(terms, entries, Span((delay * 1e6) as u64));
    let found = all.iter().filter_map(|verdict| verdict.kind).collect();
    (found, causes.iter().copied().flatten().collect())
}

/// Of a connection whose handshake was made up, nothing has measured the way to the sender, but the
/// segments after the initial window.
#[test]
fn the_delay_follows_from_the_initial_window() {
    let made_up = Terms { opening: Opening::MadeUp, handshake_rtt: None.into(), ..terms(false) };
    let all = transfer(40..41, 0..0, None);
    let found = found_and_true(made_up, &all, 0.0);
    assert_eq!(found, (vec![Kind::FastRetransmit], vec![Cause::FastRetransmit]));
    let (_, learned, _) = verdicts(made_up, &all.0, Span::ZERO);
    assert_eq!(learned.0.div_ceil(1_000_000), RTT as u64);
    // What was measured stays.
    let measured = Span::from_millis(49);
    assert_eq!(verdicts(made_up, &all.0, measured).1, measured);
}

/// All ACKs of a window are lost behind the capture, and the sender times out. No candidate knows
/// why; but those that begin anew behind it agree with what comes then.
#[test]
fn candidates_begin_anew_behind_lost_acks() {
    let (found, truth) = found_and_true(terms(false), &transfer(75..76, 6..14, None), RTT);
    assert_eq!(truth, [Cause::Timeout, Cause::FastRetransmit]);
    assert_eq!(found, [Kind::FastRetransmit]);
}

/// The same where the connection began before the capture.
#[test]
fn candidates_begin_within_a_connection() {
    let (mut entries, causes) = transfer(60..61, 0..0, None);
    entries.drain(..40);
    let unseen = Terms { opening: Opening::Unseen, handshake_rtt: None.into(), ..terms(false) };
    let found = found_and_true(unseen, &(entries, causes), RTT);
    assert_eq!(found, (vec![Kind::FastRetransmit], vec![Cause::FastRetransmit]));
}

/// All of a window but its last two segments is lost before the capture. Few senders wait for only
/// 100 ms; but this one has, and its slow start follows.
#[test]
fn the_least_timeout_is_learned() {
    let least = Some(Span::from_millis(100));
    let (found, truth) = found_and_true(terms(false), &transfer(6..12, 0..0, least), RTT);
    assert_eq!(truth.len(), 8);
    assert_eq!(truth[0], Cause::Timeout);
    assert!(truth[1..].iter().all(|cause| *cause == Cause::SlowStart));
    assert_eq!(found.first(), Some(&Kind::Timeout));
    assert!(found[1..].iter().all(|kind| *kind == Kind::SlowStart), "{found:?}");
    assert_eq!(found.len(), 8);
}

/// An outage loses a whole window before the capture, 32 segments. That is one misfortune, and not
/// 32. What goes out again looks like new data.
#[test]
fn what_is_lost_in_a_row_is_lost_together() {
    let (found, truth) = found_and_true(terms(false), &transfer(30..62, 0..0, None), RTT);
    assert_eq!(truth.len(), 32);
    assert_eq!(truth[0], Cause::Timeout);
    assert_eq!(found.first(), Some(&Kind::Timeout));
    assert!(found[1..].iter().all(|kind| *kind == Kind::SlowStart), "{found:?}");
    assert_eq!(found.len(), 32);
}

/// The capture begins with three segments before an outage that loses the 32 behind them, so that
/// there is no moment at which candidates could begin before it. Linux sends the first of them
/// again by its timer, and on the ACK of that new data (F-RTO). With numbers that proves what was
/// lost.
#[test]
fn candidates_begin_with_an_outage() {
    let (mut entries, causes) = transfer_by("linux", 30..62, 0..0, None);
    let outage = entries.iter().position(|e| e.sent().is_some_and(|s| s.position == 30 * MSS));
    entries.drain(..outage.expect("sent again") - 6);
    let unseen = Terms { opening: Opening::Unseen, handshake_rtt: None.into(), ..terms(false) };
    let (found, truth) = found_and_true(unseen, &(entries.clone(), causes), RTT);
    assert_eq!((truth.len(), truth[0]), (32, Cause::Timeout));
    assert!(truth[1..].iter().all(|cause| *cause == Cause::SlowStart));
    let expected = [&[Kind::Timeout][..], &[Kind::SlowStart; 31]].concat();
    assert_eq!(found, expected);
    // Without them it may be new data.
    for entry in &mut entries {
        if let Entry::Sent(sent) = entry {
            sent.ip_id = None;
        }
    }
    assert!(!found_and_true(unseen, &(entries, Vec::new()), RTT).0.contains(&Kind::Timeout));
}

/// Segments 0 to 2, then 3 and 9 with these numbers. `acked`: before 3 goes out, so much is.
fn outage_of(numbers: [u16; 2], acked: u64) -> Option<Outage> {
    outage_to(9, numbers, acked)
}

fn outage_to(next: u64, numbers: [u16; 2], acked: u64) -> Option<Outage> {
    let mut all = vec![seen(0.0, 0), seen(0.1, 1), seen(0.2, 2), ack(0.2, acked, &[])];
    all.extend([seen(300.0, 3), ack(300.0, 4, &[]), seen(351.0, next)]);
    let numbers = [65_530, 65_531, 65_532].into_iter().chain(numbers);
    let sent = all.iter_mut().filter_map(|e| if let Entry::Sent(s) = e { Some(s) } else { None });
    sent.zip(numbers).for_each(|(sent, number)| sent.ip_id = Some(number));
    let starts = outages(MSS as u32, &all, Span::from_millis(50));
    assert!(starts.iter().all(|start| start.resumed == Some((4, 3 * MSS))));
    starts.first().and_then(|start| start.outage)
}

/// 9 shows a hole of five segments. If fewer packets are missing between 3 and 9, all of it was
/// lost before 3 went out, and 3 had to be lost before that.
#[test]
fn numbers_prove_an_outage() {
    let outage = Some(Outage { at: ms(50.2), outstanding: 6 });
    assert_eq!(outage_of([3, 4], 3), outage);
    assert_eq!(outage_of([3, 8], 3), outage);
    assert_eq!(outage_of([3, 9], 3), None);
    // What was sent before 3 says nothing of it, nor do numbers that stand still.
    assert_eq!(outage_of([3, 2], 3), None);
    assert_eq!(outage_of([3, 3], 3), None);
    // No window is so large.
    assert_eq!(outage_to(515, [3, 4], 3).map(|outage| outage.outstanding), Some(512));
    assert_eq!(outage_to(516, [3, 4], 3), None);
    // Something before 3 was outstanding, too.
    assert_eq!(outage_of([3, 4], 2), None);
}

/// Who has a timer of its own is tried with that alone, and what its least interval says is so.
#[test]
fn a_timer_of_its_own_is_the_only_one() {
    let has = |c: &Candidate, name| c.composition.mechanisms().iter().any(|m| m.name == name);
    let all = candidates(false).iter().filter(|c| has(c, "ns2-timer")).collect::<Vec<_>>();
    assert!(!all.is_empty());
    for c in all {
        assert!(c.least == Least::Whole && c.ticks == Span::ZERO);
        assert!(!["linux-timer", "linux-timer-alone"].iter().any(|timer| has(c, timer)));
    }
}

/// Linux is tried as it comes, without tail loss probes, without F-RTO, and with Reno's window law.
#[test]
fn linux_may_have_other_settings() {
    let registry = Registry::default();
    let names = |composition: &Composition| {
        let all = composition.mechanisms().iter().map(|m| m.name.to_string());
        all.collect::<BTreeSet<_>>()
    };
    let linux = names(&registry.parse("linux").unwrap());
    let without = |off: &str| linux.iter().filter(|name| *name != off).cloned().collect();
    // A law that comes behind another takes its place.
    let mut reno = linux.clone();
    reno.insert("linux-reno".to_string());
    for sack in [false, true] {
        let tried: Vec<_> = candidates(sack).iter().map(|c| names(&c.composition)).collect();
        assert_eq!(
            tried[..4],
            [linux.clone(), without("linux-tlp"), without("linux-f-rto"), reno.clone()]
        );
    }
}

/// A candidate that costs `misfit` at segment 10 of 40, where it sends a retransmission, and
/// nothing else.
fn misfits_once(misfit: f32) -> Vec<Vec<Says>> {
    let says = |index| Says {
        kind: (index == 10).then_some(Kind::Recovery),
        cost: if index < 10 { 0.0 } else { misfit },
        ..Says::default()
    };
    vec![(0..40).map(says).collect()]
}

fn says_of_ten(misfit: f32, looks: Looks) -> Option<(Option<Kind>, f64)> {
    let Entry::Sent(sent) = seen(10.0, 10) else { panic!("not sent") };
    verdict(&sent, 10, 34, &misfits_once(misfit), looks).map(|v| (v.kind, v.probability))
}

/// What one candidate alone says is as sure as it fits near the segment: with 8, it is e to
/// -0.0018 * 8.
#[test]
fn a_misfit_near_the_segment_is_doubted() {
    let shown = Looks { is_first: false, to_the_end: false };
    let is = |probability| Some((Some(Kind::Recovery), probability));
    assert_eq!(says_of_ten(0.0, shown), is(1.0));
    assert_eq!(says_of_ten(8.0, shown), is(0.986));
    assert_eq!(says_of_ten(20.0, shown), is(0.965));
    // No more than 25 of it counts.
    assert_eq!(says_of_ten(40.0, shown), is(0.956));
    // As much long before or after says nothing.
    let elsewhere = |index: usize| {
        let mut all = misfits_once(8.0);
        all[0].iter_mut().for_each(|says| says.cost = 0.0);
        all[0][index..].iter_mut().for_each(|says| says.cost = 8.0);
        let Entry::Sent(sent) = seen(10.0, 10) else { panic!("not sent") };
        verdict(&sent, 10, 34, &all, shown).map(|v| v.probability)
    };
    assert_eq!([5, 6, 14, 15].map(elsewhere), [1.0, 0.986, 0.986, 1.0].map(Some));
}

/// What the time of the segment itself costs counts as its square instead, e to -0.004 * 64, unless
/// the timer sends it: how long that waits is known less well.
#[test]
fn what_comes_late_itself_is_doubted() {
    let looks = Looks { is_first: false, to_the_end: false };
    let late = |kind, timing| {
        let mut all = misfits_once(8.0);
        (all[0][10].kind, all[0][10].timing) = (Some(kind), timing);
        let Entry::Sent(sent) = seen(10.0, 10) else { panic!("not sent") };
        verdict(&sent, 10, 34, &all, looks).map(|v| v.probability)
    };
    use Kind::{BackedOffTimeout, FastRetransmit, Recovery, SlowStart, TailLossProbe, Timeout};
    for kind in [FastRetransmit, Recovery, SlowStart, TailLossProbe] {
        assert_eq!([0.0, 4.0, 8.0].map(|t| late(kind, t)), [0.986, 0.931, 0.774].map(Some));
    }
    for kind in [Timeout, BackedOffTimeout] {
        assert_eq!([0.0, 8.0].map(|t| late(kind, t)), [0.986, 1.0].map(Some));
    }
}

/// Candidates with a probe and with a timer that fit alike leave it open which one it was, however
/// many of either there are.
#[test]
fn what_both_timers_explain_is_left_open() {
    let Entry::Sent(sent) = seen(10.0, 10) else { panic!("not sent") };
    let looks = Looks { is_first: false, to_the_end: false };
    let by = |kind, misfit| {
        let mut all = misfits_once(misfit);
        all[0][10].kind = Some(kind);
        all
    };
    let open = |probe, timer, of: Kind| {
        let all = [by(Kind::TailLossProbe, probe), by(of, timer), by(of, timer)].concat();
        verdict(&sent, 10, 34, &all, looks).map(|v| (v.kind, v.by_either_timer))
    };
    assert_eq!(open(0.0, 0.0, Kind::Timeout), Some((Some(Kind::Timeout), true)));
    assert_eq!(open(0.0, 4.0, Kind::Timeout), Some((Some(Kind::TailLossProbe), false)));
    assert_eq!(open(0.0, 0.0, Kind::Recovery), Some((Some(Kind::Recovery), false)));
}

/// Most of what looks like a first transmission is one. That it is none takes a candidate that
/// agrees to the end, and fits.
#[test]
fn a_first_transmission_is_claimed_with_care() {
    let first = |to_the_end| Looks { is_first: true, to_the_end };
    let is = |probability| Some((Some(Kind::Recovery), probability));
    assert_eq!(says_of_ten(0.0, first(true)), is(1.0));
    // e to -0.7 (8/43)^2 - 0.015 * 8, which is less than of a shown one.
    assert_eq!(says_of_ten(8.0, first(true)), is(0.866));
    assert_eq!(says_of_ten(20.0, first(true)), is(0.637));
    // 0.489.
    assert_eq!(says_of_ten(30.0, first(true)), None);
    assert_eq!(says_of_ten(0.0, first(false)), None);
}

/// Segment 1 of ten comes when a retransmission by three SACKs would, which were sent at once.
fn late_second_segment() -> Vec<Entry> {
    let mut all = vec![ack(0.0, 0, &[]), seen(50.0, 0), ack(50.0, 1, &[])];
    for n in 2..10 {
        all.push(seen(50.0 + n as f64 / 10.0, n));
        all.push(ack(50.0 + n as f64 / 10.0, 1, &[(2, n + 1)]));
    }
    all.push(seen(100.4, 1));
    all.push(ack(100.4, 10, &[]));
    all
}

#[test]
fn three_sacks_make_a_fast_retransmit() {
    let all = late_second_segment();
    let (kind, class, probability) = kind_and_class(&all, true);
    assert_eq!((kind, class), (Some(Kind::FastRetransmit), None));
    assert!(probability > 0.7, "{probability}");
}

/// The commonest sender, with this least timeout, and an initial window in segments.
fn commonest(sack: bool, min_rto: Span, initial_window: u32) -> Setting {
    Setting {
        candidate: &candidates(sack)[0],
        min_rto,
        cost: 0.0,
        initial_window,
        initial_ssthresh: None,
        tick_phase: Span::ZERO,
    }
}

/// Before 2012 no sender had probes; all else that is tried is the same.
#[test]
fn there_were_no_probes_before_2012() {
    let all = late_second_segment();
    let tried = |secs: u64, sack: bool| {
        let terms = Terms { start: Time(Span::from_secs(secs).0), ..terms(sack) };
        let delay = Span::from_millis(50);
        let start = Start { delay, resumed: None, outage: None, window: Some(10) };
        let script = Script::new(terms, &all, &start, false).expect("something was sent");
        settings(&script, sack).map(|s| s.candidate).collect::<Vec<_>>()
    };
    let probes = |candidate: &Candidate| {
        let mut all = candidate.composition.mechanisms().iter();
        all.any(|m| m.axis == Axis::Probe && (m.name.contains("tlp") || m.name.contains("probe")))
    };
    for sack in [false, true] {
        // The first second of 2012, and the last one before it.
        let [with, without] = [1_325_376_000, 1_325_375_999].map(|secs| tried(secs, sack));
        assert!(with.iter().any(|candidate| probes(candidate)));
        let left: Vec<_> = with.into_iter().filter(|candidate| !probes(candidate)).collect();
        assert_eq!(without.len(), left.len());
        assert!(without.iter().zip(&left).all(|(a, b)| std::ptr::eq(*a, *b)));
    }
}

/// What is known to be an original is none of a candidate's retransmissions, whatever its time.
#[test]
fn a_known_original_is_a_first_transmission() {
    let mut all = late_second_segment();
    let of = |all: &[Entry]| {
        let delay = Span::from_millis(50);
        let start = Start { delay, resumed: None, outage: None, window: Some(10) };
        let script = Script::new(terms(true), all, &start, false).expect("something was sent");
        let setting = commonest(true, LEAST_RTO, 10);
        let budget = Budget { most: 1e9, best: &[] };
        let mut lists = Lists::default();
        run(&script, &setting, budget, &mut lists);
        lists.says.last().expect("seen").kind
    };
    assert_eq!(of(&all), Some(Kind::FastRetransmit));
    let at = all.len() - 2;
    all[at] = Entry::Late(*all[at].sent().expect("sent"));
    assert_eq!(of(&all), None);
}

/// The SYN/ACK was lost, and the second one is answered with data, a little sooner than the
/// shortest round trip says: that is no timeout a second after the first.
#[test]
fn data_follows_the_last_syn_ack() {
    let syn_ack = |t| match ack(t, 0, &[]) {
        Entry::Acked(acked) => Entry::Acked(Acked { with_data: true, ..acked }),
        sent => sent,
    };
    let all = [syn_ack(0.0), syn_ack(1000.0), seen(1049.9, 0), ack(1049.9, 1, &[])];
    let (kind, _, probability) = kind_and_class(&all, false);
    assert_eq!((kind, probability), (None, 1.0));
}

/// The same packets, with these numbers of their sender.
fn numbered(mut all: Vec<Entry>, numbers: [u16; 4]) -> Vec<Entry> {
    let sent = all.iter_mut().filter_map(|e| if let Entry::Sent(s) = e { Some(s) } else { None });
    sent.zip(numbers).for_each(|(sent, number)| sent.ip_id = Some(number));
    all
}

/// How many packets are missing says whether the application paused, or a timer sent what was lost
/// before the capture, and how often. Numbers count on from their largest.
#[test]
fn numbers_of_packets_say_what_was_lost_before_the_capture() {
    let paused = (None, None);
    let timed_out = (Some(Kind::Timeout), Some(TimeoutClass::NonTrigger));
    let twice = (Some(Kind::BackedOffTimeout), Some(TimeoutClass::BackedOff));
    for (after, last, expected) in
        [(200.0, 0, paused), (200.0, 1, timed_out), (600.0, 0, paused), (600.0, 2, twice)]
    {
        let numbers = [65_533, 65_534, 65_535, last];
        let all = numbered(lost_tail(&[after]), numbers);
        let (kind, class, probability) = kind_and_class(&all, false);
        assert_eq!((kind, class), expected, "{after} {last}");
        assert!(probability > 0.8, "{after} {last}: {probability}");
    }
}

/// A host that numbers the packets of all its connections together, or at random, says nothing.
#[test]
fn other_numbers_say_nothing() {
    let plain = kind_and_class(&lost_tail(&[200.0]), false);
    for numbers in [[10, 500, 90, 91], [7, 19, 32, 33], [5; 4]] {
        assert_eq!(kind_and_class(&numbered(lost_tail(&[200.0]), numbers), false), plain);
    }
}

/// Keystrokes and their echo, 36 bytes each, where the capture is at the keyboard. An echo is lost,
/// and goes out again a round trip after the SACK of the next one: it was written when its
/// keystroke had come, so long before that RACK waits no longer.
#[test]
fn a_lost_echo_is_a_fast_retransmit() {
    const LEN: u64 = 36;
    const LOST: u64 = 8;
    let echo = |t: f64, n: u64, id: u64| match seen(t, 0) {
        Entry::Sent(s) => {
            let (position, ip_id) = (n * LEN, Some(id as u16));
            let skipped = u16::from(id == LOST + 1);
            Entry::Sent(Sent { position, seq: Seq(position as u32), len: 36, ip_id, skipped, ..s })
        }
        other => other,
    };
    let to = |t: f64, n: u64, with_data: bool, sacks: u8| match ack(t, 0, &[]) {
        Entry::Acked(a) => {
            let sack = [((n + 1) * LEN, (n + 2) * LEN), (0, 0), (0, 0), (0, 0)];
            Entry::Acked(Acked { ack: n * LEN, with_data, sack, sacks, ..a })
        }
        other => other,
    };
    let key = |t: f64, n: u64| to(t, n, true, 0);
    let mut all = Vec::new();
    for n in 0..LOST {
        let t = 139.0 * n as f64;
        all.extend([key(t, n), echo(t + 50.3, n, n), to(t + 50.4, n + 1, false, 0)]);
    }
    let t = 139.0 * LOST as f64;
    all.extend([key(t, LOST), key(t + 144.0, LOST)]);
    all.extend([echo(t + 194.5, LOST + 1, LOST + 1), to(t + 194.6, LOST, false, 1)]);
    all.extend([echo(t + 244.9, LOST, LOST + 2), to(t + 245.0, LOST + 2, false, 0)]);
    let (kind, class, probability) = kind_and_class(&all, true);
    assert_eq!((kind, class), (Some(Kind::FastRetransmit), None));
    // A timer that is early by what times are known to fits, too.
    assert!(probability > 0.6, "{probability}");
}

/// What the commonest candidate says of these packets with a least timeout of 200 ms and of 1 s,
/// and whether that may differ by its account. The window is given in segments.
fn with_both_timers(entries: &[Entry], window: u32, paused: bool) -> ([Vec<Says>; 2], bool) {
    let delay = Span::from_millis(RTT as u64);
    let start = Start { delay, resumed: None, outage: None, window: Some(window) };
    let script = Script::new(terms(false), entries, &start, paused).expect("something was sent");
    let least = |ms| {
        let setting = commonest(false, Span::from_millis(ms), window);
        let mut lists = Lists::default();
        let (may_differ, _) = run(&script, &setting, Budget { most: 1e9, best: &[] }, &mut lists);
        (lists.says, may_differ)
    };
    let ((short, may_differ), (long, _)) = (least(200), least(1000));
    ([short, long], may_differ)
}

/// Where no timer has expired, no pause was long and the window was in use, the least timeout makes
/// no difference: then such candidates are not run again.
#[test]
fn the_least_timeout_matters_where_a_timer_expires_or_something_pauses() {
    let ([short, long], may_differ) = with_both_timers(&transfer(40..41, 0..0, None).0, 2, false);
    assert!(!may_differ);
    assert_eq!((short.len(), &short), (100, &long));
    let by = |entries: &[Entry], paused| {
        let ([short, long], may_differ) = with_both_timers(entries, 10, paused);
        (may_differ, short == long)
    };
    // A timer expires.
    assert_eq!(by(&lost_tail(&[260.0]), false), (true, false));
    let burst = |t: f64, segments: Range<u64>| {
        segments.flat_map(move |n| [seen(t, n), ack(t, n + 1, &[])]).collect::<Vec<_>>()
    };
    let begins = || [vec![ack(0.0, 0, &[])], burst(50.0, 0..10)].concat();
    // The application pauses for longer than the one waits, and the window restarts.
    assert_eq!(by(&[begins(), burst(950.0, 10..40)].concat(), true), (true, false));
    // For half as long the window is not in use, and it may shrink soon.
    let in_use = [begins(), burst(100.1, 10..30)].concat();
    assert_eq!(by(&in_use, true), (false, true));
    assert!(by(&[in_use, burst(160.0, 30..31)].concat(), true).0);
    // The receiver's window is closed for longer than the one waits, and no probe of it was due.
    let mut closed = begins();
    for entry in &mut closed {
        if let Entry::Acked(acked) = entry {
            acked.window = 10 * MSS - acked.ack;
        }
    }
    let opens = [vec![ack(280.0, 10, &[])], burst(330.0, 10..30)].concat();
    assert_eq!(by(&[closed, opens].concat(), false), (true, false));
}

/// What the first candidate, which counts ticks of 4 ms, says of the last segment of four, over a
/// round trip of 5 ms. It is lost before the capture, and goes again so long after the ACK of the
/// third has reached the sender.
fn after_ticks(waited: f64) -> Says {
    let mut all = vec![ack(0.0, 0, &[]), seen(5.0, 0), seen(5.1, 1), seen(5.2, 2)];
    all.extend([ack(5.2, 3, &[]), seen(10.2 + waited, 3)]);
    let delay = Span::from_millis(5);
    let terms = Terms { handshake_rtt: Some(delay).into(), ..terms(false) };
    let start = Start { delay, resumed: None, outage: None, window: None };
    let script = Script::new(terms, &all, &start, false).expect("something was sent");
    let setting = commonest(false, LEAST_RTO, 10);
    let mut lists = Lists::default();
    run(&script, &setting, Budget { most: 1e9, best: &[] }, &mut lists);
    lists.says[3]
}

/// SRTT is 5 ms, and Linux adds 200 ms at least: 52 ticks of 4 ms, and a part of one. By the phase
/// of the candidate that is 209.8 ms. The sender may have any other one, and one tick more or less.
#[test]
fn a_timer_is_known_to_two_ticks() {
    for waited in [202.0, 206.0, 209.8, 217.0] {
        let says = after_ticks(waited);
        assert_eq!((says.kind, says.cost < 2.0), (Some(Kind::Timeout), true), "{waited}: {says:?}");
    }
    for waited in [199.0, 222.0] {
        let says = after_ticks(waited);
        assert!(says.cost > 3.0, "{waited}: {says:?}");
    }
}

/// The timer of BSD counts the ticks that came while the handshake was under way, in the time of
/// the capture: here from 300 to 350 ms. With one of them its first interval has 6 ticks, else 3.
/// The first comes 425 or 125 ms after the ACK of the third segment has reached the sender.
#[test]
fn candidates_know_when_the_handshake_was() {
    let delay = Span::from_millis(RTT as u64);
    let start = Start { delay, resumed: None, outage: None, window: None };
    let candidate = candidates(false).iter().find(|c| c.least == Least::Ticks).unwrap();
    let waited = |phase, expires| {
        let mut all = vec![ack(300.0, 0, &[]), seen(350.0, 0), seen(350.1, 1), seen(350.2, 2)];
        all.extend([ack(350.2, 3, &[]), seen(expires, 3)]);
        let script = Script::new(terms(false), &all, &start, false).expect("something was sent");
        let tick_phase = Span::from_millis(phase);
        let setting = Setting { candidate, tick_phase, ..commonest(false, LEAST_RTO, 10) };
        let mut lists = Lists::default();
        run(&script, &setting, Budget { most: 1e9, best: &[] }, &mut lists);
        (lists.says[3].cost < 2.0, lists.says[3].expiry.map(|expiry| expiry.waited))
    };
    let after = |ms: u64| Some(Span::from_micros(ms * 1000 - 400_200));
    assert_eq!(waited(325, 3325.0), (true, after(3325)));
    assert_eq!(waited(25, 1525.0), (true, after(1525)));
    // One that asks for data does not end the handshake, nor does what it measures later.
    let Entry::Acked(asks) = ack(900.0, 0, &[]) else { unreachable!() };
    let asked = Entry::Acked(Acked { with_data: true, ..asks });
    let all = [ack(300.0, 0, &[]), asked, seen(950.0, 0), ack(970.0, 1, &[])];
    let script = |terms| Script::new(terms, &all, &start, false).expect("something was sent");
    assert_eq!(script(terms(false)).trip_end, ms(350.0));
    // Without one the first segment is timed.
    let made_up = Terms { opening: Opening::Unseen, handshake_rtt: None.into(), ..terms(false) };
    let timed = script(made_up);
    assert_eq!((timed.trip, timed.trip_end), (Some(Span::from_millis(70)), ms(1020.0)));
}

fn script(entries: &[Entry]) -> Script<'_> {
    let delay = Span::from_millis(RTT as u64);
    let start = Start { delay, resumed: None, outage: None, window: None };
    Script::new(terms(false), entries, &start, true).expect("something was sent")
}

/// Full segments take 9 ms on a slow link before the capture, which the handshake knows nothing of.
/// So the first of each flight comes 9 ms later than a short packet would: that is no pause.
#[test]
fn a_full_segment_takes_longer_than_the_handshake() {
    let flights = |late: f64| {
        let (mut all, mut acked, mut next) = (vec![ack(0.0, 0, &[])], 0.0, 0);
        for segments in [1, 2, 4] {
            for n in 0..segments {
                acked += if n == 0 { RTT + late } else { 9.0 };
                next += 1;
                all.extend([seen(acked, next - 1), ack(acked, next, &[])]);
            }
        }
        all
    };
    assert!(!script(&flights(9.0)).may_pause);
    assert!(script(&flights(30.0)).may_pause);
}

/// The first segment is lost, and the duplicate that the second one causes lets the third go: what
/// came before the duplicate is no more than the initial window.
#[test]
fn a_duplicate_ends_the_initial_window() {
    let all = [
        ack(0.0, 0, &[]),
        seen(50.0, 1),
        ack(50.0, 0, &[]),
        seen(100.0, 2),
        ack(100.0, 0, &[]),
        seen(150.0, 0),
        ack(150.0, 3, &[]),
    ];
    assert_eq!(script(&all).windows, [2, 3]);
}

/// What limited the candidate that explains all of it calmly, until the last packet at least.
fn limits(terms: Terms, entries: &[Entry], delay: Span) -> Option<Divided> {
    let passed = Passed { entries, others: &[], all: true, timed: false, arrivals: None };
    let end = entries.last()?.at();
    calm(terms, passed, delay, end, Span::ZERO)
}

/// A window stays closed for 100 days or 200, as where a clock is set from 1970: timers of window
/// probes take no more steps.
#[test]
fn what_a_silence_takes_does_not_grow_with_it() {
    let steps = |days: f64| {
        let mut all = vec![ack(0.0, 0, &[])];
        all.extend((0..6).map(|n| seen(50.0, n)));
        let closes = |entry| match entry {
            Entry::Acked(acked) => Entry::Acked(Acked { window: 0, ..acked }),
            other => other,
        };
        all.push(closes(ack(50.0, 6, &[])));
        let opens = 100.0 + days * 86_400_000.0;
        all.push(ack(opens, 6, &[]));
        all.extend((6..12).map(|n| seen(opens + 50.0, n)));
        all.push(ack(opens + 50.0, 12, &[]));
        let delay = Span::from_millis(RTT as u64);
        steps::of(|| assert!(limits(terms(false), &all, delay).is_some()))
    };
    let short = steps(100.0);
    assert!(short > 0);
    assert_eq!(short, steps(200.0));
}

/// A pause costs all candidates the same, so that none is better than the first one that explains
/// the rest; and without the pause the segment would have been on its way for five seconds. What
/// limited it is known when that is tried.
#[test]
fn what_a_pause_explains_is_tried_once() {
    let all = [ack(0.0, 0, &[]), seen(5000.0, 0), ack(5000.0, 1, &[])];
    let delay = Span::from_millis(RTT as u64);
    let mut first = None;
    let steps = steps::of(|| first = limits(terms(true), &all, delay));
    assert_eq!(steps, 1);
    let lifetime = first.expect("the first one explains it").lifetime;
    assert!(lifetime.of(Limit::Application) >= Span::from_millis(4900), "{lifetime:?}");
}

/// A sender that has sent new data as a tail loss probe waited for a loss: what explains all
/// without one is preferred.
#[test]
fn a_calm_sender_sends_no_probe() {
    let is_calm = |acked: f64, third: f64| {
        let all = [
            ack(0.0, 0, &[]),
            seen(50.0, 0),
            seen(50.0, 1),
            ack(acked, 2, &[]),
            seen(third, 2),
            ack(third, 3, &[]),
        ];
        let delay = Span::from_millis(RTT as u64);
        let start = Start { delay, resumed: None, outage: None, window: Some(2) };
        let script = Script::new(terms(true), &all, &start, false).unwrap();
        let setting = commonest(true, Span::from_millis(200), 2);
        let mut lists = Lists::default();
        run(&script, &setting, Budget { most: 1e9, best: &[] }, &mut lists);
        assert_eq!((lists.says.len(), lists.says[2].kind), (3, None));
        lists.are_calm()
    };
    assert!(is_calm(50.0, 100.0));
    assert!(!is_calm(150.0, 150.0));
}
