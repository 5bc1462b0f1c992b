//! RTO restart (RFC 7765).

use super::*;
use crate::recovery::timer::Rfc6298Timer;
use crate::recovery::timer::RtoRestart;
use crate::recovery::timer::Timer;

/// Figure 1: the third of three segments is lost, and the delayed ACK of the other two restarts the
/// timer.
#[test]
fn the_timer_runs_from_when_the_earliest_was_sent() {
    for (composition, expiry) in [("newreno+rto-restart", 1000), ("newreno", 1100)] {
        run(composition, 3, |x| {
            x.write(3_000).sends("0 1 2").at(100).ack(2).sends("").fire(expiry).sends("2T");
            // The back-off is not shortened.
            x.deadline(expiry + 2000).fire(expiry + 2000).sends("2T");
        });
    }
}

/// T_earliest is that of the earliest segment still outstanding.
#[test]
fn the_earliest_outstanding_segment_counts() {
    run("newreno+rto-restart", 3, |x| {
        x.write(1_000)
            .sends("0")
            .at(50)
            .write(2_000)
            .sends("1 2")
            .at(100)
            .ack(1)
            .sends("")
            .deadline(1050);
        x.at(120).ack(2).sends("").deadline(1050).at(130).ack(3).sends("").no_deadline();
    });
}

/// Step 2: fewer than four segments, outstanding and unsent.
#[test]
fn four_segments_are_too_many() {
    run("newreno+rto-restart", 5, |x| {
        x.write(5_000).sends("0 1 2 3 4").at(100).ack(1).sends("").deadline(1100);
        x.at(110).ack(2).sends("").deadline(1000);
    });
    // 1 is outstanding; two segments are unsent, or two and a half.
    run("newreno+rto-restart", 2, |x| {
        x.write(4_000).sends("0 1").at(100).ack(1).sends("2 3").deadline(1000);
    });
    run("newreno+rto-restart", 2, |x| {
        x.write(4_500).sends("0 1").at(100).ack(1).sends("2 3").deadline(1100);
    });
}

/// The segment that a partial ACK or an ACK after a timeout sends again has its RTO from then on.
#[test]
fn what_goes_out_again_is_timed_from_then_on() {
    run("newreno+rto-restart", 5, |x| {
        x.write(5_000).sends("0 1 2 3 4").at(100).ack(0).ack(0).ack(0).sends("0F").deadline(1000);
        x.at(200).ack(4).sends("4P").deadline(1200);
    });
    run("newreno+rto-restart", 3, |x| {
        x.write(3_000)
            .sends("0 1 2")
            .fire(1000)
            .sends("0T")
            .at(1100)
            .ack(1)
            .sends("1S 2S")
            .deadline(3100);
        // On its way since 1100, and with Karn's rule still twice the interval.
        x.at(1200).ack(2).sends("").deadline(3100);
    });
    // The ACK that ends the slow start leaves new data outstanding, sent at 1200.
    run("newreno+rto-restart", 3, |x| {
        x.write(4_000).sends("0 1 2").fire(1000).sends("0T").at(1100).ack(1).sends("1S 2S");
        x.at(1200).ack(2).sends("3").deadline(3100).at(1300).ack(3).sends("").deadline(3200);
    });
}

/// Step 3: what is left of the RTO, or all of it if nothing is.
#[test]
fn the_rest_of_the_interval() {
    run("newreno", 1, |x| {
        x.write(1_000).sends("0");
        let timer = RtoRestart(Box::new(Rfc6298Timer::default()));
        for (now, expiry) in [(0, 300), (299, 300), (300, 600), (301, 601)] {
            let state = State { now: Time(now * 1_000_000), ..x.sender.state().clone() };
            assert_eq!(timer.expiry(&state, Span::from_millis(300)), Time(expiry * 1_000_000));
        }
    });
}

/// Whatever the timer: ticks stay ticks (6 of them, and then the 5 that 2.4 s make). Linux's
/// timeout of 250 ms takes 63 of 4 ms.
#[test]
fn it_goes_with_every_timer() {
    for (composition, expiry) in [("reno+linux-timer", 304), ("reno+linux-timer+rto-restart", 256)]
    {
        run(composition, 2, |x| {
            x.write(2_000).sends("0 1").at(50).ack(1).sends("").deadline(expiry);
        });
    }
    for (composition, expiry) in [("reno+bsd-timer", 3500), ("reno+bsd-timer+rto-restart", 3000)] {
        run(composition, 2, |x| {
            x.write(2_000).sends("0 1").at(600).ack(1).sends("");
            x.deadline(expiry);
        });
    }
}
