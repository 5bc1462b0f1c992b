//! Which mechanism saves which timeout: the cases for which each was made.

use ackclock_tcp::{Seq, Span, Time, TimeoutClass};
use ackclock_trace::{Episode, State, Timeout};

use super::replay;

const RACK: [&str; 2] = ["RACK-TLP", "RACK-TLP as in Linux"];
const SACK_AND_RACK: [&str; 2] = ["SACK and RACK-TLP", "SACK and RACK-TLP as in Linux"];
const RTT: Span = Span::from_millis(100);

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
        waited: Span::from_millis(400),
        spurious: None,
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

/// The mechanisms that avoid the timeout.
fn avoid(episode: Episode) -> Vec<&'static str> {
    let rescues = replay(&timeout(episode));
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

#[test]
fn several_losses_are_saved_by_newreno() {
    // The sender was perhaps Reno.
    assert!(avoid(episode(false, 20, 100, &[1, 0, 0, 1])).contains(&"NewReno"));
}

#[test]
fn what_was_saved_is_measured_against_what_was_observed() {
    let rescues = replay(&timeout(episode(true, 3, 20, &[1])));
    let of = |mechanism| {
        rescues.iter().find(|r| r.mechanism == mechanism).map(|r| (r.took_s, r.saved_s))
    };
    // Two duplicates after one round trip draw two segments, which draw the third duplicate after
    // the second; the repair takes one more. A segment takes 8 to 90 ns at the rate of an
    // unknown bottleneck.
    assert_eq!(of("limited transmit"), Some((0.300_000_26, 0.199_999_74)));
    // The timer and a round trip.
    assert_eq!(of("RFC 6675"), Some((0.500_000_086, -0.000_000_086)));
    // Less by the 400 ms that were waited, more by 7.4 round trips.
    let between = |mechanism| rescues.iter().find(|r| r.mechanism == mechanism)?.saved_90_s;
    let [least, most] = between("limited transmit").unwrap();
    assert!((least - (0.199_999_74 - 0.4)).abs() < 1e-9, "{least}");
    assert!((most - (0.199_999_74 + 0.74)).abs() < 1e-9, "{most}");
    assert_eq!(between("RFC 6675"), None);
}

#[test]
fn where_nothing_was_lost_nothing_is_said() {
    assert_eq!(replay(&timeout(episode(true, 3, 20, &[0, 0]))), []);
    assert_eq!(replay(&Timeout { episode: None, ..timeout(episode(true, 3, 20, &[1])) }), []);
}

#[test]
fn a_window_in_slow_start_ends_the_repair_sooner() {
    // From a window of four, segment 20 goes out in the third round trip if the window doubles (4,
    // 8, 16), and its duplicates come with the same; if it grows by one (4, 5, 6, 7) in the
    // fourth, with one behind it, and the duplicates take another.
    let mut lost = [0; 21];
    lost[20] = 1;
    let took = |slow_start| {
        replay(&timeout(Episode { slow_start, ..episode(true, 4, 60, &lost) }))[0].took_s
    };
    assert_eq!((took(true), took(false)), (0.400_001_589, 0.600_000_849));
}
