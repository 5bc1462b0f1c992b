//! Worked examples, in segments of 1000 bytes on a path of 10 ms that carries ten of them.

use super::loss::{inflight_at_loss, is_inflight_too_high};
use super::*;
use crate::recovery::window::fixture::{flying, ms, round};

/// `OnInit`: the handshake's round trip is the least so far, since the first data goes out.
#[test]
fn the_handshake_measures_the_round_trip() {
    let (mut bbr, mut s) = (Bbr3::default(), flying(10));
    (s.now, s.srtt) = (ms(7), Span::from_millis(10));
    bbr.on_restart(&s);
    assert_eq!((bbr.min_rtt, bbr.min_rtt_stamp), (10_000_000, ms(7)));
    s.srtt = Span::from_millis(12);
    let sample = RateSample { rtt: Some(Span::from_millis(12)), ..round(&mut s, 2) };
    bbr.control(&s, &sample);
    assert_eq!((bbr.min_rtt, bbr.min_rtt_stamp), (10_000_000, ms(7)));
}

/// A megabyte a second, and 10 ms.
fn steady(mode: Mode) -> Bbr3 {
    Bbr3 {
        mode,
        began: true,
        max_bw: [1_000_000; 2],
        bw: 1_000_000,
        min_rtt: 10_000_000,
        probe_rtt_min_delay: 10_000_000,
        full_bw_reached: true,
        rate: 1_000_000,
        has_seen_rtt: true,
        bw_probe_wait: Span::from_secs(2),
        ..Bbr3::default()
    }
}

/// A segment that was lost of those in flight, as the `lost`-th.
fn lost(seq: u64, tx_in_flight: u32, lost: u64) -> LostSegment {
    LostSegment {
        seq: seq * 1000,
        end: (seq + 1) * 1000,
        tx_in_flight,
        lost,
        app_limited: false,
        total_delivered: 1,
    }
}

/// Ten segments in 10 ms, at 2.77 of it.
#[test]
fn the_first_rate() {
    assert_eq!(Bbr3::default().pacing_rate(&flying(10)), Some(2_770_000));
}

#[test]
fn each_mode_has_its_gains() {
    let of = |mode: Mode| mode.gains();
    assert_eq!(of(Mode::Startup), (277, 200));
    assert_eq!(of(Mode::Drain), (50, 200));
    assert_eq!(of(Mode::Down), (90, 200));
    assert_eq!(of(Mode::Cruise), (100, 200));
    assert_eq!(of(Mode::Refill), (100, 200));
    assert_eq!(of(Mode::Up), (125, 225));
    assert_eq!(of(Mode::ProbeRtt), (100, 50));
}

/// Three rounds without a quarter more end startup; what is above a BDP drains.
#[test]
fn startup_and_drain() {
    let (mut bbr, mut s) = (Bbr3::default(), flying(30));
    for n in 1..=3 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
        assert_eq!((bbr.mode, bbr.full_bw_count), (Mode::Startup, n as u32 - 1));
        assert_eq!((bbr.max_bw(), bbr.bw), (1_000_000, 1_000_000));
        // The first rate, of 30 segments, does not come down yet.
        assert_eq!(bbr.pacing_rate(&s), Some(8_310_000));
    }
    let sample = round(&mut s, 4);
    let c = bbr.control(&s, &sample);
    // Half of a megabyte a second, less 1 %.
    assert_eq!((bbr.mode, bbr.pacing_rate(&s)), (Mode::Drain, Some(495_000)));
    // Two BDPs, and the eleventh segment of the last round's ACK; cwnd was 30.
    assert_eq!((c.cwnd, bbr.extra_acked.get()), (21_000, 1_000));
    // More than a BDP keeps it there for three rounds.
    for n in 5..=7 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
        assert_eq!(bbr.mode, Mode::Drain, "{n}");
    }
    let mut few = flying(10);
    let sample = RateSample { prior_delivered: 1, ..round(&mut few, 7) };
    let mut drained = Bbr3 { next_round: 5, ..steady(Mode::Drain) };
    drained.control(&few, &sample);
    // Down ends with the same ACK: there is nothing to drain.
    assert_eq!((drained.mode, drained.ack_phase), (Mode::Cruise, AckPhase::ProbeStopping));
    let mut more = flying(11);
    let sample = RateSample { prior_delivered: 1, ..round(&mut more, 7) };
    let mut drains = Bbr3 { next_round: 5, ..steady(Mode::Drain) };
    drains.control(&more, &sample);
    assert_eq!(drains.mode, Mode::Drain);
    // The fourth round ends it.
    let sample = round(&mut s, 8);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.pacing_rate(&s)), (Mode::Down, Some(891_000)));
}

/// A round that brings a quarter more puts the end of startup off, and one that the application
/// limited says nothing.
#[test]
fn a_quarter_more() {
    let (mut bbr, mut s) = (Bbr3::default(), flying(30));
    for n in 1..=3 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
    }
    let sample = RateSample { app_limited: true, ..round(&mut s, 4) };
    bbr.control(&s, &sample);
    assert_eq!((bbr.full_bw_count, bbr.full_bw_reached), (2, false));
    let sample = RateSample {
        delivered: Some(25),
        interval: Some(Span::from_millis(20)),
        ..round(&mut s, 5)
    };
    bbr.control(&s, &sample);
    assert_eq!((bbr.full_bw, bbr.full_bw_count), (1_250_000, 0));
}

/// The largest rate of this cycle and of the one before it. A cycle without a sample does not
/// count.
#[test]
fn two_cycles_of_bandwidth() {
    let mut bbr = Bbr3::default();
    let mut after = |advance: bool, rate, app_limited| {
        if advance {
            bbr.advance_max_bw();
        }
        bbr.update_max_bw(&Rs { delivery_rate: rate, app_limited, ..Rs::default() });
        bbr.max_bw()
    };
    assert_eq!(after(false, 100, false), 100);
    assert_eq!(after(false, 90, false), 100);
    assert_eq!(after(true, 80, false), 100);
    assert_eq!(after(true, 50, false), 80);
    assert_eq!(after(false, 70, true), 80);
    assert_eq!(after(false, 81, true), 81);
    assert_eq!(after(true, 0, false), 81);
    assert_eq!(after(true, 0, false), 81);
    assert_eq!(after(false, 10, false), 81);
    assert_eq!(after(true, 5, false), 10);
}

/// Five seconds for the probe, ten for the model.
#[test]
fn least_round_trips() {
    let (mut bbr, mut s) = (steady(Mode::Cruise), flying(10));
    let mut after = |at, rtt| {
        s.now = ms(at);
        bbr.update_min_rtt(&s, &Rs { rtt: Some(Span::from_millis(rtt)), ..Rs::default() });
        let of = |nanos| nanos / 1_000_000;
        (of(bbr.probe_rtt_min_delay), of(bbr.min_rtt), bbr.probe_rtt_expired)
    };
    assert_eq!(after(1_000, 8), (8, 8, false));
    assert_eq!(after(2_000, 9), (8, 8, false));
    assert_eq!(after(6_000, 9), (8, 8, false));
    assert_eq!(after(6_001, 9), (9, 8, true));
    assert_eq!(after(11_000, 12), (9, 8, false));
    // The 8 ms were of 1 s; what follows is the least of the last five seconds.
    assert_eq!(after(11_001, 12), (9, 9, false));
    assert_eq!(after(11_002, 12), (12, 9, true));
    assert_eq!(after(11_003, 7), (7, 7, false));
}

/// Down until a BDP is in flight, cruise for two to three seconds, a round of refill, and up until
/// three rounds bring no more.
#[test]
fn the_cycle() {
    let (mut bbr, mut s) = (steady(Mode::Down), flying(11));
    bbr.next_round = 1_000_000;
    let quiet = |s: &mut State, at| {
        s.now = ms(at);
        RateSample {
            prior_delivered: 5,
            delivered_at: s.now,
            departs: s.now,
            ..round(&mut flying(1), 1)
        }
    };
    let sample = quiet(&mut s, 100);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.pacing_rate(&s)), (Mode::Down, Some(891_000)));
    let mut s = flying(10);
    let sample = quiet(&mut s, 101);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.pacing_rate(&s)), (Mode::Cruise, Some(990_000)));
    let sample = quiet(&mut s, 2_000);
    bbr.control(&s, &sample);
    assert_eq!(bbr.mode, Mode::Cruise);
    (bbr.bw_shortterm, bbr.inflight_shortterm) = (700_000, 7_000);
    let sample = quiet(&mut s, 2_001);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.next_round), (Mode::Refill, 11));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (INFINITY, INFINITY));
    assert_eq!(bbr.pacing_rate(&s), Some(990_000));
    // A round of it.
    let sample = quiet(&mut s, 2_005);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.is_bw_probe_sample), (Mode::Refill, false));
    let sample = round(&mut s, 2);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.is_bw_probe_sample), (Mode::Up, true));
    assert_eq!((bbr.pacing_rate(&s), bbr.full_bw), (Some(1_237_500), 1_000_000));
    // cwnd has 2.25 BDPs, three segments in which ACKs may come together, and two for itself.
    assert_eq!(bbr.quantized(&s, bbr.bdp(&s, bbr.bw, 225)), 24_500);
    for n in 3..=4 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
        assert_eq!((bbr.mode, bbr.full_bw_count), (Mode::Up, n as u32 - 2));
    }
    let sample = round(&mut s, 5);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.ack_phase), (Mode::Down, AckPhase::ProbeStopping));
    // A round later the cycle's samples are over.
    bbr.max_bw = [3, 1_000_000];
    let sample = round(&mut s, 6);
    bbr.control(&s, &sample);
    assert_eq!((bbr.max_bw, bbr.is_bw_probe_sample), ([1_000_000, 0], false));
}

/// The wait is drawn from the time: the same each time, between two and three seconds, with one of
/// two rounds.
#[test]
fn the_wait_between_probes() {
    let mut s = flying(10);
    let mut seen = [0; 2];
    let mut waits: alloc::vec::Vec<u64> = alloc::vec::Vec::new();
    for n in 0..1_000 {
        s.now = Time(n * 1_234_567);
        let mut twice = [steady(Mode::Up), steady(Mode::Up)];
        for bbr in &mut twice {
            bbr.start_down(&s);
        }
        let [bbr, same] = twice;
        assert_eq!(bbr.bw_probe_wait, same.bw_probe_wait);
        seen[bbr.rounds_since_probe_up as usize] += 1;
        waits.push(bbr.bw_probe_wait.0 / 100_000_000);
    }
    assert!(seen.iter().all(|&n| (450..550).contains(&n)), "{seen:?}");
    for tenth in 20..30 {
        let n = waits.iter().filter(|&&wait| wait == tenth).count();
        assert!((80..120).contains(&n), "{tenth}: {n}");
    }
}

/// As many rounds as a BDP has segments, or 63.
#[test]
fn rounds_between_probes() {
    let mut s = flying(10);
    s.now = ms(1_000);
    for (bw, rounds) in [(1_000_000, 10), (1_010_000, 11), (10_000_000, 63)] {
        let mut bbr = Bbr3 { bw, cwnd: INFINITY, ..steady(Mode::Cruise) };
        bbr.bw_probe_wait = Span::from_secs(2);
        for (since, mode) in [(rounds - 1, Mode::Cruise), (rounds, Mode::Refill)] {
            bbr.rounds_since_probe_up = since;
            bbr.update_cycle_phase(&s, &Rs { prior_delivered: Some(0), ..Rs::default() });
            assert_eq!(bbr.mode, mode, "{rounds}");
        }
    }
}

/// 2 % of what was in flight.
#[test]
fn the_threshold_of_loss() {
    let mut s = flying(10);
    assert!(!is_inflight_too_high(&s, 2_000, 100_000));
    assert!(is_inflight_too_high(&s, 2_000, 99_000));
    // Segment 99 of 99: with 979 bytes of it, 1,979 of 98,979 are lost.
    assert_eq!(inflight_at_loss(1_000, 2_000, 99_000), 98_979);
    assert_eq!(inflight_at_loss(1_000, 1_000, 20_000), 19_387);
    // More than 2 % of the others were lost already.
    assert_eq!(inflight_at_loss(1_000, 3_000, 100_000), 99_000);
    s.sack = false;
    assert!(is_inflight_too_high(&s, 1_000, 100_000));
    assert!(!is_inflight_too_high(&s, 0, 100_000));
}

/// A probe that loses too much ends, and what was in flight is the bound, but no less than 0.7 BDP.
#[test]
fn a_probe_too_high() {
    let mut s = flying(40);
    s.now = ms(500);
    for (bw, bound) in [(1_000_000, 19_387), (4_000_000, 28_000)] {
        let mut bbr = Bbr3 { bw, is_bw_probe_sample: true, ..steady(Mode::Up) };
        // One of 50 is no more than 2 %.
        bbr.on_lost(&s, &lost(0, 50, 1));
        assert_eq!((bbr.mode, bbr.inflight_longterm), (Mode::Up, INFINITY));
        bbr.on_lost(&s, &lost(1, 20, 1));
        assert_eq!((bbr.mode, bbr.inflight_longterm), (Mode::Down, bound));
        assert!(bbr.prev_probe_too_high && !bbr.is_bw_probe_sample);
        // Once a probe.
        bbr.on_lost(&s, &lost(2, 4, 1));
        assert_eq!(bbr.inflight_longterm, bound);
    }
    // What the application limited says nothing of the path, but ends the probe.
    let mut bbr = Bbr3 { is_bw_probe_sample: true, ..steady(Mode::Up) };
    bbr.on_lost(&s, &LostSegment { app_limited: true, ..lost(1, 20, 1) });
    assert_eq!((bbr.mode, bbr.inflight_longterm), (Mode::Down, INFINITY));
}

/// Between probes rate and volume come down to what was delivered, and by no more than 0.7 a round.
#[test]
fn losses_between_probes() {
    let (mut bbr, mut s) = (steady(Mode::Cruise), flying(20));
    (bbr.loss_round_delivered, bbr.next_round) = (INFINITY, INFINITY);
    bbr.bw_probe_wait = Span::from_secs(100);
    let slow =
        |s: &mut State, n, delivered| RateSample { delivered: Some(delivered), ..round(s, n) };
    let sample = slow(&mut s, 1, 6);
    bbr.control(&s, &sample);
    bbr.on_lost(&s, &LostSegment { total_delivered: 11, ..lost(3, 20, 1) });
    assert_eq!((bbr.loss_round_delivered, bbr.loss_in_round), (11, true));
    assert_eq!(bbr.bw_shortterm, INFINITY);
    // The round of the loss ends: 0.7 of a megabyte and of cwnd, for 6 segments were delivered.
    let sample = slow(&mut s, 2, 6);
    s.cwnd = 20_000;
    bbr.control(&s, &sample);
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (700_000, 14_000));
    assert_eq!((bbr.bw, bbr.pacing_rate(&s)), (700_000, Some(693_000)));
    assert!(!bbr.loss_in_round);
    // A round without a loss changes nothing.
    let sample = slow(&mut s, 3, 6);
    bbr.control(&s, &sample);
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (700_000, 14_000));
    // Another loss: 6 segments in 10 ms are more than 0.7 of 700,000; 0.7 of 14 are more than six.
    bbr.on_lost(&s, &LostSegment { total_delivered: 31, ..lost(9, 20, 1) });
    let sample = slow(&mut s, 4, 6);
    let c = bbr.control(&s, &sample);
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (600_000, 9_800));
    assert_eq!(c.cwnd, 9_800);
    // Not while probing.
    let mut probes = Bbr3 { loss_in_round: true, loss_round_start: true, ..steady(Mode::Refill) };
    probes.update_congestion_signals(&Rs::default());
    assert_eq!((probes.bw_shortterm, probes.loss_in_round), (INFINITY, false));
}

/// 15 % of the bound are left to others, at least a segment, but not of the last four.
#[test]
fn some_of_the_bound_is_left_to_others() {
    let s = flying(10);
    let of = |bound| Bbr3 { inflight_longterm: bound, ..steady(Mode::Cruise) };
    assert_eq!(of(100_000).inflight_with_headroom(&s), 85_000);
    assert_eq!(of(6_000).inflight_with_headroom(&s), 5_000);
    assert_eq!(of(4_500).inflight_with_headroom(&s), 4_000);
    assert_eq!(of(INFINITY).inflight_with_headroom(&s), INFINITY);
    // The bound counts in the other modes of the cycle, and not outside.
    let bounded = |mode| {
        let mut bbr = Bbr3 { mode, cwnd: 30_000, ..of(20_000) };
        bbr.bound_cwnd(&s);
        bbr.cwnd
    };
    let modes = [Mode::Down, Mode::Refill, Mode::Up, Mode::Cruise, Mode::ProbeRtt, Mode::Drain];
    assert_eq!(modes.map(bounded), [20_000, 20_000, 20_000, 17_000, 17_000, 30_000]);
    // Down ends only with the headroom free.
    let mut bbr = Bbr3 { cwnd: 30_000, ..of(11_000) };
    bbr.mode = Mode::Down;
    let rs = Rs { prior_delivered: Some(0), ..Rs::default() };
    bbr.next_round = 1;
    bbr.update_cycle_phase(&flying(10), &rs);
    assert_eq!(bbr.mode, Mode::Down);
    bbr.update_cycle_phase(&flying(9), &rs);
    assert_eq!(bbr.mode, Mode::Cruise);
}

/// A probe that fills its bound raises it: by one segment in the first round, two in the second.
#[test]
fn the_bound_rises() {
    let mut s = flying(20);
    s.now = ms(100);
    let mut bbr = Bbr3 { inflight_longterm: 20_000, cwnd: 20_000, ..steady(Mode::Refill) };
    bbr.cwnd_limited = [false, true];
    bbr.round_start = true;
    let rs = |newly_acked| Rs { prior_delivered: Some(0), newly_acked, ..Rs::default() };
    bbr.update_cycle_phase(&s, &rs(1_000));
    assert_eq!((bbr.mode, bbr.probe_up_acked_per_inc), (Mode::Up, 20_000));
    bbr.round_start = false;
    for (acked, bound) in [(19_000, 20_000), (1_000, 21_000)] {
        bbr.cwnd = bbr.inflight_longterm;
        bbr.update_cycle_phase(&s, &rs(acked));
        assert_eq!(bbr.inflight_longterm, bound);
    }
    bbr.round_start = true;
    bbr.cwnd = 21_000;
    bbr.update_cycle_phase(&s, &rs(0));
    assert_eq!(bbr.probe_up_acked_per_inc, 10_500);
    bbr.round_start = false;
    bbr.update_cycle_phase(&s, &rs(21_000));
    assert_eq!((bbr.inflight_longterm, bbr.full_bw_count), (23_000, 0));
    // Not where cwnd is not used, but what was in flight without loss is safe.
    bbr.cwnd_limited = [false, false];
    bbr.cwnd = 30_000;
    bbr.update_cycle_phase(&s, &rs(90_000));
    assert_eq!(bbr.inflight_longterm, 23_000);
    bbr.update_cycle_phase(&s, &Rs { tx_in_flight: 25_000, ..rs(0) });
    assert_eq!(bbr.inflight_longterm, 25_000);
    bbr.update_cycle_phase(&s, &Rs { tx_in_flight: 40_000, lost: 1_000, ..rs(0) });
    assert_eq!(bbr.inflight_longterm, 25_000);
}

/// After a probe too high the next one ends at its bound. If a round shows no loss, the one after
/// it follows at once.
#[test]
fn a_probe_with_caution() {
    let mut s = flying(20);
    s.now = ms(100);
    let rs = Rs { prior_delivered: Some(0), ..Rs::default() };
    let cautious = Bbr3 {
        inflight_longterm: 20_000,
        prev_probe_too_high: true,
        is_bw_probe_sample: true,
        ..steady(Mode::Up)
    };
    let mut below = Bbr3 { ..cautious };
    below.update_cycle_phase(&flying(19), &rs);
    assert_eq!(below.mode, Mode::Up);
    let mut bbr = cautious;
    bbr.update_cycle_phase(&s, &rs);
    assert_eq!(bbr.mode, Mode::Down);
    assert!(bbr.prev_probe_precautionary && !bbr.prev_probe_too_high);
    bbr.round_start = true;
    bbr.update_cycle_phase(&s, &rs);
    assert_eq!((bbr.mode, bbr.prev_probe_precautionary), (Mode::Refill, false));
}

/// Startup ends on six ranges lost in a round of recovery, of more than 2 %.
#[test]
fn startup_ends_by_loss() {
    let (mut s, mut calm) = (flying(100), flying(100));
    s.phase = Phase::Recovery;
    let ended = |s: &mut State, ranges: u64, in_flight| {
        let mut bbr = Bbr3 { full_bw_reached: false, ..steady(Mode::Startup) };
        (bbr.next_round, bbr.rate) = (INFINITY, 2_770_000);
        // Two segments for each range.
        for n in 0..ranges {
            bbr.on_lost(s, &lost(4 * n, in_flight, 2 * n + 1));
            bbr.on_lost(s, &lost(4 * n + 1, in_flight, 2 * n + 2));
        }
        let sample = RateSample {
            delivered: Some(15),
            lost: 2 * ranges,
            tx_in_flight: in_flight,
            ..round(s, 1)
        };
        bbr.control(s, &sample);
        (bbr.mode, bbr.inflight_longterm, bbr.full_bw_reached)
    };
    assert_eq!(ended(&mut s, 5, 100), (Mode::Startup, INFINITY, false));
    // 15 segments were delivered in a round; a BDP is 10.
    assert_eq!(ended(&mut s, 6, 100), (Mode::Drain, 15_000, true));
    assert_eq!(ended(&mut s, 6, 600), (Mode::Startup, INFINITY, false));
    assert_eq!(ended(&mut calm, 6, 100), (Mode::Startup, INFINITY, false));
}

/// What losses did is taken back if they were none, and the probe begins anew.
#[test]
fn spurious_losses() {
    let mut s = flying(20);
    s.now = ms(100);
    let mut bbr = Bbr3 { is_bw_probe_sample: true, inflight_longterm: 25_000, ..steady(Mode::Up) };
    bbr.on_lost(&s, &lost(0, 20, 1));
    assert_eq!((bbr.mode, bbr.inflight_longterm), (Mode::Down, 19_387));
    (bbr.bw_shortterm, bbr.inflight_shortterm) = (700_000, 7_000);
    bbr.on_undo(&s);
    assert_eq!((bbr.mode, bbr.inflight_longterm), (Mode::Refill, 25_000));
    assert_eq!((bbr.bw_shortterm, bbr.inflight_shortterm), (INFINITY, INFINITY));
    // Of startup, too; but a probe of the round trip goes on.
    for (mode, after) in [(Mode::Drain, Mode::Startup), (Mode::ProbeRtt, Mode::ProbeRtt)] {
        let mut bbr = steady(mode);
        bbr.undo.mode = Some(Mode::Startup);
        bbr.on_undo(&s);
        assert_eq!((bbr.mode, bbr.full_bw_reached), (after, false));
    }
}

/// A timeout has cwnd at one segment before the losses are told. If it was spurious, the window of
/// before, 10 segments, comes back with the next ACK (`RestoreCwnd`), which adds what it delivers
/// (`SetCwnd`).
#[test]
fn a_spurious_timeout() {
    let mut s = flying(10);
    let mut law = steady(Mode::Cruise);
    law.on_timeout(&s, 10_000, false);
    (s.phase, s.cwnd) = (Phase::Loss, 1000);
    law.on_lost(&s, &lost(0, 10, 1));
    law.on_expired(&s, &RateSample::default());
    law.on_undo(&s);
    s.phase = Phase::Open;
    let sample = round(&mut s, 1);
    assert_eq!(law.control(&s, &sample).cwnd, 11_000);
}

/// Five seconds without a round trip as short: half of a BDP for 200 ms and a round, then cwnd
/// again.
#[test]
fn probe_of_the_round_trip() {
    let (mut bbr, mut s) = (steady(Mode::Cruise), flying(12));
    bbr.bw_probe_wait = Span::from_secs(100);
    bbr.rounds_since_probe_up = 0;
    let longer = |s: &mut State, at, prior| {
        s.now = ms(at);
        RateSample {
            delivered: Some(10),
            interval: Some(Span::from_millis(10)),
            prior_delivered: prior,
            total_delivered: 1_000 + prior,
            rtt: Some(Span::from_millis(12)),
            acked: 1,
            ..RateSample::default()
        }
    };
    let sample = longer(&mut s, 5_000, 1);
    assert!(!bbr.control(&s, &sample).app_limited);
    assert_eq!(bbr.mode, Mode::Cruise);
    let sample = longer(&mut s, 5_001, 2);
    let c = bbr.control(&s, &sample);
    assert_eq!((bbr.mode, c.cwnd, c.app_limited), (Mode::ProbeRtt, 5_000, true));
    assert_eq!((bbr.prior_cwnd, bbr.probe_rtt_done, bbr.min_rtt), (12_000, None, 10_000_000));
    assert_eq!(bbr.pacing_rate(&s), Some(990_000));
    // With half of a BDP in flight the 200 ms begin, and a round has to pass as well.
    let mut s = flying(5);
    let sample = longer(&mut s, 5_010, 3);
    bbr.control(&s, &sample);
    assert_eq!((bbr.probe_rtt_done, bbr.next_round), (Some(ms(5_210)), 1_003));
    let sample = longer(&mut s, 5_211, 1_002);
    bbr.control(&s, &sample);
    assert_eq!(bbr.mode, Mode::ProbeRtt);
    let sample = longer(&mut s, 5_212, 1_003);
    let c = bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.probe_rtt_min_stamp), (Mode::Cruise, ms(5_212)));
    // cwnd as it was, and one segment for the ACK.
    assert_eq!(c.cwnd, 13_000);
    // Not before the 200 ms are over, and back to startup where that had not ended.
    let mut early = Bbr3 { probe_rtt_done: Some(ms(5_210)), ..steady(Mode::ProbeRtt) };
    early.probe_rtt_round_done = true;
    s.now = ms(5_210);
    early.check_probe_rtt_done(&s);
    assert_eq!(early.mode, Mode::ProbeRtt);
    s.now = ms(5_211);
    early.full_bw_reached = false;
    early.check_probe_rtt_done(&s);
    assert_eq!(early.mode, Mode::Startup);
}

/// After an idle time pacing goes on at the bandwidth, and the idleness stands for the probe of the
/// round trip.
#[test]
fn an_idle_time_stands_for_the_probe() {
    let (mut bbr, mut s) = (steady(Mode::Cruise), flying(10));
    bbr.bw_probe_wait = Span::from_secs(100);
    bbr.rate = 1;
    s.now = ms(20_000);
    assert_eq!(bbr.on_restart(&s), s.cwnd);
    assert_eq!(bbr.pacing_rate(&s), Some(990_000));
    let sample = round(&mut s, 2_001);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::Cruise, false));
}

/// The end of a recovery restores cwnd, as far as the model lets it.
#[test]
fn cwnd_after_recovery() {
    let (mut bbr, mut s) = (steady(Mode::Cruise), flying(10));
    bbr.bw_probe_wait = Span::from_secs(100);
    s.cwnd = 18_000;
    assert_eq!(bbr.on_loss(&s, 0), 18_000);
    s.phase = Phase::Recovery;
    s.cwnd = 6_000;
    let sample = RateSample { prior_delivered: 0, ..round(&mut s, 1) };
    bbr.next_round = 5;
    assert_eq!(bbr.control(&s, &sample).cwnd, 7_000);
    s.phase = Phase::Open;
    s.cwnd = 7_000;
    assert_eq!(bbr.control(&s, &sample).cwnd, 19_000);
    // Two BDPs, and two segments that came at once.
    s.cwnd = 50_000;
    assert_eq!(bbr.control(&s, &sample).cwnd, 20_000 + bbr.extra_acked.get());
}

/// ACKs that deliver at once what the bandwidth would have later: of one round in startup, of ten
/// after it.
#[test]
fn aggregation() {
    for (full, rounds) in [(true, 10), (false, 1)] {
        let mut s = flying(10);
        let mut bbr = Bbr3 { full_bw_reached: full, cwnd: 100_000, ..steady(Mode::Cruise) };
        let mut after = |at, acked: u64| {
            s.now = ms(at);
            bbr.update_extra_acked(&s, &Rs { newly_acked: acked * 1_000, ..Rs::default() });
            bbr.extra_acked.get() / 1_000
        };
        assert_eq!(after(10, 8), 8);
        // 8 and 9 in 4 ms are 13 more than a segment a millisecond.
        assert_eq!(after(14, 9), 13);
        bbr.round_count = rounds;
        s.now = ms(500);
        bbr.update_extra_acked(&s, &Rs::default());
        assert_eq!(bbr.extra_acked.get(), 13_000, "{full}");
        bbr.round_count = rounds + 1;
        bbr.update_extra_acked(&s, &Rs { newly_acked: 1_000, ..Rs::default() });
        assert!(bbr.extra_acked.get() < 13_000, "{full}");
    }
}

/// A cwnd that holds data back counts for this round and the next.
#[test]
fn limited_by_cwnd() {
    let (mut bbr, s) = (steady(Mode::Up), flying(10));
    let rounds =
        |bbr: &mut Bbr3| bbr.update_round(&Rs { prior_delivered: Some(9), ..Rs::default() });
    bbr.on_sent(&s, 9_000, Span::ZERO);
    assert!(!bbr.cwnd_limited.contains(&true));
    bbr.on_sent(&s, 10_000, Span::ZERO);
    rounds(&mut bbr);
    assert!(bbr.cwnd_limited.contains(&true));
    rounds(&mut bbr);
    assert!(!bbr.cwnd_limited.contains(&true));
}

/// `QuantizationBudget` has room for three bundles of a millisecond each (`SetSendQuantum`), of two
/// segments at least: on a short path that is more than the BDP.
#[test]
fn three_bundles_fit_into_cwnd() {
    for (rate, inflight) in [(10_000_000, 30_000), (1_000_000, 6_000)] {
        let bbr = Bbr3 { rate, min_rtt: 1_000_000, ..steady(Mode::Cruise) };
        assert_eq!(bbr.inflight(&flying(10), rate), inflight);
    }
}
