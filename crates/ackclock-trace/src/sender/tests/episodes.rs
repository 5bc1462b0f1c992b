//! What a replay gets.

use ackclock_tcp::Span;

use super::{Line, ms};
use crate::connection::Episode;

/// A window of four; 2 and 3 are lost, 2 twice. Two of 2 and one of 3 were lost until 2 came
/// through.
#[test]
fn the_losses_around_a_timeout() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.ack(50.0, 2);
    line.send(60.0, 2..6);
    line.ack(110.0, 4);
    line.send(110.1, 6..8);
    // Of 4, 5, 6 and 7 the first two are lost, and the first retransmission of 4.
    line.ack(160.2, 4);
    line.ack(160.3, 4);
    line.send(361.0, [4]);
    line.send(862.0, [4]);
    line.ack(912.0, 5);
    line.send(912.01, [5]);
    line.ack(962.0, 8);
    line.send(963.0, [8]);
    line.ack(1013.0, 9);
    let found = line.found();
    let expected = Episode {
        start: ms(60.002),
        position: 2000,
        mss: 1000,
        rtt: Span::from_micros(49_999),
        rtt_before: Span::from_micros(49_999),
        rtt_after: Some(Span::from_millis(50)),
        rtt_least: Span::from_micros(49_999),
        rate_bps: None,
        // The one behind it went out at once.
        cwnd: 4,
        rwnd: 1 << 20,
        bytes: 7000,
        repaired: 4000,
        lost: vec![0, 0, 2, 1],
        slow_start: true,
        delayed_ack: true,
        sack: false,
        timestamps: false,
        took: Span(901_998_000),
    };
    assert_eq!(found.timeouts.len(), 2);
    // Each episode counts once.
    assert_eq!(found.timeouts[0].episode.as_ref(), Some(&expected));
    assert_eq!(found.timeouts[1].episode, None);
}

/// Three went out at once; two more on duplicates a round trip later, while nothing was
/// acknowledged (RFC 3042). These are beyond the window.
#[test]
fn what_goes_out_on_duplicates_is_no_part_of_the_window() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.ack(50.0, 2);
    line.send(60.0, 2..5);
    line.ack(110.1, 2);
    line.send(110.2, [5]);
    line.ack(110.3, 2);
    line.send(110.4, [6]);
    line.send(411.0, [2]);
    line.ack(461.0, 5);
    line.send(461.1, [5]);
    line.ack(511.1, 6);
    line.send(511.2, [6]);
    line.ack(561.2, 7);
    let windows = line.found().timeouts.into_iter().map(|t| t.episode.map(|e| e.cwnd));
    assert_eq!(windows.collect::<Vec<_>>(), [Some(3)]);
}

/// Each goes to the first timeout of its own.
#[test]
fn two_episodes() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..1);
    line.send(251.0, [0]);
    line.send(752.0, [0]);
    line.ack(802.0, 1);
    line.send(803.0, 1..3);
    line.ack(853.0, 3);
    line.send(900.0, 3..4);
    line.send(1151.0, [3]);
    line.ack(1201.0, 4);
    let lost = line.found().timeouts.into_iter().map(|t| t.episode.map(|e| e.lost));
    assert_eq!(lost.collect::<Vec<_>>(), [Some(vec![2]), None, Some(vec![1])]);
}

/// The ACK that ends the repair acknowledges all. What follows at once had waited for it; what
/// comes later was written only then.
#[test]
fn what_follows_the_repair_at_once_had_waited() {
    for (after, bytes) in [(0.1, 8000), (30.0, 4000)] {
        let mut line = Line::without_sack(50.0);
        line.send(0.0, 0..4);
        line.ack(50.0, 0);
        line.send(351.0, [0]);
        line.ack(401.0, 4);
        line.send(401.0 + after, 4..8);
        line.ack(451.0 + after, 8);
        let found = line.found();
        assert_eq!(found.timeouts[0].episode.as_ref().map(|e| e.bytes), Some(bytes), "{after} ms");
    }
}

/// Segment 2 went out only after the repair of 0, and was lost, too. A strategy that sends it
/// earlier loses it.
#[test]
fn losses_soon_after_the_repair_are_known() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.send(251.0, [0]);
    line.ack(301.0, 2);
    line.send(301.1, 2..4);
    line.ack(351.1, 2);
    line.send(602.0, [2]);
    line.ack(652.0, 4);
    let found = line.found();
    let seen = |e: &Episode| (e.repaired, e.lost.clone());
    let seen: Vec<_> = found.timeouts.iter().map(|t| t.episode.as_ref().map(seen)).collect();
    assert_eq!(seen, [Some((1000, vec![1, 0, 1])), Some((1000, vec![1]))]);
}

/// Whether a retransmission that the connection's end leaves open arrived is unknown: there is
/// nothing to replay.
#[test]
fn no_episode_without_an_end() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.send(251.0, [0]);
    assert_eq!(line.found().timeouts[0].episode, None);
}

/// The application closes after it has written all, at once or
/// 100 ms later. In a replay the FIN would come too early in the second case.
#[test]
fn a_fin_that_comes_later_is_none_of_the_data() {
    for (closes, bytes) in [(0.01, 2001), (100.0, 2000)] {
        let mut line = Line::without_sack(50.0);
        line.send(0.0, 0..2);
        line.sent(ms(0.001 + closes), 2000, 1, true);
        line.send(300.0, [0]);
        line.ack(350.0, 1);
        line.send(350.01, [1]);
        line.acked_at(401.0, 2001);
        let found = line.found();
        let episode = found.timeouts[0].episode.as_ref().unwrap();
        assert_eq!((episode.bytes, &episode.lost), (bytes, &vec![1, 1]));
    }
}

/// Two ACKs for two segments, and then one for the three that a hole had held back: that is none
/// that was delayed. After two for four segments it is.
#[test]
fn what_fills_a_hole_says_nothing_of_delayed_acks() {
    for (each, delayed) in [(1, false), (2, true)] {
        let mut line = Line::without_sack(50.0);
        line.send(0.0, 0..2 * each);
        line.ack(50.0, each);
        line.ack(50.5, 2 * each);
        line.send(51.0, 2 * each..2 * each + 3);
        line.ack(101.0, 2 * each);
        line.send(351.0, [2 * each]);
        line.ack(401.0, 2 * each + 3);
        let found = line.found();
        assert_eq!(found.timeouts[0].episode.as_ref().map(|e| e.delayed_ack), Some(delayed));
    }
}
