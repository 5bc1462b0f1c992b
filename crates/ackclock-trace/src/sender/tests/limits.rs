//! What limited the sender. The round trip is 50 ms, a segment 1,000 bytes. The segments of a burst
//! are a microsecond apart, in which its own window limits the sender.

use std::sync::Arc;

use ackclock_tcp::{Span, Time};

use super::{Line, MSS, Opening, Owed, SenderModel, Sight, Terms, ms};
use crate::compact::Compact;
use crate::connection::StallCause;
use crate::lifetime::{Lifetime, Limit};
use crate::path::Path;

/// The shares in milliseconds, in the order of [`Limit::ALL`].
fn shares(line: Line) -> [f64; 7] {
    let lifetime: Lifetime = line.found().lifetime;
    Limit::ALL.map(|limit| (lifetime.of(limit).0 / 1000) as f64 / 1000.0)
}

/// A request, its answer after 200 ms, and silence.
#[test]
fn nothing_to_send() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(150.0, [0]);
    line.ack(200.0, 1);
    line.send(400.0, [1]);
    line.ack(450.0, 2);
    assert_eq!(shares(line), [50.0, 300.0, 0.0, 0.0, 0.0, 100.0, 0.0]);
}

/// What is sent shows that the handshake was answered, also where that was not captured; and what
/// is sent for longer than the timer waits, that ACKs were.
#[test]
fn acks_that_the_capture_does_not_have() {
    let mut line = Line::sack(50.0);
    for n in 0..20 {
        line.send(50.0 + 100.0 * n as f64, [n]);
    }
    let found = line.found();
    assert_eq!(found.lifetime.of(Limit::Handshake), Span::from_millis(50));
    assert_eq!(found.doubts, Vec::<String>::new());
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    for n in 0..20 {
        line.send(50.0 + 100.0 * n as f64, [n]);
    }
    line.ack(2000.0, 20);
    let found = line.found();
    assert_eq!(found.doubts, ["ACKs are missing from the capture"]);
    assert_eq!(found.stalls.iter().map(|s| s.cause).collect::<Vec<_>>(), [StallCause::CaptureGap]);
}

/// Four segments fill the window, and each ACK lets four more go; the last four are all there is.
#[test]
fn the_receivers_window() {
    let mut line = Line::sack(50.0);
    line.window = 4000;
    line.ack(50.0, 0);
    for round in 0..4 {
        let at = 50.0 * (round + 1) as f64;
        line.send(at, 4 * round..4 * round + 4);
        line.ack(at + 50.0, 4 * round + 4);
    }
    assert_eq!(shares(line), [50.0, 0.0, 149.991, 0.012, 0.0, 49.997, 0.0]);
}

/// Over loopback SMSS is nearly the whole window. A request that goes out after silence had room.
#[test]
fn a_window_of_one_segment() {
    let mut line = Line::sack(50.0);
    (line.window, line.model.stream.terms.mss) = (59_000, 65_483);
    line.ack(50.0, 0);
    for n in 0..3 {
        let at = 450.0 * (n + 1) as f64;
        line.send(at, [n]);
        line.ack(at + 50.0, n + 1);
    }
    let found = line.found();
    assert_eq!(found.lifetime.of(Limit::Application), Span::from_millis(1200));
    assert_eq!(found.lifetime.of(Limit::ReceiveWindow), Span::ZERO);
    let causes: Vec<_> = found.stalls.iter().map(|stall| stall.cause).collect();
    assert_eq!(causes, [StallCause::Application; 2]);
}

/// A round trip of 0.2 ms, and an application that writes ten segments each 0.6 ms: all is
/// acknowledged before it writes more, which does not follow at once.
#[test]
fn an_application_that_paces_itself_on_a_short_path() {
    let mut line = Line::sack(0.2);
    line.ack(0.2, 0);
    for n in 0..20 {
        let at = 0.2 + 0.6 * (n + 1) as f64;
        line.send(at, 10 * n..10 * (n + 1));
        line.ack(at + 0.2, 10 * (n + 1));
    }
    let lifetime = line.found().lifetime;
    // Within the first burst nothing is known.
    assert_eq!(lifetime.of(Limit::CongestionWindow), Span::from_micros(9));
    assert!(lifetime.of(Limit::Application) > Span::from_millis(7));
}

/// The server thinks for 300 ms of its first 350 ms of silence, until it answers. Nobody asked for
/// what it sends later.
#[test]
fn an_answer_that_takes_long() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.model.peer_data(ms(100.0), Owed::Some);
    line.send(400.0, [0]);
    line.ack(450.0, 1);
    line.send(650.0, [1]);
    line.ack(700.0, 2);
    let lifetime = line.found().lifetime;
    assert_eq!(lifetime.of(Limit::Application), Span::from_millis(550));
    assert_eq!(lifetime.answering(), Span::from_millis(300));
}

/// The client asks 300 ms after the last answer has arrived, which takes 10 ms. Nobody asked for
/// what the server sends in the end.
#[test]
fn a_client_that_asks_late() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.model.peer_data(ms(60.0), Owed::Some);
    line.send(60.0, [0]);
    line.ack(110.0, 1);
    line.model.peer_data(ms(410.0), Owed::Some);
    line.send(420.0, [1]);
    line.ack(470.0, 2);
    line.send(670.0, [2]);
    line.ack(720.0, 3);
    assert!(!line.model.limits.has_rare_waits());
    let lifetime = line.found().lifetime;
    let unasked = [lifetime.of(Limit::Application), lifetime.unasked(), lifetime.answering()];
    assert_eq!(unasked.map(|span| span.0 / 1_000_000), [520, 310, 10]);
}

/// Answers take 100, 300 and 200 ms. A farewell is none, however late it comes.
#[test]
fn the_answer_that_takes_longest() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    for (n, (asked, answered)) in
        [(100.0, 200.0), (400.0, 700.0), (800.0, 1000.0)].iter().enumerate()
    {
        line.model.peer_data(ms(*asked), Owed::Some);
        line.send(*answered, [n as u64]);
        line.ack(answered + 50.0, n as u64 + 1);
    }
    line.model.peer_data(ms(1100.0), Owed::Some);
    line.frame += 1;
    line.sent(ms(3100.0), 3000, 39, false);
    line.frame += 1;
    line.sent(ms(3100.1), 3039, 1, true);
    let lifetime = line.found().lifetime;
    let answers = [lifetime.answering(), lifetime.longest_answer()];
    assert_eq!(answers, [600, 300].map(Span::from_millis));
}

/// What a server says before it closes an idle connection is no answer to what was sent last, if it
/// has answered before and is as short as a farewell. Else it is one.
#[test]
fn a_farewell_is_no_answer() {
    let answering = |first: u64, len: u32, sent: u32| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        if first > 0 {
            line.send(100.0, [0]);
            line.ack(150.0, 1);
        }
        line.model.peer_data(ms(200.0), Owed::Some);
        let at = 1000 * first;
        line.frame += 1;
        line.sent(ms(60_200.0), at, len, false);
        line.frame += 1;
        line.sent(ms(60_200.1), at + u64::from(len), sent + 1, true);
        line.found().lifetime.answering()
    };
    assert_eq!(answering(1, 39, 24), Span::ZERO);
    for (first, len, sent) in [(0, 39, 24), (1, 200, 24), (1, 39, 1000)] {
        assert_eq!(answering(first, len, sent), Span::from_secs(60));
    }
}

/// A server that closes after an idle time has answered nothing.
#[test]
fn a_fin_is_no_answer() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(100.0, [0]);
    line.ack(150.0, 1);
    line.model.peer_data(ms(200.0), Owed::Some);
    line.frame += 1;
    line.sent(ms(60_200.0), 1000, 1, true);
    assert_eq!(line.found().lifetime.answering(), Span::ZERO);
}

/// ACKs of less than two full segments with nothing behind them: the second here, of six, and the
/// last three. The fourth carries data, and the last one is of two short segments.
#[test]
fn acks_that_may_be_delayed() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(100.0, 0..2);
    line.ack(150.0, 1);
    line.ack(190.0, 2);
    line.send(200.0, 2..4);
    line.ack(250.0, 4);
    line.send(300.0, [4]);
    line.acked(350.0, 5, &[], false, None, true);
    line.send(400.0, [5]);
    line.ack(450.0, 6);
    for n in 0..2 {
        let short = line.segment(ms(500.0 + n as f64), 6000 + 100 * n, 100);
        line.model.sent(&short);
    }
    // The connection had begun, and its longest segment is short.
    line.model.set_mss(100);
    let acked = line.plain(550.0, 6200);
    line.heard(acked);
    let rtt = line.found().rtt.unwrap();
    assert_eq!((rtt.samples, rtt.delayable), (6, 4));
}

/// Nor does a receiver whose application does not read acknowledge two segments at once: they leave
/// less room in its window. Linux waits for 40 ms (`__tcp_ack_snd_check`).
#[test]
fn acks_that_may_be_delayed_since_the_window_shrinks() {
    let delayable = |window: u64, outstanding: u64| {
        let mut line = Line::sack(50.0);
        line.window = 4000;
        line.ack(50.0, 0);
        line.send(100.0, 0..2 + outstanding);
        line.window = window;
        line.ack(190.0, 2);
        line.found().rtt.unwrap().delayable
    };
    assert_eq!(delayable(2000, 0), 1);
    assert_eq!(delayable(4000, 0), 0);
    assert_eq!(delayable(2000, 1), 0);
}

/// The window of the SYN/ACK is larger than any that is full, and so is that of the fourth round.
/// Of those that are full the largest counts, but not the last one, for which nothing waits.
#[test]
fn the_window_that_limits() {
    let mut line = Line::sack(50.0);
    line.window = 9000;
    line.ack(50.0, 0);
    let rounds = [(0..3, 3000), (3..6, 2000), (6..8, 6000), (8..11, 3500), (11..14, 3500)];
    for (round, (segments, next)) in rounds.into_iter().enumerate() {
        let (at, end) = (50.0 * (round + 1) as f64, segments.end);
        line.send(at, segments);
        line.window = next;
        line.ack(at + 50.0, end);
    }
    let found = line.found();
    assert_eq!((found.window, found.full_window), (9000, 3000));
}

/// A window of four segments, which limits for 100 ms, and then of one for 50 ms, as data waits in
/// the buffer to be read. A window that grows was always too small.
#[test]
fn a_window_that_shrinks() {
    let shrunk = |windows: [u64; 3]| {
        let mut line = Line::sack(50.0);
        line.window = windows[0];
        line.ack(50.0, 0);
        let mut next = 0;
        for (round, window) in windows.into_iter().enumerate() {
            let (at, end) = (50.0 * (round + 1) as f64, next + window / 1000);
            line.send(at, next..end);
            line.window = windows[(round + 1).min(2)];
            line.ack(at + 50.0, end);
            next = end;
        }
        line.send(200.0, [next]);
        line.ack(250.0, next + 1);
        let lifetime = line.found().lifetime;
        [lifetime.of(Limit::ReceiveWindow), lifetime.shrunk()].map(|span| span.0 / 1_000_000)
    };
    assert_eq!(shrunk([4000, 4000, 1000]), [149, 50]);
    assert_eq!(shrunk([4000, 4000, 2000]), [149, 0]);
    assert_eq!(shrunk([1000, 2000, 4000]), [149, 0]);
}

/// Four segments fill the buffer, and `late` after they have come one ACK covers them all, with the
/// room that a read has made. Once the receiver has said that nothing of them was `read`, all waits
/// are for the reads. They are not if ACKs that cover so much are not late, or cover two segments,
/// or if no window was smaller.
#[test]
fn a_window_that_reopens_with_the_reads() {
    let shrunk = |late: f64, step: u64, read: u64| {
        let mut line = Line::sack(50.0);
        line.window = 4000;
        line.ack(50.0, 0);
        let (mut at, mut next) = (50.0, 0);
        for round in 0..4 {
            line.send(at, next..next + 4);
            at += if round == 0 { 50.0 } else { 50.0 + late };
            if round == 1 {
                line.window = read;
                line.ack(at, next + 4);
                (line.window, at) = (4000, at + 10.0);
            }
            (next..next + 4).step_by(step as usize).for_each(|n| line.ack(at, n + step));
            next += 4;
        }
        line.send(at, [next]);
        line.ack(at + 50.0, next + 1);
        let lifetime = line.found().lifetime;
        [lifetime.of(Limit::ReceiveWindow), lifetime.shrunk()].map(|span| span.0 / 1_000_000)
    };
    assert_eq!(shrunk(30.0, 4, 0), [299, 169]);
    let others = [shrunk(0.0, 4, 0), shrunk(30.0, 2, 0), shrunk(30.0, 4, 2000)];
    assert_eq!(others, [[209, 10], [299, 10], [209, 0]]);
}

/// The capture begins when 25 segments are on their way over a path that holds six, each of which
/// takes 200 ms. What is shorter than a segment does not wait at the end, and tells that there was
/// a queue; without it nothing does.
#[test]
fn a_queue_that_was_full_before_the_capture() {
    let limited = |small: f64| {
        let mut line = Line::sack(42.0);
        let terms = Terms {
            opening: Opening::Unseen,
            handshake_rtt: Compact::default(),
            ..line.model.stream.terms
        };
        line.model = SenderModel::new(terms, Arc::default());
        for n in 0..175u64 {
            line.ack(8.0 * n as f64, n);
            if n < 150 {
                line.send(8.0 * n as f64, [n + 25]);
            }
        }
        line.ack(1400.0, 175);
        line.sent(ms(1410.0), 175 * MSS, 1, true);
        let fin = line.plain(1410.0 + small, 175 * MSS + 1);
        line.heard(fin);
        let lifetime = line.found().lifetime;
        let of = [lifetime.of(Limit::CongestionWindow), lifetime.full()];
        of.map(|span| span.0 / 1_000_000)
    };
    assert_eq!(limited(42.0)[0], 0);
    assert!(limited(42.0)[1] > 900, "{:?}", limited(42.0));
    assert_eq!(limited(190.0)[1], 0);
}

/// A window of so many segments, over a path that holds six and takes 8 ms for each. With ten there
/// is a queue all the time, which a larger window would only make longer.
#[test]
fn a_window_that_fills_the_path() {
    let limited = |window: u64| {
        let mut line = Line::sack(42.0);
        line.window = window * MSS;
        line.ack(42.0, 0);
        line.send(42.0, 0..window);
        // When the ACK of each segment came, which lets the one go that follows by a window.
        let mut came: Vec<f64> = Vec::new();
        for n in 0..100u64 {
            let went = n.checked_sub(window).map_or(42.0, |before| came[before as usize]);
            let busy = came.last().map_or(0.0, |last| last + 8.0);
            let at = busy.max(went + 50.0);
            came.push(at);
            line.ack(at, n + 1);
            line.send(at, [n + window]);
        }
        let lifetime = line.found().lifetime;
        let of = [lifetime.of(Limit::ReceiveWindow), lifetime.filled()];
        of.map(|span| span.0 / 1_000_000)
    };
    let ([share, filled], [small, none]) = (limited(10), limited(4));
    assert!(share > 700 && filled * 10 > share * 9, "{share} {filled}");
    assert!(small > 700 && none == 0, "{small} {none}");
}

/// The client asks, and what it gets is acknowledged a second later: that is nothing rare away from
/// the sender, where timers may have expired.
#[test]
fn a_slow_answer_away_from_the_sender_takes_no_more_memory() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.ack(50.0, 0);
    line.model.peer_data(ms(60.0), Owed::Some);
    line.send(60.0, [0]);
    line.ack(1360.0, 1);
    assert!(!line.model.limits.has_rare_waits());
}

/// ACKs that are late and all at once count from the first one on, also before the receiver says
/// that something is not read, and whatever else there was: one such word is too little then.
#[test]
fn late_acks_count_before_anything_is_unread() {
    let shrunk = |before: u64, asks: bool| {
        let mut line = Line::sack(50.0);
        line.window = 4000;
        line.ack(50.0, 0);
        if asks {
            line.model.peer_data(ms(60.0), Owed::Some);
        }
        let (mut at, mut next) = (100.0, 0);
        for round in 0..before + 3 {
            line.send(at, next..next + 4);
            at += if round == 0 { 50.0 } else { 80.0 };
            if round == before {
                line.window = 0;
                line.ack(at, next + 4);
                (line.window, at) = (4000, at + 10.0);
            }
            next += 4;
            line.ack(at, next);
        }
        line.send(at, [next]);
        line.ack(at + 50.0, next + 1);
        line.found().lifetime.shrunk().0 / 1_000_000
    };
    assert!(shrunk(1, false) > 100);
    assert_eq!([shrunk(12, false), shrunk(12, true)], [10, 10]);
}

/// The same where the scale of the window is not known: it may be larger than it looks.
#[test]
fn a_window_of_unknown_scale() {
    let mut line = Line::sack(50.0);
    (line.window, line.scaled) = (4000, false);
    line.ack(50.0, 0);
    for round in 0..4 {
        let at = 50.0 * (round + 1) as f64;
        line.send(at, 4 * round..4 * round + 4);
        line.ack(at + 50.0, 4 * round + 4);
    }
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 150.003, 0.0, 49.997, 0.0]);
}

/// A closed window is closed at any scale.
#[test]
fn a_closed_window_of_unknown_scale() {
    let mut line = Line::sack(50.0);
    (line.window, line.scaled) = (500, false);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.closed_window(100.0, 1);
    line.ack(400.0, 1);
    line.send(400.0, [1]);
    line.ack(450.0, 2);
    let found = line.found();
    assert_eq!(found.lifetime.of(Limit::ReceiveWindow), Span::from_millis(300));
    assert_eq!(found.stalls.iter().map(|s| s.cause).collect::<Vec<_>>(), [StallCause::ZeroWindow]);
}

/// The window closes for 300 ms, and what waits goes out as soon as it opens. Then the application
/// has no more, and that the window is closed makes no difference.
#[test]
fn a_closed_window() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.closed_window(100.0, 1);
    line.ack(400.0, 1);
    line.send(400.0, [1]);
    line.closed_window(450.0, 2);
    line.ack(950.0, 2);
    assert_eq!(shares(line), [50.0, 500.0, 300.0, 0.0, 0.0, 100.0, 0.0]);
}

/// The receiver says once more that its window is closed: it was asked, and who asks has something
/// to send.
#[test]
fn a_closed_window_that_is_asked_for() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    for at in [100.0, 350.0, 850.0] {
        line.closed_window(at, 1);
    }
    assert_eq!(shares(line), [50.0, 0.0, 750.0, 0.0, 0.0, 50.0, 0.0]);
}

/// The same on a host that answers the ACK which opens the window after 4 ms: that the application
/// has written just then is unlikely. After 7 ms it may have.
#[test]
fn a_closed_window_and_a_slow_host() {
    for (after, expected) in [
        (4.0, [50.0, 4.0, 300.0, 0.0, 0.0, 100.0, 0.0]),
        (7.0, [50.0, 307.0, 0.0, 0.0, 0.0, 100.0, 0.0]),
    ] {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, [0]);
        line.closed_window(100.0, 1);
        line.ack(400.0, 1);
        line.send(400.0 + after, [1]);
        line.ack(450.0 + after, 2);
        assert_eq!(shares(line), expected);
    }
}

/// A byte of new data probes the closed window (RFC 9293 section 3.8.6.1): the window is closed
/// before and after. What goes out behind that byte once it opens had waited, though it is short.
#[test]
fn a_closed_window_that_is_probed_with_data() {
    let line = || {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, [0]);
        line.closed_window(100.0, 1);
        line.sent(ms(1100.0), 1000, 1, false);
        line.closed_window(1150.0, 1);
        line.ack(3000.0, 1);
        line.sent(ms(3000.0), 1000, 180, false);
        line.sent(ms(3000.0), 1180, 1000, false);
        line.acked_at(3050.0, 2180);
        line
    };
    assert_eq!(shares(line()), [50.0, 0.0, 2900.0, 0.0, 0.0, 100.0, 0.0]);
    let stalls = line().found().stalls;
    let stalls: Vec<_> = stalls.iter().map(|s| (s.cause, s.start, s.end)).collect();
    assert_eq!(stalls, [(StallCause::ZeroWindow, ms(100.0), ms(3000.0))]);
}

/// The window stays closed to the end. A byte asks for room, so that there was more to send, and
/// its answers still say no.
#[test]
fn a_closed_window_that_is_never_opened() {
    let line = |probe: bool| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, [0]);
        line.closed_window(100.0, 1);
        if probe {
            line.sent(ms(1100.0), 1000, 1, false);
            line.closed_window(1150.0, 1);
        }
        line.end = ms(5000.0);
        line
    };
    assert_eq!(shares(line(true)), [50.0, 0.0, 4900.0, 0.0, 0.0, 50.0, 0.0]);
    assert_eq!(shares(line(false)), [50.0, 4900.0, 0.0, 0.0, 0.0, 50.0, 0.0]);
}

/// The window opens, but the byte that asks for room goes once more a second later: the timer that
/// sends it has held the sender back. In less than a round trip none has.
#[test]
fn a_closed_window_that_is_asked_for_once_it_is_open() {
    let line = |asks: f64| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..10);
        line.closed_window(100.0, 10);
        line.sent(ms(1100.0), 10_000, 1, false);
        line.closed_window(1150.0, 10);
        line.ack(2000.0, 10);
        line.model.asks_again(ms(asks), 15);
        line.acked_at(asks + 50.0, 10_001);
        (0..5).for_each(|n| line.send_bytes(asks + 50.0, 10_001 + n * 1000, 1000));
        line.acked_at(asks + 100.0, 15_001);
        line
    };
    assert_eq!(shares(line(3000.0)), [50.0, 0.0, 1900.0, 50.009, 1000.0, 99.991, 0.0]);
    assert_eq!(shares(line(2040.0)), [50.0, 0.0, 1900.0, 90.009, 0.0, 99.991, 0.0]);
}

/// Four segments are acknowledged each 10 ms, of twenty that fill the window. Two go at once and
/// two 4 ms later, as they are paced: that they are does not limit the sender, the window does.
#[test]
fn a_window_that_is_filled_at_a_pace() {
    let mut line = Line::sack(50.0);
    line.window = 20_000;
    line.ack(50.0, 0);
    for cycle in 0..60 {
        let at = 60.0 + 10.0 * cycle as f64;
        if cycle >= 5 {
            line.ack(at, 4 * (cycle - 4));
        }
        line.send(at + 0.01, 4 * cycle..4 * cycle + 2);
        line.send(at + 4.0, 4 * cycle + 2..4 * cycle + 4);
    }
    let [.., window, cwnd, _, path, _] = shares(line);
    assert!(window > 540.0 && cwnd < 1.0 && path < 60.0, "{window}, {cwnd} and {path} ms");
}

/// Ten segments are written each 5 ms. Their ACKs come right after another write each, so that
/// there is always one less than a quarter of a round trip before. Nothing waits, for the round
/// trip never changes: the path is not full.
#[test]
fn an_application_that_writes_bursts_at_a_steady_rate() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    for burst in 0..200 {
        let at = 60.0 + 5.0 * burst as f64;
        line.send(at, 10 * burst..10 * burst + 10);
        if burst >= 10 {
            for n in 0..10 {
                line.ack(at + 0.2 + 0.1 * n as f64, 10 * (burst - 10) + n + 1);
            }
        }
    }
    let lifetime = line.found().lifetime;
    assert_eq!(lifetime.of(Limit::CongestionWindow), Span::ZERO);
    assert_eq!(lifetime.full(), Span::ZERO);
}

/// Slow start without a queue: each ACK lets more go.
#[test]
fn the_congestion_window() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.ack(100.0, 2);
    line.send(100.0, 2..6);
    line.ack(150.0, 6);
    line.send(150.0, 6..8);
    line.ack(200.0, 8);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 100.001, 0.0, 49.999, 0.0]);
}

/// The same on a busy host, or one whose TCP is a program: each window follows 0.4 ms after the ACK
/// of the one before.
#[test]
fn the_congestion_window_of_a_slow_host() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..10);
    line.ack(100.0, 10);
    line.send(100.4, 10..30);
    line.ack(150.4, 30);
    line.send(150.8, 30..70);
    line.ack(200.8, 70);
    assert_eq!(shares(line), [50.0, 0.8, 0.0, 100.039, 0.0, 49.961, 0.0]);
}

/// The same with a bottleneck of 20 ms a segment, which is busy as long as three are outstanding.
fn over_a_bottleneck() -> Line {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.ack(100.0, 2);
    line.send(100.0, 2..6);
    for n in 3..7 {
        line.ack(120.0 + 20.0 * n as f64, n);
        line.send(120.0 + 20.0 * n as f64, [n + 3]);
    }
    line.ack(300.0, 10);
    line
}

#[test]
fn the_bottleneck() {
    assert_eq!(shares(over_a_bottleneck()), [50.0, 0.0, 0.0, 0.002, 0.0, 249.998, 0.0]);
}

/// The path was full until the last segments had gone out, for which nothing waited. What an
/// application gives now and then is on its way alone.
#[test]
fn a_full_path_and_one_that_takes_its_time() {
    let mut line = over_a_bottleneck();
    line.send(400.0, [10]);
    line.ack(450.0, 11);
    let lifetime = line.found().lifetime;
    let ms = |span: Span| span.0 / 1_000_000;
    assert_eq!((ms(lifetime.of(Limit::Path)), ms(lifetime.full())), (299, 189));
}

/// The last segment is lost: from the last event before the timeout to the ACK of what it sent.
#[test]
fn a_timeout() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..3);
    line.ack(100.0, 2);
    line.send(350.0, [2]);
    line.ack(400.0, 3);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 0.002, 300.0, 49.998, 0.0]);
}

/// All is acknowledged, as the capture at the sender has it, and the timer expires nevertheless:
/// the host has lost the ACK.
#[test]
fn a_timeout_after_an_ack_that_was_lost_in_the_host() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.ack(100.0, 1);
    line.send(300.0, [0]);
    line.ack(350.0, 1);
    line.send(350.0, [1]);
    line.ack(400.0, 2);
    let [handshake, application, .., recovery, path, _] = shares(line);
    assert_eq!([handshake, application, recovery, path], [50.0, 50.0, 200.0, 100.0]);
}

/// Segment 0 and its fast retransmit were lost before the capture. Since the third segment behind
/// the hole was reported the sender repairs it, though ACKs come and it sends new data.
#[test]
fn a_repair_that_was_lost_before_the_capture() {
    for sack in [true, false] {
        let mut line = Line::sack(50.0);
        (line.model.stream.terms.sight, line.model.stream.terms.sack) = (Sight::Received, sack);
        line.ack(50.0, 0);
        line.send(50.0, 1..10);
        for n in 1..10 {
            let t = 100.0 + n as f64;
            if sack {
                line.ack_sack(t, 0, &[(1, 1 + n)])
            } else {
                line.ack(t, 0)
            }
            if n > 5 {
                line.send(t + 0.1, [4 + n]);
            }
        }
        line.send(350.0, [0]);
        line.ack(400.0, 14);
        let [.., recovery, _, _] = shares(line);
        // From 103 to 400 ms.
        assert!((296.0..298.0).contains(&recovery), "{sack}: {recovery}");
    }
}

/// While the first segment waits for its timer, the SYN/ACK comes again. It tells nothing new.
#[test]
fn a_timeout_and_a_syn_ack_again() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.acked_again(1050.0);
    line.send(1250.0, [0]);
    line.ack(1300.0, 1);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 0.0, 1250.0, 0.0, 0.0]);
}

/// A window of one segment, and the receiver delays its ACK for longer than the probe's timer: new
/// data goes out without an ACK, and more on the next one, which had waited, too.
#[test]
fn a_probe_of_new_data() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.send(250.0, [1]);
    line.ack(300.0, 2);
    line.send(300.0, [2]);
    line.ack(350.0, 3);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 50.0, 200.0, 50.0, 0.0]);
}

/// The same, but no more goes out on the ACK: the application wrote it after 200 ms.
#[test]
fn a_write_of_its_own() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.send(250.0, [1]);
    line.ack(300.0, 2);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 0.0, 0.0, 250.0, 0.0]);
}

/// Three segments fill the window; the bottleneck takes 10 ms for each, so the path holds five.
/// While another connection has three more outstanding on it, the path limits, else cwnd does.
#[test]
fn another_connection_fills_the_path() {
    let cases = [(0, 140.002, 69.998, 56.002), (3000, 70.003, 139.997, 28.002)];
    for (other, cwnd, path, idle) in cases {
        let shared: Arc<Path> = Arc::default();
        let mut line = Line::over(Arc::clone(&shared), 50.0);
        line.ack(50.0, 0);
        for (round, begins) in [50.0, 120.0, 190.0].into_iter().enumerate() {
            let first = 3 * round as u64;
            line.send(begins, first..first + 3);
            if round == 1 {
                shared.outstanding(0, other);
            }
            for n in 0..3 {
                line.ack(begins + 50.0 + 10.0 * n as f64, first + n + 1);
            }
        }
        let lifetime = line.found().lifetime;
        let ms = |span: Span| (span.0 / 1000) as f64 / 1000.0;
        let found = Limit::ALL.map(|limit| ms(lifetime.of(limit)));
        assert_eq!(found, [50.0, 0.0, 0.0, cwnd, 0.0, path, 0.0]);
        // Two of five could be on their way in that time, too.
        assert_eq!(ms(lifetime.idle()), idle);
        // Its own is no longer outstanding.
        assert_eq!(shared.flight(Time::ZERO), other);
    }
}

/// Three segments go out in each round trip, where the path holds five, and the first of the fourth
/// round is lost: what is before that is told apart from what is behind the recovery.
#[test]
fn idle_time_before_the_first_loss() {
    let found = |rounds: u64| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        let round = |line: &mut Line, n: u64, begins: f64| {
            line.send(begins, 3 * n..3 * n + 3);
            for i in 0..3 {
                line.ack(begins + 50.0 + 10.0 * i as f64, 3 * n + i + 1);
            }
        };
        for n in 0..3 {
            round(&mut line, n, 50.0 + 70.0 * n as f64);
        }
        line.send(260.0, 9..12);
        line.send(600.0, [9]);
        line.ack(650.0, 12);
        for n in 0..rounds {
            round(&mut line, 4 + n, 650.0 + 70.0 * n as f64);
        }
        let lifetime = line.found().lifetime;
        [lifetime.growing(), lifetime.idle()].map(|span| span.0 / 1_000_000)
    };
    // Of three round trips of 70 ms each, in which two of five could have been on their way, too.
    assert_eq!(found(1), [84, 84]);
    assert_eq!(found(3), [84, 140]);
}

/// The FIN is acknowledged after 50 ms, and the other end says nothing for 4 s. Without one, its
/// application has nothing to send.
#[test]
fn a_connection_that_the_other_end_keeps_open() {
    let found = |fin: bool| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, [0]);
        if fin {
            line.sent(ms(50.0), MSS, 1, true);
        }
        let end = MSS + u64::from(fin);
        line.acked_at(100.0, end);
        line.acked_at(4100.0, end);
        let lifetime = line.found().lifetime;
        [lifetime.of(Limit::Application), lifetime.closed(), lifetime.paused()]
            .map(|span| span.0 / 1_000_000)
    };
    assert_eq!(found(true), [4000, 4000, 0]);
    assert_eq!(found(false), [4000, 0, 4000]);
}

/// A fast retransmit: until the recovery point is acknowledged. The duplicates before it came
/// while the path delivered.
#[test]
fn a_recovery() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..6);
    for n in 2..5 {
        line.ack_sack(100.0 + n as f64, 0, &[(1, n)]);
    }
    line.send(104.0, [0]);
    line.ack_sack(105.0, 0, &[(1, 6)]);
    line.ack(154.0, 6);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 0.005, 50.0, 53.995, 0.0]);
}

/// An application that writes now and then, with something always on its way.
#[test]
fn writes_of_its_own() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    for n in 0..5 {
        line.send(50.0 + 40.0 * n as f64, [n]);
        line.ack(50.0 + 40.0 * n as f64 + 5.0, n);
    }
    line.ack(260.0, 5);
    assert_eq!(shares(line)[..5], [50.0, 0.0, 0.0, 0.0, 0.0]);
}

/// What is written while ACKs come waits for none of them: nothing was left behind a segment that
/// is not full, and what goes out 5 ms after an ACK was written then. Nor for full segments, which
/// may be paced, as the flight does not grow.
#[test]
fn writes_between_acks() {
    let found = |rest: u32| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        let end = 1000 + u64::from(rest);
        for (at, position) in [(50.0, 0), (80.0, end)] {
            line.send_bytes(at, position, 1000);
            line.send_bytes(at, position + 1000, rest);
        }
        line.acked_at(100.0, end);
        line.send_bytes(105.0, 2 * end, 1000);
        line.acked_at(155.0, 2 * end + 1000);
        shares(line)
    };
    assert_eq!(found(400), [50.0, 0.0, 0.0, 0.0, 0.0, 105.0, 0.0]);
    assert_eq!(found(1000), [50.0, 0.0, 0.0, 0.0, 0.0, 105.0, 0.0]);
}

/// Segments of so many bytes go out at these times in ms, from 50 on, and each is acknowledged
/// after 50 ms. How long cwnd and the path limited their sender, in ms.
fn each_acknowledged(bytes: u32, times: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let acks = times.clone().map(|at| (at + 50.0, true));
    let mut events: Vec<(f64, bool)> = times.map(|at| (at, false)).chain(acks).collect();
    events.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    let [mut sent, mut acked] = [0; 2];
    for (at, is_ack) in events {
        if is_ack {
            acked += u64::from(bytes);
            line.acked_at(at, acked);
        } else {
            line.send_bytes(at, sent, bytes);
            sent += u64::from(bytes);
        }
    }
    let [.., cwnd, _, path, _] = shares(line);
    [cwnd, path]
}

/// An application that writes a segment every 12 ms, or 800 bytes every 8 ms: there is an ACK less
/// than a quarter of a round trip before each, but what is outstanding never grows. Nor does it
/// where 5 ms after each ACK more is written, as if it were paced.
#[test]
fn an_application_that_writes_at_a_steady_rate() {
    for (bytes, gap) in [(1000, 12.0), (800, 8.0), (1000, 0.7), (1000, 15.0)] {
        let times = (0..300).map(|n| 60.0 + gap * f64::from(n));
        let [cwnd, path] = each_acknowledged(bytes, times);
        assert!(cwnd == 0.0 && path > 250.0, "{bytes} every {gap} ms: {cwnd} and {path} ms");
    }
}

/// Slow start that is paced: 2, 4, 8, 16 and 32 segments in half a round trip, evenly, the first of
/// them as soon as an ACK has come. Then so many
/// are written over each whole one: what an application or a rate of the sender's own spreads so
/// does not wait for cwnd, which would let them go faster.
#[test]
fn a_window_that_grows_while_it_is_paced() {
    let rounds = |last: u32| {
        (0..last).flat_map(|round| {
            let segments = 2 << round.min(4);
            let later = f64::from(round.saturating_sub(5));
            let begins = 60.0 + 50.05 * f64::from(round.min(5)) + 53.0 * later;
            let spread = if round < 5 { 25.0 } else { 53.0 };
            (0..segments).map(move |n| begins + spread / f64::from(segments) * f64::from(n))
        })
    };
    let [cwnd, path] = each_acknowledged(1000, rounds(5));
    assert!(cwnd > 100.0 && path < 150.0, "{cwnd} and {path} ms");
    let [longer, still] = each_acknowledged(1000, rounds(25));
    assert!(longer < cwnd + 60.0 && still > path + 940.0, "{longer} and {still} ms");
}

/// Twenty segments fill a send buffer, and for each that is acknowledged another one goes at once:
/// what is outstanding does not grow, but ACKs let it go.
#[test]
fn a_send_buffer_that_is_full() {
    let times = (0..600).map(|n| 60.0 + 50.0 * f64::from(n / 20) + f64::from(n % 20));
    let [cwnd, path] =
        each_acknowledged(1000, times.map(|at| at + 0.02 * ((at - 60.0) / 50.0).floor()));
    assert!(cwnd > 1300.0 && path < 150.0, "{cwnd} and {path} ms");
}

/// Two segments and one that is not full are written each 10 ms, just as the ACKs of those five
/// writes before come. What is outstanding does not grow, and the send buffer is empty behind each
/// write. With three full segments it may be full all the time.
#[test]
fn an_application_that_writes_in_step_with_the_round_trip() {
    let found = |last: u32| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        let write = u64::from(2000 + last);
        for n in 0..400 {
            let at = 60.0 + 10.01 * n as f64;
            if n >= 5 {
                line.acked_at(at - 0.16, write * (n - 5) + 2000);
                line.acked_at(at - 0.06, write * (n - 4));
            }
            for (part, len) in [1000, 1000, last].into_iter().enumerate() {
                line.send_bytes(at + 0.001 * part as f64, write * n + 1000 * part as u64, len);
            }
        }
        let [.., cwnd, _, path, _] = shares(line);
        [cwnd, path]
    };
    let [cwnd, path] = found(700);
    assert!(cwnd < 400.0 && path > 3600.0, "{cwnd} and {path} ms");
    let [cwnd, path] = found(1000);
    assert!(cwnd > 3900.0 && path < 100.0, "{cwnd} and {path} ms");
}

/// Ten segments every 30 ms, of which twenty may be outstanding: 10 ms before each, ten are
/// acknowledged, and let nothing go. What goes at once has waited.
#[test]
fn bursts_between_acks() {
    let found = |after: f64| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..10);
        line.send(80.0, 10..20);
        line.ack(100.0, 10);
        line.send(100.0 + after, 20..30);
        line.ack(130.0, 20);
        line.ack(150.0 + after, 30);
        shares(line)
    };
    assert_eq!(found(10.0), [50.0, 0.0, 0.0, 0.009, 0.0, 109.991, 0.0]);
    assert_eq!(found(0.0), [50.0, 0.0, 0.0, 20.009, 0.0, 79.991, 0.0]);
}

/// All is acknowledged, and 5 ms later more is written.
#[test]
fn what_is_written_after_the_last_ack() {
    let found = pieces(&[(50.0, 1000, Some(100.0)), (105.0, 1000, Some(155.0))]);
    assert_eq!(found, [50.0, 5.0, 0.0, 0.0, 0.0, 100.0, 0.0]);
}

/// A FIN is lost with nothing else: all data has arrived, so that nobody waits. With the last
/// segment lost, somebody does.
#[test]
fn a_lost_fin_holds_up_nothing() {
    for (data, application, recovery, stalls) in [(1000, 301.0, 0.0, 0), (2000, 0.0, 301.0, 1)] {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..data / 1000);
        line.ack(100.0, 1);
        line.sent(ms(100.0), data, 1, true);
        line.sent(ms(351.0), 1000, (data - 1000) as u32 + 1, true);
        line.acked_at(401.0, data + 1);
        let found = line.found();
        let of = |limit| (found.lifetime.of(limit).0 / 1_000_000) as f64;
        assert_eq!((of(Limit::Application), of(Limit::Recovery)), (application, recovery));
        assert_eq!(found.stalls.len(), stalls, "{:?}", found.stalls);
    }
}

/// The capture ends while a FIN waits for its ACK.
#[test]
fn a_fin_without_an_answer_is_no_stall() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.ack(100.0, 1);
    for at in [100.0, 351.0, 800.0, 1700.0] {
        line.sent(ms(at), 1000, 1, true);
    }
    let found = line.found();
    assert_eq!(found.stalls, []);
    assert_eq!(found.lifetime.of(Limit::Recovery), Span::ZERO);
}

/// Pieces of messages, in the order in which they go out: when, of how many bytes, and when the ACK
/// of all comes.
fn pieces(pieces: &[(f64, u32, Option<f64>)]) -> [f64; 7] {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    let mut position = 0;
    for &(at, len, acked) in pieces {
        line.send_bytes(at, position, len);
        position += u64::from(len);
        acked.into_iter().for_each(|acked| line.acked_at(acked, position));
    }
    shares(line)
}

/// A message of 600 bytes in two pieces: the second waits for the ACK of the first, which the
/// receiver delays by 40 ms.
#[test]
fn nagle() {
    let found = pieces(&[(50.0, 100, Some(140.0)), (140.0, 500, Some(190.0))]);
    assert_eq!(found, [50.0, 0.0, 0.0, 0.0, 0.0, 50.0, 90.0]);
}

/// A full segment waits for no ACK.
#[test]
fn nagle_lets_full_segments_go() {
    let found = pieces(&[(50.0, 100, Some(140.0)), (140.0, 1000, Some(190.0))]);
    assert_eq!(found, [50.0, 0.0, 0.0, 90.0, 0.0, 50.0, 0.0]);
}

/// What goes out 2 ms after the ACK was written then: what Nagle's algorithm holds goes at once.
#[test]
fn nagle_waits_for_the_ack_alone() {
    let found = pieces(&[(50.0, 100, Some(140.0)), (142.0, 500, Some(190.0))]);
    assert_eq!(found, [50.0, 2.0, 0.0, 0.0, 0.0, 138.0, 0.0]);
}

/// Two small segments outstanding: the algorithm is off. Had cwnd held the third, it would have
/// gone with others.
#[test]
fn no_nagle_where_small_segments_go_beside_others() {
    let found = pieces(&[(50.0, 100, None), (50.0, 100, Some(140.0)), (140.0, 400, Some(190.0))]);
    assert_eq!(found, [50.0, 0.0, 0.0, 0.0, 0.0, 140.0, 0.0]);
}

/// A large segment may be all that a path takes, of which the sender has heard.
#[test]
fn segments_that_fill_the_path_wait_for_cwnd() {
    let found = pieces(&[(50.0, 900, None), (50.0, 900, Some(140.0)), (140.0, 900, Some(190.0))]);
    assert_eq!(found, [50.0, 0.0, 0.0, 90.0, 0.0, 50.0, 0.0]);
}

/// An application that writes by a timer of its own, with TCP_NODELAY, about a round trip apart:
/// some writes go out just after the ACK of the one before, and some before it.
#[test]
fn a_timer_of_an_application_is_not_nagle() {
    let mut all = Vec::new();
    for n in 0..40 {
        let at = 50.0 + 50.5 * f64::from(n);
        let acked = if n % 3 == 2 { 50.4 } else { 50.1 };
        all.push((at, 200, Some(at + acked)));
    }
    // A third at once, and the others a little later.
    let shares = pieces(&all);
    assert_eq!((shares[3], shares[6]), (0.0, 0.0));
    let mut beside = vec![(50.0, 200, None), (80.0, 200, Some(130.0)), (140.0, 200, None)];
    beside.extend([
        (170.0, 200, Some(220.0)),
        (230.0, 200, Some(280.0)),
        (280.1, 200, Some(330.0)),
    ]);
    let shares = pieces(&beside);
    assert_eq!((shares[3], shares[6]), (0.0, 0.0));
}

/// Two full segments and a rest: classic Nagle holds the rest until both are acknowledged, the
/// first of which makes room for cwnd.
#[test]
fn nagle_waits_for_full_segments() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.ack(100.0, 1);
    line.ack(140.0, 2);
    line.send_bytes(140.0, 2000, 500);
    line.acked_at(190.0, 2500);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 0.001, 0.0, 50.0, 89.999]);
}

/// An application writes pieces of two segments and a half, every 30 ms: the half of each waits for
/// the ACK of the half before it, while full segments are outstanding (`tcp_minshall_check`). With
/// whole segments, what goes on an ACK has waited for cwnd.
#[test]
fn nagle_holds_the_rest_of_each_piece() {
    let found = |half: u32| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        let end = u64::from(2000 + half);
        line.send(50.0, 0..2);
        line.send_bytes(50.0, 2000, half);
        line.send_bytes(80.0, end, 1000);
        line.send_bytes(80.0, end + 1000, 1000);
        line.acked_at(100.0, end);
        line.send_bytes(100.0, end + 2000, half);
        line.acked_at(130.0, end + 2000);
        line.acked_at(150.0, end + end);
        shares(line)
    };
    assert_eq!(found(500), [50.0, 0.0, 0.0, 0.001, 0.0, 79.999, 20.0]);
    assert_eq!(found(1000), [50.0, 0.0, 0.0, 20.001, 0.0, 79.999, 0.0]);
}

/// A FIN with the last bytes is not held back (`tcp_nagle_test`).
#[test]
fn nagle_lets_a_fin_go() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.sent(ms(50.0), 0, 100, false);
    line.acked_at(140.0, 100);
    line.sent(ms(140.0), 100, 501, true);
    line.acked_at(190.0, 601);
    assert_eq!(shares(line), [50.0, 0.0, 0.0, 90.0, 0.0, 50.0, 0.0]);
}

/// The last ACK of a connection reaches its sender after 50 ms, when nobody asks it any more; the
/// others on the path hear of it. Unless the sender sends more before.
#[test]
fn a_connection_that_is_done_leaves_the_path() {
    for (more, left) in [(false, [3000, 0]), (true, [4000, 4000])] {
        let shared: Arc<Path> = Arc::default();
        let mut line = Line::over(Arc::clone(&shared), 50.0);
        let mut other = Line::over(Arc::clone(&shared), 50.0);
        line.ack(50.0, 0);
        other.ack(50.0, 0);
        line.send(50.0, 0..3);
        // An ACK of a part of it says nothing.
        line.model.ack_passes(ms(60.0), 2000);
        line.model.ack_passes(ms(100.0), 3000);
        if more {
            line.send(90.0, [3]);
        }
        assert_eq!([99.0, 100.0].map(|at| other.model.others(ms(at))), left, "{more}");
        line.ack(100.0, 3);
        let rest = u64::from(more) * 1000;
        assert_eq!((shared.flight(ms(100.0)), line.model.others(ms(100.0))), (rest, 0));
        line.send(110.0, [3 + u64::from(more)]);
        assert_eq!(shared.flight(ms(110.0)), rest + 1000);
        drop(line.found());
        assert_eq!(shared.flight(ms(110.0)), 0);
    }
}

/// At the receiver: a recovery halves a window of forty segments, and 36 are outstanding at its
/// end. From twenty on there is room for one more in each round trip: the window limits the sender.
/// For as long as its timer waits, cwnd is taken for what the network held in the recovery.
#[test]
fn a_window_that_grows_behind_a_recovery() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.ack(50.0, 0);
    line.send(50.0, 0..40);
    for n in 1..40 {
        line.ack_sack(100.0 + 0.1 * n as f64, 0, &[(1, 1 + n)]);
        let next = if n > 3 { 36 + n } else { 0 };
        line.send(100.01 + 0.1 * n as f64, (n >= 3).then_some(next));
    }
    line.ack(150.4, 40);
    line.ack(150.5, 57);
    let (mut acked, mut sent) = (57, 76);
    for round in 0..15 {
        // Half of a window is acknowledged, and lets as much go; then the rest, and one more.
        let at = 201.0 + 50.0 * round as f64;
        for (t, part, more) in [(at, 9, 0), (at + 1.0, 10 + round, 1)] {
            acked += part;
            line.ack(t, acked);
            line.send(t, sent..sent + part + more);
            sent += part + more;
        }
    }
    let [.., cwnd, _, path, _] = shares(line);
    assert!(cwnd > 500.0 && path < 300.0, "{cwnd} and {path} ms");
}

/// A mirrored port is 0.5 ms from the sender. The receiver's window of 16 segments is full; each
/// millisecond an ACK for two passes, and what it lets go 0.5 ms later.
#[test]
fn a_window_that_has_room_on_the_way_to_a_mirrored_port() {
    let mut line = Line::sack(50.0);
    line.window = 16_000;
    line.model.is_here(Span::from_micros(500));
    line.ack(50.0, 0);
    line.send(50.5, 0..16);
    for n in 0..100 {
        let at = 100.0 + n as f64;
        line.ack(at, 2 * n + 2);
        line.send(at + 0.5, 2 * n + 16..2 * n + 18);
    }
    line.ack(250.0, 216);
    let [_, _, window, cwnd, ..] = shares(line);
    assert!(window > 148.0 && cwnd < 0.2, "{window} and {cwnd} ms");
}
