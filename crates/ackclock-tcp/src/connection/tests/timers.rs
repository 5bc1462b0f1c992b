//! Keep-alives, window probes, and what ends a connection whose peer does not answer.

use super::*;

fn alive() -> ConnectionConfig {
    let keep_alive =
        KeepAlive { idle: Span::from_secs(100), interval: Span::from_secs(10), count: 3 };
    ConnectionConfig { keep_alive: Some(keep_alive), ..config() }
}

/// SEG.SEQ = SND.NXT-1, without data (RFC 9293 section 3.8.4).
#[test]
fn keep_alives_that_nobody_answers() {
    run_established(alive(), |x| {
        x.fire(100_000).sends("A 0 a301");
        x.fire(110_000).sends("A 0 a301");
        x.fire(120_000).sends("A 0 a301");
        x.fire(130_000).sends("").ended(CloseReason::TimedOut);
    });
}

/// They count from the handshake on.
#[test]
fn the_first_keep_alive() {
    run(alive(), |x| {
        x.connect().sends("S 0 mss1000");
        x.at(500).gets("SA 300 a1").sends("A 1 a301").deadline(100_500);
    });
    run(alive(), |x| {
        x.accept("S 300").sends("SA 0 a301 mss1000");
        x.at(500).gets("A 301 a1").sends("").deadline(100_500);
    });
}

#[test]
fn an_answer_starts_over() {
    run_established(alive(), |x| {
        x.fire(100_000).sends("A 0 a301");
        x.fire(110_000).sends("A 0 a301");
        x.at(111_000).gets("A 301 a1").sends("").deadline(211_000);
        x.fire(211_000).sends("A 0 a301").deadline(221_000);
    });
}

/// Only acceptable segments show that the peer is there.
#[test]
fn what_is_unacceptable_is_no_answer() {
    run_established(alive(), |x| {
        x.at(50_000).gets("A 20000 a1").sends("A 1 a301").deadline(100_000);
        x.at(50_000).gets("R 302").sends("A 1 a301").deadline(100_000);
        x.at(50_000).gets("PA 301+10 a1").sends("A 1 a311 w9990").deadline(150_000);
    });
}

/// "MUST only be sent when no sent data is outstanding."
#[test]
fn no_keep_alives_while_data_is_outstanding() {
    let alive = ConnectionConfig {
        keep_alive: Some(KeepAlive {
            idle: Span::from_millis(500),
            interval: Span::from_millis(100),
            count: 1,
        }),
        ..config()
    };
    run_established(alive, |x| {
        x.at(400).write(10).sends("PA 1+10 a301").deadline(1400);
        x.fire(1400).sends("PA 1+10 a301").deadline(3400);
        x.at(1500).gets("A 301 a11").sends("").deadline(2000);
        x.fire(2000).sends("A 10 a301");
        x.fire(2100).ended(CloseReason::TimedOut);
    });
}

#[test]
fn keep_alives_go_on_after_a_half_close_and_not_in_time_wait() {
    run_established(ConnectionConfig { time_wait: Span::from_secs(300), ..alive() }, |x| {
        x.shutdown().sends("FA 1 a301");
        x.gets("A 301 a2").sends("").in_state(FinWait2);
        x.fire(100_000).sends("A 1 a301");
        x.gets("FA 301 a2").sends("A 2 a302 w9999").in_state(TimeWait);
        x.fire(400_000).sends("").in_state(Closed);
    });
    run_established(alive(), |x| {
        x.gets("FA 301 a1").sends("A 1 a302 w9999").in_state(CloseWait);
        x.fire(100_000).sends("A 0 a302 w9999");
    });
}

#[test]
fn keep_alives_are_off_unless_asked_for() {
    run_established(config(), |x| {
        x.no_deadline();
    });
}

fn impatient() -> ConnectionConfig {
    ConnectionConfig { user_timeout: Some(Span::from_secs(10)), ..config() }
}

/// Data that is not acknowledged, from when it was written on (RFC 9293 section 3.8.3).
#[test]
fn the_user_timeout_of_data() {
    run_established(impatient(), |x| {
        x.at(500).write(10).sends("PA 1+10 a301");
        x.fire(1500).sends("PA 1+10 a301");
        x.fire(3500).sends("PA 1+10 a301");
        // More data does not start it over.
        x.at(7000).write(10).sends("PA 11+10 a301");
        x.fire(7500).sends("A 1+10 a301 | PA 11+10 a301");
        x.fire(10_500).sends("").ended(CloseReason::TimedOut);
    });
}

#[test]
fn progress_starts_the_user_timeout_over() {
    run_established(impatient(), |x| {
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301");
        x.at(100).gets("A 301 a1001").sends("").deadline(1100);
        x.at(150).gets("A 301 a1001").sends("");
        for at in [1100, 3100, 7100] {
            x.fire(at).sends("PA 1001+1000 a301");
        }
        x.fire(10_100).sends("").ended(CloseReason::TimedOut);
    });
}

#[test]
fn the_user_timeout_of_a_fin() {
    run_established(impatient(), |x| {
        x.at(500).shutdown().sends("FA 1 a301");
        for at in [1500, 3500, 7500] {
            x.fire(at).sends("FA 1 a301");
        }
        x.fire(10_500).sends("").ended(CloseReason::TimedOut);
    });
    // There is none once it is acknowledged.
    run_established(impatient(), |x| {
        x.shutdown().sends("FA 1 a301");
        x.at(9000).gets("A 301 a2").sends("").in_state(FinWait2).no_deadline();
    });
}

/// What was written while it opened counts from when it is open.
#[test]
fn the_user_timeout_begins_with_the_connection() {
    run(impatient(), |x| {
        x.connect().sends("S 0 mss1000").write(10);
        x.at(500).gets("SA 300 a1 mss1000").sends("PA 1+10 a301");
        for at in [2000, 5000] {
            x.fire(at).sends("PA 1+10 a301");
        }
        x.fire(10_500).ended(CloseReason::TimedOut);
    });
}

/// RFC 9293 section 3.8.6.1: probes after 1, 2, 4, ... s, and at most each minute, as long as they
/// are answered; for a day here.
#[test]
fn a_closed_window_is_probed_for_hours() {
    run_established(impatient(), |x| {
        x.gets("A 301 a1 w0").sends("");
        x.write(10).sends("");
        let (mut at, mut interval) = (0, 1000);
        while at < 24 * 60 * 60 * 1000 {
            at += interval;
            interval = (interval * 2).min(60_000);
            // The user timeout of the probe before, which was answered, is no deadline of interest.
            x.at(at - 1).input(|c, now| c.on_deadline(now)).sends("");
            x.at(at).input(|c, now| c.on_deadline(now)).sends("A 0 a301");
            x.gets("A 301 a1 w0").sends("").in_state(Established);
            if interval > 8000 {
                break;
            }
        }
        let patient = at;
        x.at(patient + 5000).gets("A 301 a1 w4000").sends("PA 1+10 a301");
    });
    run_established(config(), |x| {
        x.gets("A 301 a1 w0").sends("");
        x.write(10).sends("");
        let (mut at, mut interval, mut probes) = (0, 1000, 0);
        while at < 24 * 60 * 60 * 1000 {
            at += interval;
            interval = (interval * 2).min(60_000);
            x.fire(at).sends("A 0 a301");
            x.gets("A 301 a1 w0").sends("").in_state(Established);
            probes += 1;
        }
        // 6 until a minute is reached (1 + 2 + ... + 32 = 63 s), and 1439 in what is left of the
        // day.
        assert_eq!(probes, 6 + 1439);
        x.at(at + 1).gets("A 301 a1 w4000").sends("PA 1+10 a301");
    });
}

/// A window probe that is not answered, and one that is.
#[test]
fn the_user_timeout_of_window_probes() {
    run_established(impatient(), |x| {
        x.gets("A 301 a1 w0").sends("");
        x.write(10).sends("");
        x.fire(1000).sends("A 0 a301");
        x.fire(3000).sends("A 0 a301");
        x.at(3100).gets("A 301 a1 w0").sends("");
        x.fire(7000).sends("A 0 a301");
        x.fire(13_100).sends("").ended(CloseReason::TimedOut);
    });
}

/// A window that closes over data on its way: the retransmissions are the probes.
#[test]
fn answers_keep_a_connection_whose_window_shrank() {
    run_established(impatient(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.at(100).gets("A 301 a1 w0").sends("");
        x.fire(1000).sends("PA 1+10 a301");
        x.fire(3000).sends("PA 1+10 a301");
        x.at(3100).gets("A 301 a1 w0").sends("");
        x.fire(7000).sends("PA 1+10 a301");
        x.fire(13_100).sends("").ended(CloseReason::TimedOut);
    });
}

/// Without a user timeout nothing gives up, until nobody is left who could: then it takes R2, 100
/// s.
#[test]
fn data_of_a_closed_connection_is_given_up() {
    run_established(config(), |x| {
        x.write(10).sends("PA 1+10 a301");
        let mut at = 0;
        for interval in [1, 2, 4, 8, 16, 32, 60, 60] {
            at += interval * 1000;
            x.fire(at).sends("PA 1+10 a301");
        }
        assert_eq!(at, 183_000);
        x.at(190_000).close().sends("FA 11 a301").in_state(FinWait1);
        x.fire(243_000).sends("PA 1+10 a301 | FA 11 a301");
        x.fire(290_000).sends("").ended(CloseReason::TimedOut);
    });
}

/// Answers to window probes keep it no longer, or a peer could hold what was written for ever.
#[test]
fn a_closed_connection_does_not_wait_for_a_window_for_ever() {
    run_established(config(), |x| {
        x.gets("A 301 a1 w0").sends("");
        x.write(10).sends("");
        x.at(500).close().sends("").in_state(FinWait1);
        for at in [1000, 3000, 7000, 15_000, 31_000, 63_000] {
            x.fire(at).sends("A 0 a301");
            x.gets("A 301 a1 w0").sends("");
        }
        x.fire(100_500).sends("").ended(CloseReason::TimedOut);
    });
}

/// A user timeout stays what it is after close.
#[test]
fn close_does_not_extend_the_user_timeout() {
    run_established(impatient(), |x| {
        x.write(10).sends("PA 1+10 a301");
        x.fire(1000).sends("PA 1+10 a301");
        x.at(2000).close().sends("FA 11 a301");
        x.fire(3000).sends("PA 1+10 a301 | FA 11 a301");
        x.fire(7000).sends("PA 1+10 a301 | FA 11 a301");
        x.fire(10_000).ended(CloseReason::TimedOut);
    });
}
