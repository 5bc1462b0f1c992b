//! CUBIC as Linux has it: `bictcp_update`, `cubictcp_recalc_ssthresh`, `hystart_update`.

use super::cubic::acks;
use super::*;
use crate::recovery::window::{LinuxCubic, Window};
use crate::summary::AckSummary;

/// 717/1024 of cwnd in whole segments, at least two; below the last maximum fast convergence.
#[test]
fn a_loss_keeps_717_of_1024() {
    for (segments, ssthresh) in [(10, 7), (9, 6), (4, 2), (3, 2), (2, 2)] {
        run("linux", segments, |x| {
            x.write(60_000);
            x.sent.clear();
            x.at(1000).fire(1004);
            x.sent.clear();
            x.fire(2008);
            x.sent.clear();
            assert_eq!(x.sender.state().ssthresh, ssthresh * MSS, "{segments}");
        });
    }
}

/// Slow start ends where ACKs less than 2 ms apart go on for more than half of the shortest round
/// trip, 20 ms, and 0.5 ms.
#[test]
fn a_train_of_acks_ends_slow_start() {
    run("linux", 10, |x| {
        x.write(200_000).sends(&numbers(0, 10)).at(20);
        for n in 1..=10 {
            x.at(20 + n).ack(n);
            x.sent.clear();
        }
        x.windows(20_000, UNSET);
        // The round began with the ACK of 11, at 41 ms.
        for (n, ssthresh) in (11..=21).map(|n| (n, UNSET)).chain([(22, 31_000)]) {
            x.at(30 + n).ack(n);
            x.sent.clear();
            assert_eq!(x.sender.state().ssthresh, ssthresh, "{n}");
        }
    });
}

/// A sender that paces spreads what it sends over half a round trip itself: there the train has to
/// go on for more than all of 20 ms and 1 ms.
#[test]
fn a_paced_train_has_to_go_on_for_longer() {
    for (composition, ends) in [("linux", 11), ("linux+linux-pacing", 22)] {
        run(composition, 20, |x| {
            x.write(20_000).sent.clear();
            let (mut law, mut s) = (LinuxCubic::default(), x.sender.state().clone());
            s.snd_una = MSS;
            let a = AckSummary {
                newly_acked: MSS,
                rtt_latest: Some(Span::from_millis(20)),
                ..AckSummary::default()
            };
            let over = (0..30).find(|ms| {
                s.now = Time::ZERO + Span::from_millis(20 + ms);
                law.on_measured(&s, &a) == Some(20_000)
            });
            assert_eq!(over, Some(ends), "{composition}");
        });
    }
}

/// After a loss cwnd 7 is below 10, and K 2003 of 1/1024 s. While the curve is below, cwnd grows as
/// Reno's does (`tcp_friendliness`): by a segment for 13 delivered, and so on.
#[test]
fn the_curve() {
    run("linux", 10, |x| {
        x.write(400_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 4)]).sends("0F");
        for n in 5..=10 {
            x.sack(0, &[(1, n)]);
            x.sent.clear();
        }
        x.at(200).ack(10).phase(Phase::Open);
        x.sent.clear();
        x.windows(7_000, 7_000);
        let mut grown = Vec::new();
        for round in 0..20 {
            x.at(300 + 100 * round);
            let (una, max) = (x.sender.state().snd_una / MSS, x.sender.state().snd_max / MSS);
            acks(x, una + 1..=max);
            grown.push(x.sender.state().cwnd / MSS);
        }
        let expected = [8, 9, 9, 9, 11, 11, 11, 11, 11, 11, 13, 13, 13, 13, 15, 15, 15, 15, 17, 17];
        assert_eq!(grown, expected);
    });
}

/// `TCP_INIT_CWND`: ten segments at first, however long they are. RFC 6928 has two of these.
#[test]
fn ten_segments_at_first() {
    for composition in ["linux", "linux+linux-reno"] {
        let config = SenderConfig { mss: 8_960, ..SenderConfig::default() };
        let strategy = Registry::default().parse(composition).unwrap().build();
        assert_eq!(Sender::new(config, strategy).state().cwnd, 89_600, "{composition}");
    }
}
