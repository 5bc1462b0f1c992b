//! What was spurious, and what was lost itself.

use ackclock_tcp::{Span, Time};

use super::{Line, MSS, Owed, kinds, ms};
use crate::connection::{Kind, Spurious, State};
use crate::sender::stream::timers::Timers;
use crate::sender::{Acked, Found, Sight};

fn spurious(found: &Found) -> Vec<(u64, Option<Spurious>, bool, Option<bool>)> {
    found.retransmissions.iter().map(|r| (r.position / MSS, r.spurious, r.known, r.lost)).collect()
}

/// Segment 0 goes four times, and its first ACK that comes is a D-SACK of the last: one of those
/// before had arrived, and nothing says which.
#[test]
fn only_acks_were_lost() {
    let mut line = Line::sack(50.0);
    for at in [0.0, 250.0, 500.0, 1000.0] {
        line.send(at, [0]);
    }
    line.dsack(1050.1, 1, (0, 1));
    let unknown = (0, None, false, None);
    let last = (0, Some(Spurious::Dsack), true, Some(false));
    assert_eq!(spurious(&line.found()), [unknown, unknown, last]);
}

/// Segment 0 goes again twice, so many ms apart, and nothing but timestamps tells which of them has
/// arrived. The second says that the first was lost only if that could have been answered.
#[test]
fn what_waits_for_no_answer_tells_of_no_loss() {
    let lost = |apart: f64, sack: bool, timestamps: bool| {
        let mut line = if timestamps { Line::timestamped(50.0) } else { Line::sack(50.0) };
        line.model.stream.terms.sack = sack;
        line.send(0.0, [0]);
        line.send(250.0, [0]);
        line.send(250.0 + apart, [0]);
        if timestamps {
            line.ack_echo(301.0 + apart, 1, 250.0 + apart);
        } else {
            line.ack(301.0 + apart, 1);
        }
        line.found().retransmissions.iter().map(|r| (r.lost, r.known)).collect::<Vec<_>>()
    };
    let (lost_itself, unknown) = ((Some(true), true), (None, false));
    for sack in [true, false] {
        for (apart, first) in
            [(2.0, unknown), (37.0, unknown), (38.0, lost_itself), (500.0, lost_itself)]
        {
            assert_eq!(lost(apart, sack, false)[0], first, "{apart} {sack}");
            assert_eq!(lost(apart, sack, true)[0], lost_itself, "{apart} {sack}");
        }
    }
}

/// The first ACK after a silence says whether something has come twice: it does if all others were
/// lost, and not if the original comes late.
#[test]
fn what_ends_a_silence_has_come_twice() {
    let ended = |twice: bool| {
        let mut line = Line::sack(50.0);
        line.send(0.0, [0]);
        line.ack(50.0, 1);
        for at in [60.0, 310.0, 810.0] {
            line.send(at, [1]);
        }
        if !twice {
            line.ack(860.0, 2);
        }
        line.dsack(860.1, 2, (1, 2));
        line.found().stalls.iter().map(|stall| stall.came_twice).collect::<Vec<_>>()
    };
    assert_eq!([true, false].map(ended), [[true], [false]]);
}

/// While it waits for its timer, the other end's data comes, or does not.
#[test]
fn it_waits_alone() {
    let alone = |heard: f64| {
        let mut line = Line::sack(50.0);
        line.send(0.0, [0]);
        line.model.peer_data(ms(50.0), Owed::Some);
        line.ack(50.0, 1);
        line.send(60.0, [1]);
        line.model.peer_data(ms(heard), Owed::Some);
        line.send(310.0, [1]);
        line.ack(360.0, 2);
        line.found().stalls.iter().map(|stall| stall.alone).collect::<Vec<_>>()
    };
    assert_eq!([50.0, 300.0].map(alone), [[true], [false]]);
}

/// The original comes so late that its ACK may be the retransmission's; the recovery was as
/// spurious.
#[test]
fn a_dsack_reports_a_duplicate() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..8);
    line.ack_sack(50.0, 0, &[(1, 4)]);
    line.send(50.01, [0]);
    line.ack(99.0, 8);
    line.dsack(100.1, 8, (0, 1));
    let found = line.found();
    assert_eq!(spurious(&found), [(0, Some(Spurious::Dsack), true, Some(false))]);
    assert!(found.recoveries[0].spurious);
}

/// A D-SACK of what was never retransmitted: the network has duplicated it.
#[test]
fn a_duplicate_of_the_network() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..8);
    line.ack_sack(50.0, 0, &[(1, 4)]);
    line.send(50.01, [0]);
    line.ack(100.1, 8);
    line.dsack(100.2, 8, (3, 4));
    let found = line.found();
    assert_eq!(spurious(&found), [(0, None, true, Some(false))]);
    assert_eq!((found.dsacks, found.recoveries[0].spurious), (1, false));
}

/// RFC 3522: the ACK echoes the timestamp of the original.
#[test]
fn an_older_timestamp_is_echoed() {
    let mut line = Line::timestamped(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack_echo(300.0, 4, 0.0);
    let found = line.found();
    assert_eq!(spurious(&found), [(0, Some(Spurious::Timestamp), true, None)]);
    assert_eq!(found.timeouts[0].spurious, Some(Spurious::Timestamp));
}

/// It echoes that of the retransmission: that was needed.
#[test]
fn the_timestamp_of_the_retransmission_is_echoed() {
    let mut line = Line::timestamped(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack_echo(301.0, 4, 251.0);
    assert_eq!(spurious(&line.found()), [(0, None, true, Some(false))]);
}

/// But where the path has brought one segment behind three others and a retransmission was in vain,
/// another original may come behind its retransmission. Without SACK nothing says so, unless the
/// capture is at the receiver, where it would be seen.
#[test]
fn on_a_path_that_reorders_the_original_may_come_later() {
    for (overtaken, sight, known) in
        [(true, Sight::Sent, false), (false, Sight::Sent, true), (true, Sight::Received, true)]
    {
        let mut line = Line::timestamped(50.0);
        line.model.stream.terms.sack = false;
        line.send(0.0, 0..4);
        let echo = if overtaken { 0.0 } else { 50.3 };
        for t in [50.0, 50.1, 50.2] {
            line.ack_echo(t, 0, 0.0);
        }
        line.send(50.3, [0]);
        line.ack_echo(100.4, 4, echo);
        line.model.stream.terms.sight = sight;
        line.send(110.0, if sight == Sight::Sent { 4..8 } else { 5..8 });
        for t in [160.0, 160.1, 160.2] {
            line.ack_echo(t, 4, 50.3);
        }
        line.send(160.3, [4]);
        line.ack_echo(210.4, 8, 160.3);
        let found = line.found();
        let first = overtaken.then_some(Spurious::Timestamp);
        assert_eq!(found.retransmissions[0].spurious, first);
        let last = found.retransmissions.last().map(|r| (r.position, r.spurious, r.known));
        assert_eq!(last, Some((4 * MSS, None, known)), "{overtaken} {sight:?}");
    }
}

/// A delayed ACK echoes the first segment that it stands for (RFC 7323 section 4.3), which here had
/// been waiting; what was retransmitted is the second.
#[test]
fn a_delayed_ack_echoes_the_first_segment() {
    let mut line = Line::timestamped(10.0);
    line.send(0.0, 0..2);
    line.send(22.0, [1]);
    line.ack_echo(32.0, 2, 0.0);
    let found = line.found();
    assert_eq!(kinds(&found), [(1, Kind::TailLossProbe)]);
    assert_eq!(found.retransmissions[0].spurious, None);
}

/// An ACK five milliseconds after the retransmission, where a round trip takes fifty.
#[test]
fn acknowledged_too_soon() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.ack(50.0, 2);
    line.send(60.0, 2..6);
    line.send(311.0, [2]);
    line.ack(316.0, 6);
    assert_eq!(spurious(&line.found()), [(2, Some(Spurious::RoundTrip), true, None)]);
}

/// Without the handshake's round trip it proves nothing: the data before may have waited in a
/// queue.
#[test]
fn too_soon_is_no_proof_without_a_handshake() {
    let mut line = Line::without_sack(50.0);
    let mut timers = Timers::default();
    timers.sample_retransmission(Span::from_millis(50), 0, 0);
    line.model.stream.timers = timers;
    line.send(0.0, 0..2);
    line.ack(50.0, 2);
    line.send(60.0, 2..6);
    line.send(311.0, [2]);
    line.ack(316.0, 6);
    assert_eq!(line.found().retransmissions[0].spurious, None);
}

/// A sender without SACK goes back to the first segment, twice. Which of the transmissions of
/// segment 2 has arrived nothing tells, unless timestamps do.
#[test]
fn what_goes_back_twice_is_not_known() {
    for stamped in [false, true] {
        let mut line = Line::without_sack(50.0);
        line.timestamps = stamped;
        line.send(0.0, 0..4);
        line.send(300.0, [0]);
        let ack = |line: &mut Line, t: f64, n: u64, echo: f64| {
            let tsecr = stamped.then_some(echo as u32);
            line.heard(Acked { tsecr, ..line.plain(t, n * MSS) });
        };
        ack(&mut line, 350.0, 1, 300.0);
        line.send(350.1, [1, 2]);
        line.send(700.0, [1]);
        ack(&mut line, 750.0, 2, 700.0);
        line.send(750.1, [2]);
        ack(&mut line, 800.1, 3, 750.0);
        let found = line.found();
        let second = found.retransmissions.iter().find(|r| r.position == 2 * MSS).unwrap();
        let expected = (Kind::SlowStart, stamped, stamped.then_some(true));
        assert_eq!((second.kind, second.known, second.lost), expected);
    }
}

/// Three of four transmissions are lost.
#[test]
fn lost_and_lost_again() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.send(251.0, [0]);
    line.send(752.0, [0]);
    line.send(1753.0, [0]);
    line.ack(1803.0, 2);
    let lost = line.found().retransmissions.iter().map(|r| r.lost).collect::<Vec<_>>();
    assert_eq!(lost, [Some(true), Some(true), Some(false)]);
}

/// Whether the last one arrived, nobody has said.
#[test]
fn what_is_never_acknowledged_is_unknown() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..2);
    line.send(251.0, [0]);
    assert_eq!(spurious(&line.found()), [(0, None, false, None)]);
}

/// At the receiver what is seen has arrived: a segment twice, so the second time spuriously; what
/// was missing, needed.
#[test]
fn seen_to_arrive() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.send(0.0, [0, 1, 3, 4, 5]);
    line.ack_sack(50.0, 2, &[(3, 6)]);
    line.send(50.01, [2]);
    line.send(50.02, [3]);
    let found = line.found();
    let expected = [(2, None, true, Some(false)), (3, Some(Spurious::Arrival), true, Some(false))];
    assert_eq!(spurious(&found), expected);
}

/// A capture near the receiver is not at it if it shows a segment that does not arrive, though what
/// came behind it does. From then on what was seen may have been lost.
#[test]
fn a_capture_before_losses_is_not_at_the_receiver() {
    let after = |sacks: &[(u64, u64)], again: u64| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Received;
        line.send(0.0, 0..6);
        line.ack_sack(50.0, 1, sacks);
        line.send(51.0, [again]);
        line.send(52.0, [3]);
        line.ack(102.0, 6);
        line.found().retransmissions[1].spurious
    };
    assert_eq!(after(&[(2, 3), (4, 6)], 1), None);
    // Nothing says that 1 did not arrive.
    assert_eq!(after(&[], 1), Some(Spurious::Arrival));
    // It was not sent again.
    assert_eq!(after(&[(2, 3), (4, 6)], 2), Some(Spurious::Arrival));
}

/// A spurious timeout is undone (RFC 3522): what comes next is a fast retransmit, and no slow
/// start.
#[test]
fn after_an_undo_the_state_is_open() {
    let mut line = Line::timestamped(50.0);
    line.model.stream.terms.sack = false;
    line.send(0.0, 0..8);
    line.send(251.0, [0]);
    line.ack_echo(260.0, 2, 0.0);
    for n in 1..4 {
        line.ack_echo(260.0 + f64::from(n), 2, 0.0);
    }
    line.send(263.01, [2]);
    line.ack_echo(313.1, 8, 263.0);
    assert_eq!(kinds(&line.found()), [(0, Kind::Timeout), (2, Kind::FastRetransmit)]);
}

/// Where there are too many pieces to cut another one off, what is retransmitted is not taken for
/// something that has arrived.
#[test]
fn beyond_the_last_cut() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..9);
    (0..4096).for_each(|n| line.sent(Time(300_000_000 + n), 2 * n + 1, 1, false));
    line.sent(Time(301_000_000), 8500, 100, false);
    let found = line.found();
    assert_eq!(found.retransmissions.last().map(|r| (r.position, r.spurious)), Some((8500, None)));
    assert_eq!(
        found.doubts,
        ["SACK blocks or retransmissions leave too many pieces to follow all of them"]
    );
}

/// D-SACKs undo when each retransmission of the phase has been reported, and not before.
#[test]
fn dsacks_undo_together() {
    for (second, state) in [(None, State::Recovery), (Some((3, 4)), State::Open)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..10);
        line.ack_sack(50.0, 0, &[(1, 3), (4, 7)]);
        line.send(50.01, [0, 3]);
        line.ack(51.0, 7);
        line.dsack(100.1, 7, (0, 1));
        second.into_iter().for_each(|block| line.dsack(100.2, 7, block));
        line.send(400.0, [7]);
        line.ack(450.0, 10);
        assert_eq!(line.found().timeouts.iter().map(|t| t.state).collect::<Vec<_>>(), [state]);
    }
}

/// A sender that undoes nothing goes on in slow start: it retransmits what nothing speaks against.
#[test]
fn a_sender_that_does_not_undo() {
    let mut line = Line::timestamped(50.0);
    line.send(0.0, 0..8);
    line.send(251.0, [0]);
    line.ack_echo(260.0, 2, 0.0);
    line.send(260.01, [2, 3]);
    line.ack_echo(311.1, 8, 0.0);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::Timeout), (2, Kind::SlowStart), (3, Kind::SlowStart)]);
}

/// The round trip of a capture in between is an estimate: nothing is proved by it.
#[test]
fn too_soon_is_no_proof_in_between() {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Arrived;
    line.send(0.0, 0..2);
    line.ack(50.0, 2);
    line.send(60.0, 2..6);
    line.send(311.0, [2]);
    line.ack(316.0, 6);
    let found = line.found();
    assert_eq!(spurious(&found), [(2, None, false, None)]);
    assert_eq!(found.rtt.map(|r| r.min), Some(Span::from_micros(49_999)));
}

/// F-RTO with SACK: after a timeout data arrives that was outstanding and never retransmitted, so
/// that nothing was lost. What comes next is a fast retransmit. With an ACK that only shows new
/// data to arrive it is slow start.
#[test]
fn f_rto_with_sack() {
    for (sacked, kind) in [((3, 4), Kind::FastRetransmit), ((8, 9), Kind::SlowStart)] {
        let mut line = Line::sack(50.0);
        line.send(0.0, 0..8);
        line.send(251.0, [0]);
        line.ack(301.0, 1);
        line.send(301.1, [8]);
        line.ack_sack(351.0, 1, &[sacked]);
        line.send(351.01, [1]);
        line.ack(401.1, 9);
        assert_eq!(kinds(&line.found()), [(0, Kind::Timeout), (1, kind)], "{sacked:?}");
    }
}

/// The capture has the ACK some microseconds before the data that it acknowledges.
#[test]
fn data_after_its_ack() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.ack(100.0, 1);
    line.ack(100.002, 4);
    line.send(100.003, 1..4);
    line.send(150.0, [4]);
    line.ack(200.0, 5);
    let found = line.found();
    assert_eq!((kinds(&found), found.unseen, found.bytes), (vec![], 0, 5000));
}

/// The same data later, or once more, is a retransmission.
#[test]
fn data_long_after_its_ack() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.ack(100.0, 1);
    line.ack(100.002, 3);
    line.send(100.003, [1]);
    line.send(100.006, [1]);
    line.send(102.0, [2]);
    let found = line.found();
    let all: Vec<u64> = kinds(&found).iter().map(|(segment, _)| *segment).collect();
    assert_eq!((all, found.unseen), (vec![1, 2], 1000));
}

/// A byte of the next segment probes the closed window. When it opens, the segment goes out whole.
#[test]
fn a_window_probe_of_new_data() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, [0]);
    line.closed_window(100.0, 1);
    line.sent(ms(400.0), 1000, 1, false);
    line.closed_window(450.0, 1);
    line.ack(900.0, 1);
    line.sent(ms(900.0), 1000, 1000, false);
    line.ack(950.0, 2);
    let found = line.found();
    assert_eq!((kinds(&found), found.timeouts.len(), found.bytes), (vec![], 0, 2000));
}

/// No timer is shorter than 20 ms: nothing says why the head goes out again after 5 ms.
#[test]
fn sooner_than_any_timer() {
    let mut line = Line::sack(2.0);
    line.ack(2.0, 0);
    line.send(2.0, 0..3);
    line.send(7.0, [0]);
    line.ack(9.0, 3);
    let found = line.found();
    assert_eq!(kinds(&found), vec![(0, Kind::Unknown)]);
    assert_eq!(found.timeouts, vec![]);
}

/// ACKs are late. After the timeout the first lets two new segments go, and the second acknowledges
/// what was never sent again (RFC 5682 section 2.1): the sender undoes what it did. Then a loss is
/// repaired by a fast retransmit.
#[test]
fn f_rto_without_sack() {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..8);
    line.send(350.0, [0]);
    line.ack(420.0, 1);
    line.send(420.0, 8..10);
    line.ack(421.0, 2);
    line.send(421.0, 10..12);
    line.ack(422.0, 4);
    line.send(422.0, 12..16);
    for n in 0..3 {
        line.ack(425.0 + f64::from(n), 4);
    }
    line.send(427.1, [4]);
    line.ack(480.0, 16);
    let found = line.found();
    let expected = vec![(0, Kind::Timeout), (4, Kind::FastRetransmit)];
    assert_eq!(kinds(&found), expected);
    assert_eq!(spurious(&found)[0], (0, Some(Spurious::FRto), true, Some(false)));
    assert_eq!(found.timeouts[0].spurious, Some(Spurious::FRto));
}

/// Nothing is known where the second ACK is a duplicate: the second segment was lost.
#[test]
fn f_rto_finds_a_loss() {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..8);
    line.send(350.0, [0]);
    line.ack(420.0, 1);
    line.send(420.0, 8..10);
    line.ack(471.0, 1);
    line.ack(471.1, 1);
    line.send(471.2, [1]);
    line.ack(522.0, 10);
    let found = line.found();
    assert_eq!(found.timeouts[0].spurious, None);
    assert_eq!(spurious(&found)[1].1, None);
}

/// Of eight segments the first is repaired by the timer, and slow start sends two more again.
fn after_a_timeout() -> Line {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..8);
    line.send(350.0, [0]);
    line.ack(401.0, 2);
    line.send(401.1, [2]);
    line.send(401.2, [3]);
    line
}

/// Segment 4 is sent again, too, before the repair of 2 is answered. `after` are the times of
/// duplicates of the ACK that acknowledges all.
fn goes_back(after: &[f64], new_data: Option<f64>) -> Found {
    let mut line = after_a_timeout();
    line.ack(402.0, 2);
    line.send(402.1, [4]);
    line.ack(452.0, 8);
    if let Some(t) = new_data {
        line.send(t, 8..10);
    }
    after.iter().for_each(|&t| line.ack(t, 8));
    line.found()
}

/// The ACK that acknowledges all answers segment 2. What was sent after it was not needed, as many
/// duplicates show: one for each.
#[test]
fn a_duplicate_ack_for_each_retransmission() {
    let of = |found: &Found| -> Vec<_> {
        found.retransmissions.iter().map(|r| (r.spurious, r.known, r.lost)).collect()
    };
    let unknown = (None, false, Some(false));
    let proved = (Some(Spurious::DuplicateAck), true, Some(false));
    let all = of(&goes_back(&[452.2, 453.0], Some(452.1)));
    assert_eq!(all[1..], [unknown, proved, proved]);
    // One is too few.
    assert_eq!(of(&goes_back(&[452.2], None))[1..], [unknown; 3]);
    assert_eq!(of(&goes_back(&[452.2, 503.0], Some(452.1)))[1..], [unknown, proved, proved]);
    // These may answer new data, the first segment of which was lost.
    assert_eq!(of(&goes_back(&[503.0, 504.0], Some(452.1)))[1..], [unknown; 3]);
}

/// The timer expires twice for segment 0, and slow start sends the others again; then ACKs come at
/// once for all, and repeat the last one as often as anything went again: all had arrived. One
/// fewer proves nothing but what went out last, nor does one that comes a round trip later.
#[test]
fn duplicates_for_all_that_went_again() {
    let found = |window: Option<u64>, duplicates: &[f64]| -> Vec<_> {
        let mut line = Line::without_sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..3);
        line.send(350.0, [0]);
        line.send(950.0, 0..3);
        for n in 1..=3 {
            line.ack(1200.0 + n as f64, n);
        }
        if let Some(window) = window {
            line.window = window;
        }
        duplicates.iter().for_each(|&t| line.ack(t, 3));
        line.found().retransmissions.iter().map(|r| r.spurious).collect()
    };
    let [none, proved] = [None, Some(Spurious::DuplicateAck)];
    let duplicates = [1204.0, 1205.0, 1206.0, 1207.0];
    assert_eq!(found(None, &duplicates), [proved; 4]);
    assert_eq!(found(None, &duplicates[..3]), [none; 4]);
    assert_eq!(found(None, &[1204.0, 1205.0, 1206.0, 1260.0]), [none; 4]);
    assert_eq!(found(Some(1 << 10), &duplicates), [none; 4]);
}

/// The retransmission of 4 is lost. That of 3 was needed, and is acknowledged together with that of
/// 2; a duplicate answers that of 5, which is behind the hole.
#[test]
fn a_duplicate_ack_for_what_is_behind_a_hole() {
    let mut line = after_a_timeout();
    line.ack(402.0, 2);
    line.send(402.1, [4]);
    line.send(402.2, [5]);
    line.ack(452.0, 4);
    line.ack(452.2, 4);
    line.send(752.0, [4]);
    line.ack(802.0, 8);
    let found = line.found();
    assert!(found.retransmissions.iter().all(|r| r.spurious.is_none()));
}

/// Every second segment was lost, and slow start sends all again. An ACK that fills one gap
/// acknowledges the segment behind it, whose retransmission is answered by a duplicate.
#[test]
fn a_duplicate_ack_between_two_gaps() {
    let goes_back = |new_data: bool| {
        let mut line = after_a_timeout();
        if new_data {
            line.send(401.3, [8]);
        }
        line.ack(452.0, 4);
        line.send(452.1, [4]);
        line.ack(452.2, 4);
        line.ack(503.0, 8);
        line.found().retransmissions[2].spurious
    };
    assert_eq!(goes_back(false), Some(Spurious::DuplicateAck));
    // What is missing before it may be why.
    assert_eq!(goes_back(true), None);
}

/// Two holes are filled again at different times, and the receiver answers both with one ACK, which
/// echoes the first (RFC 7323 section 4.3). Its SACK blocks had said that the second was missing:
/// nothing says that it was not needed.
#[test]
fn an_ack_for_two_holes() {
    let mut line = Line::timestamped(50.0);
    line.send(0.0, 0..6);
    line.ack_with(50.0, 0, &[(1, 2)], false, Some(0.0));
    line.ack_with(50.1, 0, &[(3, 6), (1, 2)], false, Some(0.0));
    line.send(50.2, [0]);
    line.send(54.2, [2]);
    line.ack_echo(104.3, 6, 50.0);
    let expected = [(0, None, true, Some(false)), (2, None, false, Some(false))];
    assert_eq!(spurious(&line.found()), expected);
}

/// The last segment goes out four times. Its receiver sends no D-SACKs, and answers each copy that
/// arrives: three have, so that one was lost at most, and the last two were not needed. Nothing
/// says which one was lost.
#[test]
fn an_ack_for_each_copy_of_the_last_segment() {
    let copies = |again: &[f64]| -> Vec<_> {
        let mut line = Line::sack(50.0);
        line.send(0.0, [0]);
        for t in [110.0, 400.0, 1000.0] {
            line.send(t, [0]);
        }
        line.ack(1200.0, 1);
        again.iter().for_each(|&t| line.ack(t, 1));
        line.fates()
    };
    let [lost, arrived] = [(None, true, Some(true)), (None, false, Some(false))];
    let (unknown, proved) = ((None, false, None), (Some(Spurious::DuplicateAck), true, None));
    assert_eq!(copies(&[]), [lost, lost, arrived]);
    assert_eq!(copies(&[1400.0]), [unknown, unknown, proved]);
    assert_eq!(copies(&[1400.0, 2100.0]), [unknown, proved, proved]);
    let all = (Some(Spurious::DuplicateAck), true, Some(false));
    assert_eq!(copies(&[1400.0, 1500.0, 2100.0]), [all; 3]);
    // The copies went out within a second: a later ACK answers something else.
    assert_eq!(copies(&[1400.0, 2201.0]), copies(&[1400.0]));
}

/// What else may have made the receiver repeat its ACK.
#[test]
fn an_ack_that_answers_no_copy() {
    let fates = |segments: std::ops::Range<u64>, then: &dyn Fn(&mut Line)| -> Vec<_> {
        let mut line = Line::sack(50.0);
        line.send(0.0, segments.clone());
        line.send(400.0, [0]);
        line.send(1000.0, [0]);
        line.ack(1200.0, segments.end);
        then(&mut line);
        line.ack(1300.0, segments.end);
        line.fates().into_iter().map(|fate| fate.0).collect()
    };
    let proved = Some(Spurious::DuplicateAck);
    assert_eq!(fates(0..1, &|_| {}), [None, proved]);
    // What else was outstanding may be answered last.
    assert_eq!(fates(0..2, &|_| {}), [None; 2]);
    // New data behind a hole is answered so, too.
    assert_eq!(fates(0..1, &|line| line.send(1201.0, [1])), [None; 2]);
    // The receiver tells of its window.
    assert_eq!(fates(0..1, &|line| line.window += 1), [None; 2]);
    // It answers a keep-alive.
    assert_eq!(fates(0..1, &|line| line.model.keeps_alive(ms(1250.0))), [None; 2]);
    // It reports by D-SACKs what comes again.
    let dsack = |line: &mut Line| line.dsack(1250.0, 1, (0, 1));
    assert_eq!(fates(0..1, &dsack)[0], None);
}

/// The ACK echoes the second copy, so that the first one had not come before. More copies than a
/// timer sends say nothing, however many ACKs there are.
#[test]
fn copies_of_which_more_is_known() {
    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    line.send(400.0, [0]);
    line.send(1000.0, [0]);
    line.ack_echo(1050.0, 1, 1000.0);
    line.ack(1060.0, 1);
    assert_eq!(line.fates()[0], (None, true, Some(true)));

    let mut line = Line::sack(50.0);
    line.send(0.0, [0]);
    (0..65).for_each(|n| line.send(400.0 + f64::from(n), [0]));
    line.ack(600.0, 1);
    (0..65).for_each(|n| line.ack(601.0 + f64::from(n), 1));
    assert!(line.fates().iter().all(|fate| fate.0.is_none()));
}

/// The second copy of segment 0 may come behind the ACK of segment 1, whose own was lost.
#[test]
fn an_ack_that_answers_a_copy_of_another_segment() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..2);
    line.send(400.0, [0]);
    line.ack(1200.0, 1);
    line.send(1200.5, [1]);
    line.ack(1260.0, 2);
    line.ack(1261.0, 2);
    assert_eq!(line.fates()[1], (None, false, Some(false)));
}
