//! Windows lowered for marks (RFC 3168 section 6.1.2): once in a window of data.

use super::*;

/// With echoes from here on, or no more.
fn echoing(line: &mut Line, ece: bool) -> &mut Line {
    line.ece = ece;
    line
}

/// Segments 0 to 9 are out as the first echo comes: the window lasts up to 10. Echoes up to there
/// say nothing more, the next one lowers it again, for 13.
#[test]
fn an_echo_lowers_the_window_once_a_window() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..10);
    echoing(&mut line, true).ack(100.0, 1);
    line.send(100.1, 10..12);
    line.ack(101.0, 6);
    line.ack(102.0, 10);
    line.send(102.1, 12..13);
    line.ack(200.0, 11);
    line.ack(201.0, 12);
    echoing(&mut line, false).ack(202.0, 13);
    assert_eq!(line.found().reductions, [ms(100.0), ms(200.0)]);
}

/// The first echo may come on duplicates of the first segment.
#[test]
fn before_anything_is_acknowledged() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..10);
    echoing(&mut line, true).ack_sack(100.0, 0, &[(1, 2)]);
    line.ack(101.0, 3);
    assert_eq!(line.found().reductions, [ms(100.0)]);
}

/// The ACK that shows a loss has an echo, too: the recovery has lowered the window, up to 10.
/// Echoes within it, and up to its point, say nothing more.
#[test]
fn a_loss_in_the_same_window_counts() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..10);
    line.ack(100.0, 1);
    line.send(100.1, 10..12);
    line.ack_sack(101.0, 1, &[(2, 3)]);
    line.ack_sack(102.0, 1, &[(2, 4)]);
    echoing(&mut line, true).ack_sack(103.0, 1, &[(2, 5)]);
    line.send(103.1, [1]);
    line.ack_sack(104.0, 1, &[(2, 6)]);
    line.ack(203.0, 12);
    line.send(203.1, 12..14);
    echoing(&mut line, false).ack(303.0, 14);
    let found = line.found();
    assert_eq!((found.recoveries.len(), found.reductions.len()), (1, 0));
}

/// The mark comes first, and the loss in the window that it has lowered is none of its own.
#[test]
fn a_mark_before_a_loss() {
    let mut line = Line::sack(100.0);
    line.send(0.0, 0..10);
    echoing(&mut line, true).ack(100.0, 1);
    line.ack_sack(101.0, 1, &[(2, 3)]);
    line.ack_sack(102.0, 1, &[(2, 4)]);
    line.ack_sack(103.0, 1, &[(2, 5)]);
    line.send(103.1, [1]);
    line.ack(203.0, 10);
    let found = line.found();
    assert_eq!((found.recoveries.len(), found.reductions), (1, vec![ms(100.0)]));
}
