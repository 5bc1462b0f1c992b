//! Samples by hand, in segments of 1000 bytes on a path of 10 ms.

use super::*;
use crate::recovery::window::fixture::{flying, ms, round};

/// 10 * 2^24 / 10,000 us.
const BW: u64 = 16_777;

/// The first rate: ten segments in 10 ms, at 739/256 of it, less 1 %.
#[test]
fn the_first_rate() {
    let bbr = Bbr::default();
    // 16,777 * 1000 * 739 / 256 = 48,430,480; * 990,000 / 2^24.
    assert_eq!(bbr.pacing_rate(&flying(10)), Some(2_857_814));
}

/// Three rounds without a quarter more end startup; what is above a BDP drains; then the cycle.
#[test]
fn startup_drain_and_cycle() {
    let (mut bbr, mut s) = (Bbr::default(), flying(30));
    for n in 1..=3 {
        let sample = round(&mut s, n);
        let c = bbr.control(&s, &sample);
        assert_eq!((bbr.mode, bbr.full_bw_count), (Mode::Startup, n as u32 - 1));
        // Below 29 segments of 739/256 and three bundles: one more for the one acknowledged.
        assert_eq!((c.cwnd, c.ssthresh), (31_000, u64::MAX));
    }
    let sample = round(&mut s, 4);
    let c = bbr.control(&s, &sample);
    // A BDP of ten segments and three bundles: 30 segments in 10 ms at 739/256 are 8,573,000 bytes
    // a second, of which a bundle takes eight segments. 30 and a bundle are in flight.
    assert_eq!((bbr.mode, c.ssthresh), (Mode::Drain, 34_000));
    assert_eq!(bbr.pacing_rate(&s), Some(340_308));
    // Bundles have two segments now, so that 16 are no more than a BDP.
    let mut s = flying(16);
    let sample = round(&mut s, 4);
    let again = RateSample { prior_delivered: 32, ..sample };
    let c = bbr.control(&s, &again);
    // At 40 ms the hash says 3: the cycle begins at 7 - 3 + 1.
    assert_eq!((bbr.mode, bbr.cycle_index, c.ssthresh), (Mode::ProbeBw, 5, u64::MAX));
    assert_eq!(bbr.pacing_rate(&s), Some(989_987));
    // Two ACKs of a segment at one time. Twice the BDP and three bundles are more than one more.
    assert_eq!(bbr.extra_acked.get(), 2);
    assert_eq!(bbr.bdp(BW, CWND_GAIN), 20);
    assert_eq!(c.cwnd, 17_000);
}

/// A round that brings a quarter more puts the end of startup off.
#[test]
fn a_quarter_more() {
    let (mut bbr, mut s) = (Bbr::default(), flying(30));
    for n in 1..=3 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
    }
    // 16,777 * 320 / 256 = 20,971; 13 segments are 21,810.
    let sample = RateSample { delivered: Some(13), ..round(&mut s, 4) };
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.full_bw, bbr.full_bw_count), (Mode::Startup, 21_810, 0));
}

/// A sample that the application limited does not count, unless it is the largest.
#[test]
fn limited_by_the_application() {
    let (mut bbr, mut s) = (Bbr::default(), flying(10));
    let sample = round(&mut s, 1);
    bbr.control(&s, &sample);
    for n in 2..=20 {
        let sample = RateSample { delivered: Some(5), app_limited: true, ..round(&mut s, n) };
        bbr.control(&s, &sample);
        assert_eq!((bbr.bw.get(), bbr.mode), (BW, Mode::Startup));
    }
    let sample = RateSample { delivered: Some(20), app_limited: true, ..round(&mut s, 21) };
    bbr.control(&s, &sample);
    assert_eq!(bbr.bw.get(), 33_554);
}

/// A bandwidth that has fallen is found after ten rounds.
#[test]
fn ten_rounds_of_bandwidth() {
    let (mut bbr, mut s) = (Bbr::default(), flying(10));
    let sample = round(&mut s, 1);
    bbr.control(&s, &sample);
    for n in 2..=12 {
        let sample = RateSample { delivered: Some(5), ..round(&mut s, n) };
        bbr.control(&s, &sample);
        assert_eq!(bbr.bw.get(), if n < 12 { BW } else { 8_388 });
    }
}

/// The probe lasts until a quarter more is in flight or lost; its opposite until that is drained.
#[test]
fn gains_of_the_cycle() {
    let mut s = flying(20);
    s.now = ms(50);
    let sample = RateSample {
        delivered_at: s.now,
        departs: s.now,
        prior_in_flight: 20,
        ..RateSample::default()
    };
    let mut bbr = Bbr {
        mode: Mode::ProbeBw,
        min_rtt: 10_000,
        full_bw_reached: true,
        cycle_began: ms(39),
        pacing_gain: 320,
        rate: 989_987,
        ..Bbr::default()
    };
    bbr.bw.update(10, 0, BW);
    // 13 segments of 5/4, six of bundles, made even, and two: 22, which 20 and a bundle are.
    assert_eq!(bbr.inflight(&s, BW, 320), 22);
    assert!(bbr.is_next_phase(&s, &sample));
    let fewer = RateSample { prior_in_flight: 19, ..sample };
    assert!(!bbr.is_next_phase(&s, &fewer));
    assert!(bbr.is_next_phase(&s, &RateSample { losses: 1, ..fewer }));
    // Not before a round trip has passed.
    bbr.cycle_began = ms(40);
    assert!(!bbr.is_next_phase(&s, &sample));
    // 3/4: a round trip, or no more than a BDP and its bundles.
    (bbr.pacing_gain, bbr.cycle_index) = (192, 1);
    assert!(!bbr.is_next_phase(&s, &RateSample { prior_in_flight: 17, ..sample }));
    assert!(bbr.is_next_phase(&s, &RateSample { prior_in_flight: 16, ..sample }));
}

/// Ten seconds without a round trip as short: four segments for 200 ms and a round, then cwnd
/// again.
#[test]
fn probe_of_the_round_trip() {
    let (mut bbr, mut s) = (Bbr::default(), flying(30));
    let sample = round(&mut s, 1);
    bbr.control(&s, &sample);
    let longer = Some(Span::from_millis(12));
    // 10.012 s are 2500 jiffies after the first ACK's; more are needed.
    let sample = RateSample { rtt: longer, app_limited: true, ..round(&mut s, 1_001) };
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.min_rtt), (Mode::Startup, 10_000));
    let sample = RateSample { rtt: longer, app_limited: true, ..round(&mut s, 1_002) };
    let c = bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.min_rtt, bbr.prior_cwnd), (Mode::ProbeRtt, 12_000, 30));
    assert_eq!((c.cwnd, c.app_limited, bbr.probe_rtt_done), (4_000, true, None));
    // With four in flight the 200 ms begin, and a round has to pass as well.
    let mut s = flying(4);
    let sample = RateSample { rtt: longer, app_limited: true, ..round(&mut s, 1_003) };
    assert_eq!(bbr.control(&s, &sample).cwnd, 4_000);
    assert_eq!(bbr.probe_rtt_done, Some(10_030 / 4 + 1 + 50));
    let sample = RateSample { rtt: longer, app_limited: true, ..round(&mut s, 1_023) };
    assert_eq!(bbr.control(&s, &sample).cwnd, 4_000);
    let sample = RateSample { rtt: longer, app_limited: true, ..round(&mut s, 1_024) };
    let c = bbr.control(&s, &sample);
    // What is in the network now still counts as limited.
    assert_eq!((bbr.mode, c.cwnd, c.app_limited), (Mode::Startup, 31_000, true));
    let sample = round(&mut s, 1_025);
    assert!(!bbr.control(&s, &sample).app_limited);
}

/// `bbr_init`: the handshake's round trip is the least so far, and the ten seconds begin with the
/// connection. What takes longer does not put the probe off.
#[test]
fn the_handshake_measures_the_round_trip() {
    let (mut bbr, mut s) = (Bbr::default(), flying(30));
    s.srtt = Span::from_millis(10);
    bbr.on_restart(&s);
    assert_eq!((bbr.min_rtt, bbr.min_rtt_stamp), (10_000, Some(1)));
    for n in [2, 1_000] {
        let sample = RateSample { rtt: Some(Span::from_millis(12)), ..round(&mut s, n) };
        bbr.control(&s, &sample);
        assert_ne!((bbr.mode, bbr.min_rtt), (Mode::ProbeRtt, 12_000));
    }
    // 10 s are 2500 jiffies, the first of which is 1; more are needed.
    let sample = RateSample { rtt: Some(Span::from_millis(12)), ..round(&mut s, 1_001) };
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.min_rtt), (Mode::ProbeRtt, 12_000));
    // Without a handshake the first sample does.
    let mut bbr = Bbr::default();
    s.srtt = Span::ZERO;
    bbr.on_restart(&s);
    assert_eq!(bbr.min_rtt, u64::MAX);
}

/// An idle time ends the probe of the round trip. The cycle goes on since the last delivery
/// (`tp->delivered_mstamp`), so that the first ACK after it begins the next phase.
#[test]
fn idle_in_the_probe_of_the_round_trip() {
    let (mut bbr, mut s) = (Bbr::default(), flying(4));
    for n in 1..=5 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
    }
    (bbr.mode, bbr.probe_rtt_done, bbr.prior_cwnd) = (Mode::ProbeRtt, Some(1), 20);
    s.now = ms(2_000);
    assert_eq!(bbr.on_restart(&s), 20_000);
    assert_eq!((bbr.mode, bbr.cycle_began), (Mode::ProbeBw, ms(50)));
}

/// In the first round of a recovery what is delivered goes out again; its end restores cwnd.
#[test]
fn packet_conservation() {
    let (mut bbr, mut s) = (Bbr::default(), flying(10));
    let sample = round(&mut s, 1);
    bbr.control(&s, &sample);
    s.cwnd = 20_000;
    assert_eq!(bbr.on_loss(&s, 0), 20_000);
    s.phase = Phase::Recovery;
    let lost = RateSample { losses: 1, acked: 2, prior_delivered: 1, ..round(&mut s, 2) };
    let c = bbr.control(&s, &lost);
    assert_eq!((c.cwnd, bbr.packet_conservation), (12_000, true));
    s.cwnd = c.cwnd;
    // What was sent before does not end the round; two more lost and one delivered.
    let lost = RateSample { losses: 2, prior_delivered: 20, ..round(&mut s, 2) };
    assert_eq!(bbr.control(&s, &lost).cwnd, 11_000);
    let over = RateSample { prior_delivered: 21, ..round(&mut s, 3) };
    assert_eq!((bbr.control(&s, &over).cwnd, bbr.packet_conservation), (13_000, false));
    s.phase = Phase::Open;
    let open = RateSample { prior_delivered: 22, ..round(&mut s, 3) };
    assert_eq!(bbr.control(&s, &open).cwnd, 21_000);
}

/// What tells of a policer: so much was delivered and lost until then, `losses` of that last.
fn heard(ms_: u64, delivered: u64, lost: u64, losses: u32) -> RateSample {
    RateSample {
        delivered_at: ms(ms_),
        total_delivered: delivered,
        total_lost: lost,
        losses,
        ..RateSample::default()
    }
}

/// A policer: two intervals of four rounds at one rate with a fifth lost, and 48 rounds of it.
#[test]
fn a_policer() {
    for (lost, found) in [(30, Policed::Found), (23, Policed::Nothing)] {
        let mut policer = LongTerm::default();
        let mut at = |ms_: u64, delivered, lost, losses, start| {
            policer.update(&heard(ms_, delivered, lost, losses), start, true, 1000)
        };
        assert_eq!(at(0, 0, 1, 1, false), Policed::Nothing);
        for n in 1..4 {
            assert_eq!(at(3 * n, 30 * n, 1, 0, true), Policed::Nothing);
        }
        // 30 of 120 are 64/256, 23 are 49/256; 50 are needed.
        assert_eq!(at(12, 120, 1 + lost, 1, true), Policed::Nothing);
        for n in 5..8 {
            assert_eq!(at(3 * n, 30 * n, 1 + lost, 0, true), Policed::Nothing);
        }
        assert_eq!(at(24, 240, 1 + 2 * lost, 1, true), found);
        if found == Policed::Found {
            for n in 0..47 {
                assert_eq!(at(27 + n, 240, 61, 0, true), Policed::Nothing);
            }
            assert_eq!(at(90, 240, 61, 0, true), Policed::Over);
        }
    }
}

/// ACKs that deliver in bursts what the bandwidth would have later.
#[test]
fn aggregation() {
    let mut extra = ExtraAcked::default();
    let sample = |at, acked| RateSample {
        delivered: Some(1),
        interval: Some(Span::from_millis(1)),
        delivered_at: ms(at),
        acked,
        ..RateSample::default()
    };
    // One segment a millisecond (2^24 / 1000) is expected.
    extra.update(&sample(10, 8), false, 16_778, 100);
    assert_eq!(extra.get(), 8);
    // 8 and 9 in 4 ms are 13 more than expected.
    extra.update(&sample(14, 9), false, 16_778, 100);
    assert_eq!(extra.get(), 13);
    // Never more than cwnd.
    extra.update(&sample(14, 90), false, 16_778, 50);
    assert_eq!(extra.get(), 50);
    // Five rounds on, and five more: forgotten.
    for n in 0..10 {
        assert_eq!(extra.get(), 50, "{n}");
        extra.update(&sample(1_000 + n, 1), true, 16_778, 100);
    }
    assert_eq!(extra.get(), 1);
}

/// After an idle time pacing goes on at the bandwidth, and the ten seconds of idleness call for no
/// probe.
#[test]
fn an_idle_time_calls_for_no_probe() {
    let (mut bbr, mut s) = (Bbr::default(), flying(10));
    for n in 1..=5 {
        let sample = round(&mut s, n);
        bbr.control(&s, &sample);
    }
    assert_eq!(bbr.mode, Mode::ProbeBw);
    bbr.rate = 1;
    s.now = ms(20_000);
    assert_eq!(bbr.on_restart(&s), s.cwnd);
    assert_eq!(bbr.pacing_rate(&s), Some(989_987));
    let sample = round(&mut s, 2_001);
    bbr.control(&s, &sample);
    assert_eq!((bbr.mode, bbr.idle_restart), (Mode::ProbeBw, false));
}

/// A timeout keeps cwnd for later (`bbr_save_cwnd`): the end of the slow start after it restores
/// it.
#[test]
fn a_timeout_keeps_cwnd_for_later() {
    let (mut bbr, mut s) = (Bbr::default(), flying(10));
    let sample = round(&mut s, 1);
    bbr.control(&s, &sample);
    s.cwnd = 20_000;
    bbr.on_timeout(&s, 0, false);
    (s.phase, s.cwnd) = (Phase::Loss, 1_000);
    let sample = round(&mut s, 2);
    bbr.control(&s, &sample);
    (s.phase, s.cwnd) = (Phase::Open, 5_000);
    let sample = round(&mut s, 3);
    assert_eq!(bbr.control(&s, &sample).cwnd, 21_000);
}

/// The rate of a policer is the mean of its two intervals. An interval of more than 16 rounds says
/// nothing (`4 * bbr_lt_intvl_min_rtts`).
#[test]
fn the_rate_of_a_policer() {
    for (rounds, rate) in [(16, Some((BW + BW * 9 / 10) >> 1)), (17, None)] {
        let mut policer = LongTerm::default();
        let mut at = |ms_: u64, delivered, lost, losses, start| {
            policer.update(&heard(ms_, delivered, lost, losses), start, true, 1000);
        };
        // 100 segments in 100 ms, and 90 in the next.
        at(0, 0, 0, 1, false);
        for n in 1..rounds {
            at(n, n, 0, 0, true);
        }
        at(100, 100, 30, 1, true);
        for n in 1..rounds {
            at(100 + n, 100 + n, 30, 0, true);
        }
        at(200, 190, 60, 1, true);
        assert_eq!(policer.get(), rate, "{rounds}");
    }
}
