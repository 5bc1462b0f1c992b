//! Recoveries that the sender undoes, and begins anew.

use ackclock_tcp::EventKind;

use super::{Line, kinds};
use crate::connection::Kind;
use crate::sender::Found;
use crate::sender::picture::Picture;
use crate::sender::recovery::reports::Reports;

/// All below segment `n` has arrived: six ACKs with this echo, a tenth of a millisecond apart.
fn six_acks(line: &mut Line, t: f64, n: u64, echo: f64) {
    for i in 0..6 {
        line.ack_echo(t + 0.1 * f64::from(i), n, echo);
    }
}

/// Without SACK, so many segments, of which six draw duplicates of the first one. It goes out
/// again, and so do two more as each ACK advances by one, and echoes what was sent before.
fn duplicates_without_sack(segments: u64) -> Line {
    let mut line = Line::timestamped(50.0);
    line.model.picture = Picture::new(true);
    line.model.stream.terms.sack = false;
    line.send(0.0, 0..segments);
    six_acks(&mut line, 50.0, 0, 0.0);
    line.send(50.51, [0]);
    for n in 1..3 {
        line.ack_echo(51.0 + n as f64, n, 0.0);
        line.send(51.01 + n as f64, [n]);
    }
    line
}

/// Ten segments, of which six draw duplicates of the first one, and go out again late: each ACK
/// echoes what was sent before. It advances by one, so that the duplicates still speak of a loss.
fn late_duplicates() -> Line {
    let mut line = duplicates_without_sack(10);
    line.ack_echo(54.0, 9, 0.0);
    line
}

/// The events of recoveries, with the microsecond of each.
fn drawn(found: &Found) -> Vec<(u64, &'static str)> {
    let named = |event: &ackclock_tcp::Event| {
        let name = match event.kind {
            EventKind::RecoveryEntered { .. } => "entered",
            EventKind::RecoveryLeft { .. } => "left",
            EventKind::Undone { by } => by,
            _ => return None,
        };
        Some((event.at.0 / 1000, name))
    };
    found.events.iter().filter_map(named).collect()
}

/// Linux undoes a recovery with an ACK that echoes what was sent before it, and begins the next one
/// at once as long as three duplicates are left (`tcp_fastretrans_alert`). What goes out then says
/// nothing of it. But when the last duplicates are used up, new data follows: so it has undone the
/// others, too.
#[test]
fn new_data_shows_what_was_undone_before() {
    let mut line = late_duplicates();
    line.send(54.01, [10]);
    line.ack(104.0, 11);
    let found = line.found();
    assert_eq!(kinds(&found), [0, 1, 2].map(|n| (n, Kind::FastRetransmit)));
    let of = |at: fn(&crate::connection::Recovery) -> Option<ackclock_tcp::Time>| {
        let us = |recovery| at(recovery).map(|at| at.0 / 1000);
        found.recoveries.iter().map(us).collect::<Vec<_>>()
    };
    assert_eq!(of(|r| Some(r.start)), [Some(50_510), Some(52_010), Some(53_010)]);
    assert_eq!(of(|r| r.end), [Some(52_000), Some(53_000), Some(54_000)]);
    assert_eq!(
        found.recoveries.iter().map(|r| r.flight).collect::<Vec<_>>(),
        [10_000, 9_000, 8_000]
    );
    assert_eq!(found.recoveries.iter().map(|r| r.retransmissions).collect::<Vec<_>>(), [1, 1, 1]);
    let one = |start, end| [(start, "entered"), (end, "left"), (end, "eifel")];
    let all = [one(50_510, 52_000), one(52_010, 53_000), one(53_010, 54_000)];
    assert_eq!(drawn(&found), all.concat());
}

/// One that goes on with no duplicates left has undone nothing (RFC 6582 section 3.2 step 3), what
/// it sends later.
#[test]
fn a_sender_that_goes_on_has_undone_nothing() {
    let mut line = late_duplicates();
    line.send(54.01, [9]);
    line.ack_echo(55.0, 10, 0.0);
    line.send(55.01, [10]);
    line.ack(105.0, 11);
    let found = line.found();
    let later = [1, 2, 9].map(|n| (n, Kind::Recovery));
    assert_eq!(kinds(&found)[0], (0, Kind::FastRetransmit));
    assert_eq!(kinds(&found)[1..], later);
    assert_eq!(found.recoveries.len(), 1);
    assert_eq!(found.recoveries[0].retransmissions, 4);
    assert_eq!(drawn(&found), [(50_510, "entered"), (55_000, "left")]);
}

/// It undoes no later recovery either, though new data goes out next at times.
#[test]
fn a_sender_that_has_gone_on_undoes_nothing_later() {
    let mut line = late_duplicates();
    line.send(54.01, [9]);
    line.ack_echo(55.0, 10, 0.0);
    line.send(55.01, 10..20);
    six_acks(&mut line, 105.1, 10, 55.0);
    line.send(105.61, [10]);
    line.ack_echo(107.0, 11, 55.0);
    line.send(107.01, [20]);
    line.ack_echo(108.0, 12, 55.0);
    line.send(108.01, [12]);
    line.ack(158.1, 21);
    let found = line.found();
    assert_eq!(kinds(&found)[4..], [(10, Kind::FastRetransmit), (12, Kind::Recovery)]);
    assert_eq!(found.recoveries.len(), 2);
}

/// One recovery that seems to go on does not make a sender, which was seen to undo more often, one
/// that does not: the ACK of a loss may be missing in the capture.
#[test]
fn a_sender_that_undoes_goes_on_once() {
    for (undone, kind) in [(1, Kind::Recovery), (2, Kind::FastRetransmit)] {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sack = false;
        // Six duplicates come late, and an ACK advances by so many, and echoes what was sent
        // before: an undo is due. The next one goes out then.
        let recoveries = (0..undone).map(|_| (1, 10)).chain([(9, 9), (1, 1)]);
        for (episode, (acked, next)) in (0..).zip(recoveries) {
            let (t, n) = (200.0 * episode as f64, 11 * episode);
            line.send(t, n..n + 10);
            six_acks(&mut line, t + 50.0, n, t);
            line.send(t + 50.51, [n]);
            line.ack_echo(t + 52.0, n + acked, t);
            line.send(t + 52.01, [n + next]);
            if next < 10 {
                line.send(t + 53.0, [n + 10]);
            }
            line.ack(t + 102.1, n + 11);
        }
        let found = line.found();
        assert_eq!(kinds(&found).last().map(|(_, kind)| *kind), Some(kind), "{undone}");
    }
}

/// Two retransmissions on one ACK show Tahoe's slow start. An undo of a later recovery does not
/// make recoveries of what went out in it.
#[test]
fn no_recovery_has_begun_in_a_slow_start() {
    let mut line = duplicates_without_sack(12);
    line.ack(54.0, 9);
    line.send(54.01, [9, 10]);
    line.ack(104.0, 12);
    line.send(104.01, 12..22);
    six_acks(&mut line, 154.02, 12, 104.0);
    line.send(154.6, [12]);
    line.ack_echo(156.0, 13, 104.0);
    line.send(156.01, [22]);
    line.ack(206.0, 23);
    let found = line.found();
    let slow_start = [1, 2, 9, 10].map(|n| (n, Kind::SlowStart));
    assert_eq!(kinds(&found)[0], (0, Kind::FastRetransmit));
    assert_eq!(kinds(&found)[1..5], slow_start);
    assert_eq!(kinds(&found)[5..], [(12, Kind::FastRetransmit)]);
    assert_eq!(found.recoveries.len(), 2);
}

/// Twenty segments, of which the first ten are lost. Two of them have gone out again when the
/// timer, `times` in a row, sends the first one for the last time at `last`.
fn timer_within_a_recovery(times: u32) -> (Line, f64) {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..20);
    line.ack_sack(50.0, 0, &[(10, 13)]);
    line.send(50.01, [0]);
    line.ack_sack(50.1, 0, &[(10, 14)]);
    line.send(50.11, [1]);
    let mut last = 50.01;
    for n in 0..times {
        last += f64::from(250 << n);
        line.send(last, [0]);
    }
    (line, last)
}

/// Linux counts what the recovery has retransmitted, too, and a D-SACK of what the timer sent
/// undoes nothing (`tcp_enter_loss`, RFC 3708 section 3). The slow start goes on.
#[test]
fn a_timeout_belongs_to_the_response_of_its_recovery() {
    let (mut line, last) = timer_within_a_recovery(1);
    line.ack_with(last + 50.0, 2, &[(0, 1), (10, 20)], true, None);
    line.send(last + 50.01, [2, 3]);
    let kinds = kinds(&line.found());
    let timer = [(0, Kind::Timeout), (2, Kind::SlowStart), (3, Kind::SlowStart)];
    assert_eq!(kinds[..2], [(0, Kind::FastRetransmit), (1, Kind::Recovery)]);
    assert_eq!(kinds[2..], timer);
}

/// Once D-SACKs have reported all of the response, an ACK that advances undoes it.
#[test]
fn dsacks_of_all_of_a_response_undo_its_timeout() {
    let (mut line, last) = timer_within_a_recovery(1);
    line.ack_with(last + 50.0, 0, &[(0, 1), (10, 20)], true, None);
    line.ack_with(last + 50.1, 0, &[(0, 1), (10, 20)], true, None);
    line.ack_with(last + 50.2, 2, &[(1, 2), (10, 20)], true, None);
    line.send(last + 50.21, [2]);
    assert_eq!(kinds(&line.found())[3..], [(2, Kind::FastRetransmit)]);
}

/// Two expiries in a row are one response: it is undone if each of them is reported, and what the
/// slow start has sent as well.
#[test]
fn a_timer_that_expires_again_goes_on_with_its_response() {
    for (again, kind) in [(false, Kind::SlowStart), (true, Kind::FastRetransmit)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..8);
        line.ack_sack(50.0, 0, &[(7, 8)]);
        line.send(251.0, [0]);
        line.send(751.0, [0]);
        line.ack_with(801.0, 1, &[(0, 1), (7, 8)], true, None);
        line.send(801.01, [1]);
        if again {
            line.ack_with(810.0, 1, &[(0, 1), (7, 8)], true, None);
        }
        line.ack_with(851.1, 3, &[(1, 2), (7, 8)], true, None);
        line.send(851.11, [3]);
        assert_eq!(kinds(&line.found())[2..], [(1, Kind::SlowStart), (3, kind)]);
    }
}

/// Linux looks for a spurious timeout by F-RTO within a recovery only once the timer expires again
/// (`tcp_enter_loss`).
#[test]
fn f_rto_within_a_recovery_begins_with_the_second_timeout() {
    for (times, kind) in [(1, Kind::SlowStart), (2, Kind::FastRetransmit)] {
        let (mut line, last) = timer_within_a_recovery(times);
        line.ack_sack(last + 50.0, 2, &[(9, 20)]);
        line.send(last + 50.01, [2]);
        let found = kinds(&line.found());
        assert_eq!(found.last(), Some(&(2, kind)), "{times}");
    }
}

/// What a tail loss probe has sent belongs to the response that follows, and counts once
/// (`tcp_init_undo`): it is on its way, or SACKed.
#[test]
fn a_probe_counts_once() {
    for on_way in [0, 1] {
        let mut reports = Reports::default();
        reports.probed(4000);
        reports.begin(0, on_way);
        reports.retransmitted();
        for complete in [false, true] {
            reports.dsacked(4000, 5000, 1, 1, 2);
            assert_eq!(reports.are_complete(), complete, "{on_way}");
        }
    }
}
