//! What speaks for a way of a sender, and what does not.

use ackclock_tcp::Span;

use super::{Line, MSS, ms};
use crate::ways::{Evidence, Law, LeastRto, Reductions, Ways};

fn ways(line: Line) -> Ways {
    line.found().ways
}

fn evidence(used: u32, unused: u32) -> Evidence {
    Evidence { used, unused }
}

#[test]
fn a_single_unused_chance_names_nothing() {
    let verdicts = [(0, 0), (1, 0), (0, 1), (0, 2), (1, 2)]
        .map(|(used, unused)| evidence(used, unused).verdict());
    assert_eq!(verdicts, [None, Some(true), None, Some(false), None]);
    let leanings = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(u, n)| evidence(u, n).leaning());
    assert_eq!(leanings, [None, Some(true), Some(false), None]);
}

/// Ten segments go out, and two more on the first ACK. Only then had they waited for cwnd.
#[test]
fn the_initial_window() {
    let begins = |wait: f64| {
        let mut line = Line::sack(50.0);
        line.send(60.0, 0..10);
        line.ack(110.0, 1);
        line.send(110.0 + wait, 10..12);
        line.ack(160.0, 12);
        ways(line).initial_window
    };
    assert_eq!(begins(0.1), Some(10));
    assert_eq!(begins(1.1), None);

    // The second write of an application, and a SYN that was lost.
    let mut later = Line::sack(50.0);
    later.send(60.0, 0..3);
    later.send(170.0, 3..5);
    later.ack(175.0, 1);
    later.send(175.1, 5..7);
    assert_eq!(ways(later).initial_window, None);
    let mut again = Line::sack(50.0);
    again.model.syn(2, ms(1_000.0), ackclock_tcp::Seq(0), false, None);
    again.send(1_060.0, [0]);
    again.ack(1_110.0, 1);
    again.send(1_110.1, 1..3);
    assert_eq!(ways(again).initial_window, None);

    // The receiver's window is full.
    let mut full = Line::sack(50.0);
    full.window = 2 * MSS;
    full.acked_at(50.0, 0);
    full.send(60.0, 0..2);
    full.ack(110.0, 1);
    full.send(110.1, [2]);
    assert_eq!(ways(full).initial_window, None);
}

/// After a pause of a second, so many segments go out, and two more on the first ACK: the window
/// was of twelve before. Without more on that ACK, nothing had waited, and a short pause is none.
#[test]
fn slow_start_after_idle() {
    let resumes = |pause: f64, segments: u64, wait: f64| {
        let mut line = Line::sack(50.0);
        line.send(60.0, 0..12);
        line.ack(110.0, 12);
        let at = 110.0 + pause;
        line.send(at, 12..12 + segments);
        line.ack(at + 50.0, 13);
        line.send(at + 50.0 + wait, 12 + segments..14 + segments);
        line.ack(at + 100.0 + wait, 14 + segments);
        ways(line).restart
    };
    assert_eq!(resumes(1000.0, 6, 0.1), evidence(1, 0));
    assert_eq!(resumes(1000.0, 7, 0.1), evidence(0, 0));
    assert_eq!(resumes(1000.0, 11, 0.1), evidence(0, 1));
    // The initial window, which a new beginning does not go below.
    assert_eq!(resumes(1000.0, 10, 0.1), evidence(0, 0));
    assert_eq!(resumes(1000.0, 6, 2.0), evidence(0, 0));
    assert_eq!(resumes(100.0, 6, 0.1), evidence(0, 0));
}

/// One SACKed segment of five begins a recovery 13 ms later: only time can have.
#[test]
fn rack_detects_by_time() {
    let one = |segments: u64, sacked: &[(u64, u64)], wait: f64| {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..segments);
        line.ack_sack(50.0, 0, sacked);
        line.send(50.0 + wait, [0]);
        line.ack(100.0 + wait, segments);
        ways(line).rack
    };
    assert_eq!(one(5, &[(1, 2)], 13.0), evidence(1, 0));
    // At once is too soon for a quarter of the round trip; three are enough for RFC 6675, and a
    // block as far beyond is for FACK; with three outstanding it may be an early retransmit.
    assert_eq!(one(5, &[(1, 2)], 0.1), evidence(0, 0));
    assert_eq!(one(5, &[(1, 4)], 13.0), evidence(0, 0));
    assert_eq!(one(5, &[(4, 5)], 13.0), evidence(0, 0));
    assert_eq!(one(3, &[(1, 2)], 13.0), evidence(0, 0));
}

/// The sign is older than any reordering window when the timer expires.
#[test]
fn without_rack_the_timer_expires() {
    for (timeout, unused) in [(250.0, 1), (180.0, 0)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..5);
        line.ack_sack(50.0, 0, &[(1, 2)]);
        line.send(timeout, [0]);
        line.ack(timeout + 50.0, 5);
        assert_eq!(ways(line).rack, evidence(0, unused), "{timeout}");
    }
}

/// A timeout of the first of eight segments, and its ACK.
fn timed_out() -> Line {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    line
}

#[test]
fn f_rto_sends_new_data() {
    let mut line = timed_out();
    line.send(301.1, 8..10);
    line.ack(351.0, 1);
    assert_eq!(ways(line).f_rto, evidence(1, 0));
    // The application's next, 10 ms later.
    let mut line = timed_out();
    line.send(311.0, 8..10);
    assert_eq!(ways(line).f_rto, evidence(0, 0));
}

/// Without F-RTO what follows goes out again. That counts if new data had waited meanwhile.
#[test]
fn others_go_back() {
    let back = |last: u64| {
        let mut line = timed_out();
        line.send(301.1, [1, 2]);
        line.ack(351.0, 3);
        line.send(351.1, 3..7);
        line.ack(401.0, 6);
        line.send(401.1, [7]);
        line.send(401.1, 8..last);
        line.ack(451.0, last);
        ways(line).f_rto
    };
    assert_eq!(back(11), evidence(0, 1));
    assert_eq!(back(8), evidence(0, 0));
}

/// Linux waits for 200 ms beyond SRTT, RFC 6298 for 1 s.
#[test]
fn the_least_timeout() {
    let after = |waits: f64| {
        let mut line = Line::without_sack(50.0);
        for n in 0..6 {
            let t = 60.0 * n as f64;
            line.send(t, [n]);
            line.ack(t + 50.0, n + 1);
        }
        line.send(360.0, 6..10);
        line.send(360.0 + waits, [6]);
        line.ack(410.0 + waits, 10);
        ways(line).least_rto
    };
    let seen = |seen: [u32; 2]| LeastRto { seen };
    assert_eq!(after(252.0), seen([1, 0]));
    assert_eq!(after(200.0), seen([1, 0]));
    assert_eq!(after(1_001.0), seen([0, 1]));
    assert_eq!(after(1_052.0), seen([0, 1]));
    assert_eq!(after(500.0), seen([0, 0]));
    assert_eq!(seen([2, 0]).verdict(), Some(Span::from_millis(200)));
    assert_eq!(seen([1, 1]).verdict(), None);
}

/// A recovery with 30 segments in the network, after which `after` are, and one more in the round
/// trip that follows.
fn recovery(after: u64) -> Reductions {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..30);
    line.ack(50.0, 30);
    line.send(50.1, 30..60);
    line.ack_sack(100.1, 30, &[(31, 34)]);
    line.send(100.15, 60..63);
    line.send(100.2, [30]);
    line.ack(150.2, 63);
    line.send(150.3, 63..63 + after);
    line.ack(200.3, 64);
    line.send(200.4, 63 + after..65 + after);
    line.ack(250.5, 65 + after);
    ways(line).reductions
}

#[test]
fn what_a_recovery_leaves() {
    assert_eq!(recovery(15), Reductions { half: 1, ..Reductions::default() });
    assert_eq!(recovery(21), Reductions { seven_tenths: 1, ..Reductions::default() });
    assert_eq!(recovery(28), Reductions { other: 1, ..Reductions::default() });
}

#[test]
fn two_recoveries_name_a_law() {
    let of = |half, seven_tenths, other| Reductions { half, seven_tenths, other }.verdict();
    assert_eq!([of(2, 0, 0), of(0, 2, 0)], [Some(Law::Half), Some(Law::SevenTenths)]);
    assert_eq!([of(1, 0, 0), of(3, 1, 0), of(0, 3, 1)], [None; 3]);
}

/// Four round trips of silence with several segments outstanding, and then their ACK: a sender with
/// probes would have sent one.
#[test]
fn a_chance_to_probe_that_is_not_used() {
    for (silence, unused) in [(240.0, 1), (200.0, 0)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..2);
        line.ack(50.0, 2);
        line.send(50.1, 2..6);
        line.ack(50.1 + silence, 6);
        assert_eq!(ways(line).probes, evidence(0, unused), "{silence}");
    }
}

/// The timer expires where a probe would have come first, unless the new data that went out before
/// was one.
#[test]
fn new_data_after_silence_may_be_a_probe() {
    for (late, unused) in [(false, 1), (true, 0)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..4);
        line.ack(50.0, 4);
        line.send(50.1, 4..8);
        if late {
            line.send(130.0, [8]);
        }
        line.send(381.0, [4]);
        let end = if late { 9 } else { 8 };
        line.ack(431.0, end);
        assert_eq!(ways(line).probes, evidence(0, unused), "{late}");
    }
}
