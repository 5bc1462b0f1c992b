//! A path that drops what is big and tells nobody (RFC 2923 section 2.1).

use super::*;

fn looking() -> ConnectionConfig {
    ConnectionConfig { least_path_mss: Some(400), ..config() }
}

/// Timeouts after 1, 2, 4 and 8 s: the fourth tries less. (1024 bytes would be more than there
/// are.)
fn tries(x: &mut Script) {
    x.write(20_000);
    x.sent.clear();
    for ms in [1000, 3000, 7000] {
        x.fire(ms).sends("A 1+1000 a301");
    }
    x.fire(15_000).sends("A 1+400 a301 | A 401+600 a301");
}

/// The retransmissions of small segments give no round trip: the timer stays backed off.
#[test]
fn what_is_big_is_lost_twice() {
    run_established(looking(), |x| {
        tries(x);
        // 1024 bytes still go, if anything does.
        x.at(15_100).gets("A 301 a1001").sends("A 1001+1000 a301 | A 2001+1000 a301");
        for ms in [31_100, 63_100] {
            x.fire(ms).sends("A 1001+1000 a301");
        }
        assert_eq!((x.c.sender().state().mss, x.c.found_path_mss()), (1000, None));
        x.fire(123_100).sends("A 1001+400 a301 | A 1401+400 a301 | A 1801+200 a301");
        assert_eq!((x.c.sender().state().mss, x.c.found_path_mss()), (400, Some(400)));
        x.at(123_200).gets("A 301 a2001");
        x.sends("A 2001+400 a301 | A 2401+400 a301 | A 2801+200 a301 | A 3001+400 a301");
    });
}

/// What was acknowledged was more than the trial: a copy had been on its way.
#[test]
fn what_comes_late_is_not_lost() {
    run_established(looking(), |x| {
        tries(x);
        x.at(15_100).gets("A 301 a2001");
        x.sent.clear();
        for _ in 0..5 {
            let at = x.c.next_deadline();
            x.fire(at.nanos() / 1_000_000);
            x.sent.clear();
        }
        assert_eq!((x.c.sender().state().mss, x.c.found_path_mss()), (1000, None));
    });
}

/// Lets so many timeouts come, and forgets what they send.
fn times_out(x: &mut Script, timeouts: u32) {
    for _ in 0..timeouts {
        x.now = x.c.next_deadline();
        x.input(|c, now| c.on_deadline(now)).sent.clear();
    }
}

/// By its timestamp an ACK of just the segment is of the large copy (sent at 7 s), or of the trial
/// (at 15 s). Only in the latter case has the trial passed, and the next outage makes segments
/// small.
#[test]
fn a_late_ack_of_the_large_segment_is_none_of_the_trial() {
    for (echoed, smaller) in [(7_000, false), (14_999, false), (15_000, true), (15_001, true)] {
        run_established(ConnectionConfig { timestamps: true, ..looking() }, |x| {
            x.write(20_000);
            x.sent.clear();
            times_out(x, 4);
            assert_eq!(x.now, Time::ZERO + Span::from_secs(15));
            x.at(15_100).gets(&format!("A 301 a989 ts1001/{echoed}"));
            x.sent.clear();
            times_out(x, 5);
            let found = smaller.then_some(400);
            assert_eq!(x.c.found_path_mss(), found, "{echoed}");
        });
    }
}

/// Without timestamps, an ACK that comes earlier than any round trip ends is of an earlier copy.
#[test]
fn an_ack_takes_a_round_trip() {
    for (ms, smaller) in [(15_199, false), (15_200, true)] {
        run(looking(), |x| {
            x.connect();
            x.sent.clear();
            x.at(100).gets("SA 300 a1 mss1000");
            x.sent.clear();
            x.write(20_000);
            x.sent.clear();
            times_out(x, 4);
            assert_eq!(x.now, Time::ZERO + Span::from_millis(15_100));
            x.at(ms).gets("A 301 a1001");
            x.sent.clear();
            times_out(x, 5);
            assert_eq!(x.c.found_path_mss(), smaller.then_some(400), "{ms}");
        });
    }
}

/// A D-SACK says that the large segment had arrived, too.
#[test]
fn a_trial_that_arrives_after_the_large_segment_tells_nothing() {
    for (block, smaller) in [(" k1-401", false), ("", true)] {
        run_established(ConnectionConfig { sack: true, ..looking() }, |x| {
            x.write(20_000);
            x.sent.clear();
            times_out(x, 4);
            x.at(15_100).gets(&format!("A 301 a1001{block}"));
            x.sent.clear();
            times_out(x, 5);
            assert_eq!(x.c.found_path_mss(), smaller.then_some(400), "{block}");
        });
    }
}

/// A closed window holds the trial back. What opens it acknowledges the large segment, and the one
/// after it goes out in full.
#[test]
fn a_trial_that_was_not_sent_has_not_passed() {
    run_established(looking(), |x| {
        x.write(20_000);
        x.sent.clear();
        times_out(x, 3);
        x.at(7_100).gets("A 301 a1 w0");
        x.sent.clear();
        times_out(x, 3);
        x.gets("A 301 a1001");
        x.sent.clear();
        times_out(x, 5);
        assert_eq!((x.c.sender().state().mss, x.c.found_path_mss()), (1000, None));
    });
}

/// In an outage everything is lost, and afterwards nothing.
#[test]
fn outages_change_no_size() {
    run_established(looking(), |x| {
        tries(x);
        let mut acked = 1001;
        for ms in 0..12 {
            x.at(15_100 + ms).gets(&format!("A 301 a{acked}"));
            x.sent.clear();
            acked += 1000;
        }
        for _ in 0..4 {
            let at = x.c.next_deadline();
            x.fire(at.nanos() / 1_000_000);
            x.sent.clear();
        }
        x.gets(&format!("A 301 a{acked}"));
        x.sent.clear();
        assert_eq!((x.c.sender().state().mss, x.c.found_path_mss()), (1000, None));
    });
}

/// What was written goes out, and as it is with each of six timeouts.
fn goes_again(x: &mut Script, segment: &str) {
    x.sends(segment);
    for ms in [1000, 3000, 7000, 15_000, 31_000, 63_000] {
        x.fire(ms).sends(segment);
    }
}

/// Small segments are lost for another reason.
#[test]
fn small_segments_stay_as_they_are() {
    run_established(looking(), |x| {
        x.write(400);
        goes_again(x, "PA 1+400 a301");
    });
}

/// Nobody asked for it.
#[test]
fn not_by_default() {
    run_established(config(), |x| {
        x.write(1000);
        goes_again(x, "PA 1+1000 a301");
    });
}
