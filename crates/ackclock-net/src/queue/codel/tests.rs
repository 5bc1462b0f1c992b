use ackclock_tcp::{Codepoint, Ecn, Segment, Span};

use super::*;
use crate::packet::{Kind, Options, Packet};
use crate::queue::Found;
use crate::queue::line::Line;

const MS: u64 = 1_000_000;

/// Target 5 ms, interval 100 ms, an MTU of 1500 bytes.
fn codel() -> CodelState {
    CodelState::new(&Codel::new(1000))
}

fn packet(size: u32, since: u64) -> Queued {
    let packet = Packet::new(Kind::Datagram, &Segment::default(), &mut Options::default());
    Queued {
        packet: Packet { size, ..packet },
        late_by: Span::ZERO,
        since,
        found: Found::default(),
        marked: false,
        noted: false,
    }
}

/// A queue of 1000-byte packets whose first has always waited for `sojourn`; with `behind` bytes
/// behind it.
fn offer(codel: &mut CodelState, now: u64, sojourn: u64, behind: u64) -> usize {
    let mut drops = 0;
    let sent = codel.dequeue(now, || Some((packet(1000, now - sojourn), behind)), |_| drops += 1);
    assert!(sent.is_some());
    drops
}

/// A packet leaves every millisecond from `from` on, and has waited for 20 ms. Returns the
/// milliseconds in which packets are dropped.
fn drops(codel: &mut CodelState, from: u64, until: u64) -> Vec<u64> {
    (from..until).filter(|ms| offer(codel, ms * MS, 20 * MS, 50_000) > 0).collect()
}

/// first_above_time is 1000 + 100. Then drop_next is 1100 + 100 / sqrt(1) = 1200,
/// + 100 / sqrt(2) = 1270.71, + 100 / sqrt(3) = 1328.45, + 100 / sqrt(4) = 1378.45,
/// + 100 / sqrt(5) = 1423.17, + 100 / sqrt(6) = 1463.99, + 100 / sqrt(7) = 1501.79.
#[test]
fn drops_come_closer_with_the_square_root_of_their_number() {
    let mut codel = codel();
    assert_eq!(drops(&mut codel, 1000, 1502), [1100, 1200, 1271, 1329, 1379, 1424, 1464]);
    assert_eq!((codel.count, codel.dropped_early), (7, 7));
    assert_eq!(codel.drop_next / 1000, 1_501_788);
}

/// To the nanosecond: 100 ms / sqrt(2) is 70,710,678.1 ns.
#[test]
fn the_control_law_rounds_down_to_nanoseconds() {
    let mut codel = codel();
    for (count, after) in [(1, 100_000_000), (2, 70_710_678), (3, 57_735_026), (400, 5_000_000)] {
        codel.count = count;
        assert_eq!(codel.control_law(7), 7 + after);
    }
}

/// One sojourn time below the target within the interval, and it begins anew.
#[test]
fn a_packet_below_the_target_begins_the_interval_anew() {
    let mut codel = codel();
    assert_eq!(drops(&mut codel, 1000, 1099), [0; 0]);
    assert_eq!(offer(&mut codel, 1099 * MS, 5 * MS - 1, 50_000), 0);
    assert_eq!(drops(&mut codel, 1100, 1201), [1200]);
    // At the target is not below it.
    let mut codel = self::codel();
    assert_eq!(offer(&mut codel, 1000 * MS, 5 * MS, 50_000), 0);
    assert_eq!(offer(&mut codel, 1100 * MS, 5 * MS, 50_000), 1);
}

/// With no more than one packet of the MTU behind it, none is dropped.
#[test]
fn the_last_packets_are_safe() {
    let mut codel = codel();
    assert_eq!(offer(&mut codel, 1000 * MS, 20 * MS, 1501), 0);
    assert_eq!(offer(&mut codel, 1100 * MS, 20 * MS, 1500), 0);
    assert_eq!(codel.first_above_time, None);
    assert_eq!(offer(&mut codel, 1101 * MS, 20 * MS, 1501), 0);
    assert_eq!(offer(&mut codel, 1201 * MS, 20 * MS, 1501), 1);
}

/// After five drops (count is 5, lastcount 1, drop_next 1423.17), the queue is below the target for
/// a moment. Back above it from 1391 on, dropping begins at 1491, with a count of 5 - 1 = 4: the
/// next ones are 1491 + 50 = 1541, + 100 / sqrt(5) = 1585.72. The first drop of a dropping state is
/// not counted on.
#[test]
fn dropping_that_begins_again_soon_goes_on_at_the_rate_it_had() {
    let mut codel = codel();
    assert_eq!(drops(&mut codel, 1000, 1390), [1100, 1200, 1271, 1329, 1379]);
    assert_eq!(offer(&mut codel, 1390 * MS, MS, 50_000), 0);
    assert!(!codel.dropping);
    assert_eq!(drops(&mut codel, 1391, 1542), [1491, 1541]);
    assert_eq!((codel.count, codel.lastcount), (5, 4));
    assert_eq!(drops(&mut codel, 1542, 1587), [1586]);
    // count - lastcount is now 6 - 4 = 2.
    assert_eq!(offer(&mut codel, 1587 * MS, MS, 50_000), 0);
    assert_eq!(drops(&mut codel, 1588, 1689), [1688]);
    assert_eq!((codel.count, codel.lastcount), (2, 2));
    // 2 - 2 is not above 1.
    assert_eq!(offer(&mut codel, 1689 * MS, MS, 50_000), 0);
    assert_eq!(drops(&mut codel, 1690, 1791), [1790]);
    assert_eq!((codel.count, codel.lastcount), (1, 1));
}

/// drop_next is 1423.17; 16 intervals later is 3023.17. Dropping that begins at 3023 has a count of
/// 4, and at 3024 of 1.
#[test]
fn after_sixteen_intervals_the_rate_is_forgotten() {
    for (begins, count) in [(3023, 4), (3024, 1)] {
        let mut codel = codel();
        drops(&mut codel, 1000, 1390);
        assert_eq!(offer(&mut codel, 1390 * MS, MS, 50_000), 0);
        assert_eq!(offer(&mut codel, (begins - 100) * MS, 20 * MS, 50_000), 0);
        assert_eq!(offer(&mut codel, begins * MS, 20 * MS, 50_000), 1);
        assert_eq!(codel.count, count);
    }
}

/// Nothing leaves from 1100 to 1400 ms: drop_next 1200, 1270.71, 1328.45, 1378.45 are all past, and
/// the fifth is 1423.17.
#[test]
fn drops_that_are_overdue_come_at_once() {
    let mut codel = codel();
    assert_eq!(drops(&mut codel, 1000, 1101), [1100]);
    assert_eq!(offer(&mut codel, 1400 * MS, 20 * MS, 50_000), 4);
    assert_eq!((codel.count, codel.drop_next / 1000), (5, 1_423_167));
}

/// Six packets in a line, of which drops leave the state as soon as the rest fits the MTU.
#[test]
fn a_line_that_runs_short_ends_dropping() {
    let mut codel = codel();
    assert_eq!(drops(&mut codel, 1000, 1101), [1100]);
    let mut line = Line::default();
    (0..4).for_each(|_| line.push(packet(1000, 1300 * MS)));
    let mut dropped = 0;
    let pop = || line.pop().map(|packet| (packet, line.bytes));
    let sent = codel.dequeue(1400 * MS, pop, |_| dropped += 1);
    // 3000 bytes behind it, dropped; 2000, dropped; 1000, sent.
    assert!(sent.is_some() && !codel.dropping);
    assert_eq!((dropped, line.len(), line.bytes), (2, 1, 1000));
}

#[test]
fn an_empty_queue_ends_dropping() {
    let mut codel = codel();
    drops(&mut codel, 1000, 1101);
    assert!(codel.dropping);
    assert!(codel.dequeue(1102 * MS, || None, |_| {}).is_none());
    assert_eq!((codel.dropping, codel.first_above_time), (false, None));
}

/// The packet leaves with a mark, and no other is dropped for it. With what is overdue, one event
/// marks one packet: after 1100 nothing leaves until 1400, and then those of 1200, 1270.71, 1328.45
/// and 1378.45 come with one packet each.
#[test]
fn ecn_capable_packets_are_marked() {
    let marks = |codel: &mut CodelState, ecn, times: &[u64]| -> Vec<u64> {
        let marked = times.iter().filter(|&ms| {
            let mut packet = packet(1000, ms * MS - 20 * MS);
            packet.packet.ecn = ecn;
            let mut drops = 0;
            let sent = codel.dequeue(ms * MS, || Some((packet, 50_000)), |_| drops += 1);
            let marked = sent.is_some_and(|p| p.packet.ecn.codepoint() == Codepoint::Ce);
            assert!(drops == 0 || !marked);
            marked
        });
        marked.copied().collect()
    };
    let capable = Ecn::new(Codepoint::Ect0, false, false);
    let with_ecn = || CodelState::new(&Codel { ecn: true, ..Codel::new(1000) });
    let all: Vec<u64> = (1000..1502).collect();

    let mut codel = with_ecn();
    assert_eq!(marks(&mut codel, capable, &all), [1100, 1200, 1271, 1329, 1379, 1424, 1464]);
    assert_eq!((codel.count, codel.marked, codel.dropped_early), (7, 7, 0));

    let mut codel = with_ecn();
    let late = [1000, 1100, 1400, 1401, 1402, 1403, 1404, 1423, 1424];
    assert_eq!(marks(&mut codel, capable, &late), [1100, 1400, 1401, 1402, 1403, 1424]);

    // Others are dropped, and all are without `ecn`.
    let mut codel = with_ecn();
    assert_eq!(marks(&mut codel, Ecn::NONE, &all), [0; 0]);
    assert_eq!((codel.marked, codel.dropped_early), (0, 7));
    let mut codel = self::codel();
    assert_eq!(marks(&mut codel, capable, &all), [0; 0]);
    assert_eq!((codel.marked, codel.dropped_early), (0, 7));
}
