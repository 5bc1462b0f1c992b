//! Reno as Linux has it: `tcp_slow_start`, `tcp_cong_avoid_ai`, `tcp_reno_ssthresh`, and cwnd
//! validation.

use super::*;

/// Slow start by what is delivered, up to ssthresh; what is left counts in congestion avoidance.
#[test]
fn by_what_is_delivered() {
    let config = SenderConfig { initial_ssthresh: Some(13_000), ..window(10) };
    run_with("linux+linux-reno", config, |x| {
        x.write(90_000).sends(&numbers(0, 10)).at(100).ack(2).windows(12_000, 13_000);
        x.sent.clear();
        // One of two ends slow start, the other is the first of thirteen.
        x.ack(4).windows(13_000, 13_000);
        x.sent.clear();
        for n in 5..=15 {
            x.ack(n).windows(13_000, 13_000);
            x.sent.clear();
        }
        x.ack(16).windows(14_000, 13_000);
        x.sent.clear();
    });
}

/// A loss halves cwnd, whatever is outstanding.
#[test]
fn half_of_cwnd() {
    run("linux+linux-reno", 10, |x| {
        x.write(5_000).sends("0 1 2 3 4").at(100).sack(0, &[(1, 4)]).sends("0F");
        x.windows(4_000, 5_000);
    });
}

/// cwnd that is not used does not grow; in slow start it may be twice what was outstanding.
#[test]
fn unused_cwnd_does_not_grow() {
    run("linux+linux-reno", 10, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(4).sends("").windows(10_000, UNSET);
        x.write(6_000).sends("4 5 6 7 8 9").at(200).ack(10).sends("").windows(16_000, UNSET);
        x.write(7_000).at(300).sends("10 11 12 13 14 15 16").ack(17).windows(16_000, UNSET);
    });
}

/// After an idle time cwnd is halved for each timeout interval, down to the initial window, and
/// ssthresh keeps three quarters.
#[test]
fn an_idle_time_halves_cwnd_and_keeps_ssthresh() {
    let config = SenderConfig { initial_ssthresh: Some(30_000), ..window(10) };
    run_with("linux+linux-reno", config, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(10).windows(20_000, 30_000);
        x.write(20_000).sends(&numbers(10, 30)).at(200).ack(30).windows(30_000, 30_000);
        // Between 250 and 300 ms, once.
        x.at(700).write(1_000).sends("30").windows(15_000, 30_000);
    });
}

/// Idle time and timeout are counted in ticks: 75 of 4 ms are not more than 300 ms.
#[test]
fn idle_in_ticks() {
    let config = SenderConfig { initial_ssthresh: Some(30_000), ..window(10) };
    for (at, cwnd) in [(503, 30_000), (504, 15_000)] {
        run_with("linux+linux-reno", config.clone(), |x| {
            x.write(10_000).sends(&numbers(0, 10)).at(100).ack(10).windows(20_000, 30_000);
            x.write(20_000).sends(&numbers(10, 30)).at(200).ack(30).windows(30_000, 30_000);
            x.write(1_000).sends("30").at(300).ack(31).sends("").windows(30_000, 30_000);
            x.at(at).write(1_000).sends("31").windows(cwnd, 30_000);
        });
    }
}

/// cwnd that the application has left unused for a timeout interval becomes half of itself and of
/// what was used, at least the initial window: (40 + 10) / 2 (`tcp_cwnd_application_limited`).
#[test]
fn unused_cwnd_is_halved_towards_what_is_used() {
    run("linux+linux-reno", 10, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(10).windows(20_000, UNSET);
        x.write(20_000).sends(&numbers(10, 30)).at(200).ack(30).windows(40_000, UNSET);
        x.write(1_000).sends("30").at(240).write(1_000).sends("31").at(250).ack(32).sends("");
        x.at(500).write(1_000).sends("32").windows(40_000, UNSET);
        // SRTT is 94 ms, and the timeout 296. The last ACK came 300 ms ago.
        x.at(550).write(1_000).sends("33").windows(25_000, UNSET);
    });
}

/// A window update with nothing to send restarts nothing: the idle time ends, and counts once, as
/// data goes (`tcp_slow_start_after_idle_check`).
#[test]
fn a_window_update_without_data_ends_no_idle_time() {
    run("linux+linux-reno", 10, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(10).windows(20_000, UNSET);
        x.write(20_000).sends(&numbers(10, 30)).at(200).ack(30).windows(40_000, UNSET);
        x.at(600).window = 65_000;
        x.ack(30).windows(40_000, UNSET);
        x.at(610).write(1_000).sends("30").windows(20_000, UNSET);
    });
}
