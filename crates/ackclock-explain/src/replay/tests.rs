//! Which mechanism saves which timeout: the cases for which each was made.

use ackclock_tcp::{Seq, Span, Time, TimeoutClass};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{Episode, State, Timeout};

use super::{Rescue, Sender, repair, replay};

const RACK: [&str; 2] = ["RACK-TLP", "RACK-TLP as in Linux"];
const SACK_AND_RACK: [&str; 2] = ["SACK and RACK-TLP", "SACK and RACK-TLP as in Linux"];
const RTT: Span = Span::from_millis(100);
const WAITED: Span = Span::from_millis(400);
/// A sender that has let a chance for a probe go by.
const WITHOUT_PROBES: Sender = Sender { probes: Evidence { used: 0, unused: 1 } };

fn timeout(episode: Episode) -> Timeout {
    Timeout {
        at: Time::ZERO,
        seq: Seq(0),
        position: 0,
        retransmission: 0,
        class: TimeoutClass::NonTrigger,
        state: State::Open,
        flight: 0,
        cwnd: 0,
        waited: WAITED,
        spurious: None,
        passed: Time::ZERO,
        episode: Some(episode),
    }
}

/// `segments` that the application had, of which `cwnd` went out at once; observed were 500 ms.
fn episode(sack: bool, cwnd: u32, segments: u64, lost: &[u8]) -> Episode {
    let repaired = lost.iter().rposition(|n| *n > 0).map_or(0, |i| i as u64 + 1);
    Episode {
        start: Time::ZERO,
        position: 0,
        mss: 1000,
        rtt: RTT,
        rtt_before: RTT,
        rtt_after: None,
        rtt_least: RTT,
        rate_bps: None,
        cwnd,
        rwnd: 1 << 20,
        bytes: segments * 1000,
        repaired: repaired * 1000,
        lost: lost.to_vec(),
        slow_start: false,
        delayed_ack: false,
        sack,
        timestamps: false,
        took: Span::from_millis(500),
    }
}

/// What is said where the sender took as long as the standard does.
fn as_the_standard(episode: Episode, sender: Sender) -> Vec<Rescue> {
    let standard = if episode.sack { "sack" } else { "newreno" };
    let took = repair(&episode, Some(WAITED), standard).unwrap().took;
    replay(&timeout(Episode { took, ..episode }), sender, None)
}

/// The mechanisms that avoid the timeout.
fn avoid(episode: Episode) -> Vec<&'static str> {
    let rescues = as_the_standard(episode, WITHOUT_PROBES);
    assert_eq!(rescues.len(), 9);
    rescues.iter().filter(|r| r.avoided).map(|r| r.mechanism).collect()
}

#[test]
fn a_small_window_is_saved_by_new_segments_and_by_early_retransmit_only_where_there_are_none() {
    // Lin & Kung figure 2: window 3, the first one lost, two duplicates.
    let new_segments = ["limited transmit", "small-window optimisation", "Net Reno"];
    assert_eq!(avoid(episode(false, 3, 20, &[1])), [&new_segments[..], &SACK_AND_RACK].concat());
    assert_eq!(avoid(episode(true, 3, 20, &[1])), [&new_segments[..], &RACK].concat());
    assert_eq!(avoid(episode(true, 3, 3, &[1])), [&["early retransmit"], &RACK[..]].concat());
}

#[test]
fn a_tail_is_saved_by_a_probe_alone() {
    assert_eq!(
        avoid(episode(true, 5, 5, &[0, 0, 0, 0, 1])),
        [&["tail loss probe"], &RACK[..]].concat()
    );
    assert_eq!(avoid(episode(false, 5, 5, &[0, 0, 0, 0, 1])), SACK_AND_RACK);
}

#[test]
fn a_lost_retransmission_is_saved_by_those_that_find_it() {
    let found = ["lost-retransmission recovery", "Net Reno"];
    assert_eq!(avoid(episode(true, 20, 100, &[2])), [&found[..], &RACK].concat());
    assert_eq!(avoid(episode(false, 20, 100, &[2])), [&found[..], &SACK_AND_RACK].concat());
}

/// In a recovery the last segment is lost, too, and the retransmission of the one before. RFC 6675
/// section 4 rule 4 sends the last one once more, whose SACK tells; Linux has no such rule, and no
/// probe in a recovery.
#[test]
fn linux_sends_nothing_to_rescue_a_recovery() {
    let lost = [0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 1];
    let with_sack = avoid(episode(true, 12, 12, &lost));
    assert_eq!(with_sack, ["RACK-TLP"]);
}

/// A window of two is lost. A probe is the segment behind it, which was lost as well when it
/// went out after the repair.
#[test]
fn what_was_lost_later_is_lost_when_it_goes_out_earlier() {
    let probed = |lost: &[u8]| {
        let saved = avoid(Episode { repaired: 2000, ..episode(true, 2, 20, lost) });
        saved.contains(&"RACK-TLP")
    };
    assert_eq!((probed(&[1, 1]), probed(&[1, 1, 1])), (true, false));
}

/// NewReno repairs several losses. The sender times out as Reno does, so it has no NewReno. What is
/// added to NewReno gets no credit for what NewReno does without it.
#[test]
fn newreno_avoids_what_reno_does_not() {
    let several = episode(false, 8, 100, &[1, 1, 1]);
    let took = repair(&several, Some(WAITED), "reno").unwrap().took;
    let rescues = replay(&timeout(Episode { took, ..several }), WITHOUT_PROBES, None);
    let avoided = rescues.iter().filter(|r| r.avoided).map(|r| r.strategy).collect::<Vec<_>>();
    assert_eq!(avoided, ["newreno", "net-reno", "sack", "rack-tlp", "linux"]);
    assert!(rescues.iter().all(|r| !r.strategy.starts_with("newreno+")));
}

#[test]
fn of_what_the_sender_may_have_nothing_is_said() {
    // A lost tail, which a probe repairs. Did the sender send none because it sends none?
    let tail = episode(true, 5, 5, &[0, 0, 0, 0, 1]);
    let said = |sender| {
        let rescues = as_the_standard(tail.clone(), sender);
        rescues.iter().filter(|r| r.avoided).map(|r| r.strategy).collect::<Vec<_>>()
    };
    assert_eq!(said(WITHOUT_PROBES), ["sack+tlp", "rack-tlp", "linux"]);
    assert_eq!(said(Sender::default()), [""; 0]);
}

/// It sends probes, but all replays of such senders repair this tail without a timeout: what
/// mattered is not in the replay.
#[test]
fn where_the_replay_of_the_sender_does_not_time_out_nothing_is_said() {
    let tail = timeout(episode(true, 5, 5, &[0, 0, 0, 0, 1]));
    let of = |used, unused| replay(&tail, Sender { probes: Evidence { used, unused } }, None);
    assert_eq!(of(1, 0), []);
    // One probe proves it, whatever else was seen.
    assert_eq!(of(1, 3), []);
    assert_eq!(of(0, 1).len(), 9);
}

/// The replay of the sender takes the 400 ms that were waited and a round trip.
#[test]
fn where_the_replay_of_the_sender_takes_another_time_nothing_is_said() {
    let told = |took| {
        let took = Span::from_millis(took);
        replay(&timeout(Episode { took, ..episode(true, 3, 20, &[1]) }), WITHOUT_PROBES, None).len()
    };
    assert_eq!([399, 401, 666, 667].map(told), [0, 9, 9, 0]);
}

/// The probe of a tail comes back sooner than any segment before: RACK takes it for the original
/// (RFC 8985 section 6.2 step 2), and all other segments of the tail wait for the timer. A probe
/// that takes as long shows that they are lost.
#[test]
fn a_probe_that_comes_back_too_soon_saves_nothing() {
    let saved_by_rack = |before, after: u64| {
        let rtt_after = Some(Span::from_millis(after));
        let rtt_before = Span::from_millis(before);
        let tail = episode(true, 8, 8, &[0, 0, 1, 1, 1, 1, 1, 1]);
        avoid(Episode { rtt_before, rtt_after, ..tail }).contains(&"RACK-TLP")
    };
    assert!(saved_by_rack(100, 100));
    assert!(!saved_by_rack(110, 100));
    assert!(saved_by_rack(100, 110));
}

/// The retransmission took 150 ms, and a probe may have taken 100 ms, as the handshake did. With
/// the first RACK-TLP repairs this tail; with the second its short probe comes back too soon.
#[test]
fn where_the_round_trip_decides_nothing_is_said() {
    let said = |bytes| {
        let tail = episode(true, 8, 8, &[0, 0, 1, 1, 1, 1, 1, 1]);
        let rtt_after = Some(Span::from_millis(150));
        let tail = Episode { bytes, repaired: bytes, rate_bps: Some(1e6), rtt_after, ..tail };
        let rescues = as_the_standard(tail, WITHOUT_PROBES);
        rescues.iter().find(|r| r.mechanism == "RACK-TLP").map(|r| r.avoided)
    };
    assert_eq!((said(8000), said(7100)), (Some(true), None));
}

/// At 1 Mbit/s a full segment of 1000 bytes takes 8 ms, and the last one of 100 bytes only one: its
/// probe comes back sooner.
#[test]
fn a_short_probe_comes_back_too_soon() {
    let saved_by_rack = |bytes| {
        let tail = episode(true, 8, 8, &[0, 0, 1, 1, 1, 1, 1, 1]);
        let tail = Episode { bytes, repaired: bytes, rate_bps: Some(1e6), ..tail };
        avoid(tail).contains(&"RACK-TLP")
    };
    assert_eq!((saved_by_rack(8000), saved_by_rack(7100)), (true, false));
    // That of a full segment takes as long as any, also where halves are rounded.
    let tail = episode(true, 8, 8, &[0, 0, 1, 1, 1, 1, 1, 1]);
    let rtt = Span(RTT.0 + 1);
    let tail = Episode { rtt_least: rtt, rtt_before: rtt, rtt, rate_bps: Some(1e6), ..tail };
    assert!(avoid(tail).contains(&"RACK-TLP"));
}

#[test]
fn what_is_saved_is_measured_against_the_replay_of_the_sender() {
    // Observed were 550 ms. Another 50 ms were lost elsewhere.
    let seen = Episode { took: Span::from_millis(550), ..episode(true, 3, 20, &[1]) };
    let rescues = replay(&timeout(seen.clone()), WITHOUT_PROBES, None);
    let of = |mechanism| {
        rescues.iter().find(|r| r.mechanism == mechanism).map(|r| (r.took_s, r.saved_s))
    };
    // Two duplicates after one round trip draw two segments, which draw the third duplicate after
    // the second; the repair takes one more. A segment takes 8 to 90 ns at the rate of an
    // unknown bottleneck.
    assert_eq!(of("limited transmit"), Some((0.300_000_02, 0.199_999_986)));
    // The timer and a round trip.
    assert_eq!(of("RFC 6675"), Some((0.500_000_006, 0.0)));

    assert_eq!(rescues.iter().find(|r| r.mechanism == "RFC 6675").unwrap().saved_90_s, None);
}

/// What one mechanism saves, from and to, in milliseconds.
fn between(timeout: &Timeout, longest: Option<u64>, mechanism: &str) -> Option<[i64; 2]> {
    let rescues = replay(timeout, WITHOUT_PROBES, longest.map(Span::from_millis));
    let rescue = rescues.into_iter().find(|r| r.mechanism == mechanism).unwrap();
    rescue.saved_90_s.map(|between| between.map(|s| (s * 1e3).round() as i64))
}

/// Of a timeout with something reported behind the loss.
fn disorder(episode: Episode) -> Timeout {
    Timeout { state: State::Disorder, ..timeout(episode) }
}

/// The replay of the sender takes 500 ms. Limited transmit takes 300 ms with a window of three, and
/// 400 ms with two: a round trip for each duplicate, and one for the repair.
#[test]
fn a_smaller_window_saves_less() {
    let took = |took| Episode { took: Span::from_millis(took), ..episode(true, 3, 20, &[1]) };
    let saved = |took| between(&disorder(took), None, "limited transmit");
    assert_eq!(saved(took(500)), Some([100, 300]));
    // The sender took 50 ms less than its replay, which is less than the 100 ms above; or more. At
    // the most all but two round trips is saved of what it took.
    assert_eq!(saved(took(450)), Some([100, 250]));
    assert_eq!(saved(took(550)), Some([100, 350]));
    // Of the two segments that early retransmit needs behind the loss one is not sent.
    let few = Episode { took: Span::from_millis(500), ..episode(true, 3, 3, &[1]) };
    assert_eq!(between(&disorder(few), None, "early retransmit"), Some([0, 300]));
    // What is not avoided has no interval.
    assert_eq!(between(&disorder(took(500)), None, "RFC 6675"), None);
}

#[test]
fn a_longer_round_trip_saves_less() {
    let seen = disorder(episode(true, 3, 20, &[1]));
    let saved = |longest| between(&seen, longest, "limited transmit");
    assert_eq!(saved(Some(100)), Some([100, 300]));
    // Three of them.
    assert_eq!(saved(Some(150)), Some([50, 300]));
    assert_eq!(saved(Some(180)), Some([-40, 300]));
    // A shorter one than that of the retransmission is not the longest.
    assert_eq!(saved(Some(10)), saved(None));
}

/// Where nothing was reported the segments may have been written later with which the window of
/// limited transmit was open: without them it times out as the sender does. What the sender took
/// less than its replay comes on top.
#[test]
fn behind_a_tail_there_may_be_nothing_to_be_sent() {
    let took = |took| Episode { took: Span::from_millis(took), ..episode(true, 3, 20, &[1]) };
    let saved = |took| between(&timeout(took), None, "limited transmit");
    assert_eq!(saved(took(500)), Some([0, 300]));
    assert_eq!(saved(took(450)), Some([-50, 250]));
}

/// RACK-TLP takes two and a quarter round trips; the sender took 410 ms, and its replay 500. The 90
/// ms between them are more than a smaller window costs.
#[test]
fn what_is_said_to_be_saved_lies_within() {
    let seen = Episode { took: Span::from_millis(410), ..episode(true, 3, 20, &[1]) };
    assert_eq!(between(&disorder(seen), None, "RACK-TLP"), Some([185, 275]));
}

/// With one segment less in the window as many duplicates come as are needed, at the same time.
#[test]
fn ticks_of_timers_are_not_known() {
    let several = episode(false, 8, 100, &[1, 1, 1]);
    let took = repair(&several, Some(WAITED), "reno").unwrap().took;
    let seen = disorder(Episode { took, ..several });
    let rescues = replay(&seen, WITHOUT_PROBES, None);
    let newreno = rescues.iter().find(|r| r.strategy == "newreno").unwrap();
    let [least, _] = newreno.saved_90_s.unwrap();
    assert_eq!(((newreno.saved_s - least) * 1e3).round(), 20.0);
}

#[test]
fn where_nothing_was_lost_nothing_is_said() {
    let said = |timeout: &Timeout| replay(timeout, WITHOUT_PROBES, None);
    assert_eq!(said(&timeout(episode(true, 3, 20, &[0, 0]))), []);
    assert_eq!(said(&Timeout { episode: None, ..timeout(episode(true, 3, 20, &[1])) }), []);
}

#[test]
fn a_window_in_slow_start_ends_the_repair_sooner() {
    // From a window of four, segment 20 goes out in the third round trip if the window doubles (4,
    // 8, 16), and its duplicates come with the same; if it grows by one (4, 5, 6, 7) in the
    // fourth, with one behind it, and the duplicates take another.
    let mut lost = [0; 21];
    lost[20] = 1;
    let took = |slow_start| {
        let episode = Episode { slow_start, ..episode(true, 4, 60, &lost) };
        repair(&episode, Some(WAITED), "sack").unwrap().took
    };
    assert_eq!((took(true), took(false)), (Span(400_001_269), Span(600_000_369)));
}
