use ackclock_tcp::Time;

use super::{Outstanding, Segment};

fn ten() -> Outstanding {
    let mut out = Outstanding::default();
    for n in 0..10 {
        out.push(Segment {
            position: n * 10,
            len: 10,
            first_at: Time(n),
            transmissions: 1,
            ..Segment::default()
        });
    }
    out
}

fn sack(out: &mut Outstanding, left: u64, right: u64) -> Vec<(u64, u32)> {
    let mut newly = Vec::new();
    out.sack(left, right, |s| newly.push((s.position, s.len)));
    newly
}

#[test]
fn a_block_reports_what_is_new_in_it() {
    let mut out = ten();
    assert_eq!(sack(&mut out, 20, 40), [(20, 10), (30, 10)]);
    assert_eq!(sack(&mut out, 20, 40), []);
    assert_eq!(sack(&mut out, 60, 70), [(60, 10)]);
    // Over both, and the gap between them.
    assert_eq!(sack(&mut out, 10, 80), [(10, 10), (40, 10), (50, 10), (70, 10)]);
    assert_eq!(out.sacked_bytes(), 70);
    out.sacked.forget_below(25);
    assert_eq!(out.sacked_bytes(), 55);
}

#[test]
fn a_block_cuts_what_it_covers_in_part() {
    let mut out = ten();
    assert_eq!(sack(&mut out, 15, 25), [(15, 5), (20, 5)]);
    assert_eq!(out.len(), 12);
    assert_eq!(out.get(1).map(|s| (s.position, s.len, s.sacked)), Some((10, 5, false)));
}

#[test]
fn blocks_outside_count_for_nothing() {
    let mut out = ten();
    assert_eq!(sack(&mut out, 200, 300), []);
    assert_eq!(sack(&mut out, 40, 40), []);
    assert_eq!(sack(&mut out, 90, 300), [(90, 10)]);
    assert_eq!(out.sacked_bytes(), 10);
}

#[test]
fn what_is_acknowledged_in_part_is_cut() {
    let mut out = ten();
    assert_eq!(out.pop_acked(15).map(|s| (s.position, s.len)), Some((0, 10)));
    assert_eq!(out.pop_acked(15).map(|s| (s.position, s.len)), Some((10, 5)));
    assert_eq!(out.pop_acked(15), None);
    assert_eq!(out.head().map(|s| (s.position, s.len)), Some((15, 5)));
}

#[test]
fn retransmissions_outstanding_are_those_not_sacked() {
    let mut out = ten();
    out.retransmit(0..1, 1, |_| ());
    out.retransmit(3..4, 2, |_| ());
    out.retransmit(3..4, 3, |_| ());
    assert_eq!(out.retransmitted, 2);
    sack(&mut out, 30, 35);
    assert_eq!(out.retransmitted, 1 + 1);
    sack(&mut out, 35, 40);
    assert_eq!(out.retransmitted, 1);
    while out.pop_acked(50).is_some() {}
    assert_eq!(out.retransmitted, 0);
}

#[test]
fn a_retransmission_knows_what_of_it_was_reported() {
    let mut out = ten();
    sack(&mut out, 10, 25);
    let records = out.cut_out(5, 45);
    assert_eq!(out.retransmit(records, 1, |_| ()).sacked, 15);
    let records = out.cut_out(30, 40);
    assert_eq!(out.retransmit(records, 2, |_| ()).sacked, 0);
}

/// Each hole costs time in proportion to what is outstanding: beyond 4096 no block makes another
/// one.
#[test]
fn holes_are_bounded() {
    let mut out = Outstanding::default();
    for n in 0..10_000 {
        out.push(Segment { position: n * 10, len: 10, ..Segment::default() });
    }
    (0..5000).for_each(|n| drop(sack(&mut out, n * 20, n * 20 + 10)));
    assert_eq!((out.sacked_bytes(), out.overcut), (40_960, true));
    // What touches a known one is taken.
    assert_eq!(sack(&mut out, 4095 * 20, 4095 * 20 + 20), [(81_910, 10)]);
}

/// The same for cuts, until what they have made is gone.
#[test]
fn cuts_are_bounded() {
    let mut out = Outstanding::default();
    out.push(Segment { len: 10_000, ..Segment::default() });
    out.push(Segment { position: 10_000, len: 10, ..Segment::default() });
    assert_eq!((1..5000).map(|n| out.cut(n * 2)).max(), Some(4096));
    assert_eq!((out.len(), out.overcut), (4098, true));
    assert_eq!(sack(&mut out, 10_003, 10_005), []);
    assert_eq!((0..4096).filter_map(|_| out.pop_acked(10_000)).count(), 4096);
    assert_eq!(sack(&mut out, 10_003, 10_005), [(10_003, 2)]);
}

/// Data without ACKs must not fill the memory.
#[test]
fn the_oldest_makes_room() {
    let mut out = Outstanding::default();
    let gone = (0..(1_u64 << 18) + 1)
        .filter_map(|n| out.push(Segment { position: n, len: 1, ..Segment::default() }));
    assert_eq!(gone.map(|s| s.position).collect::<Vec<_>>(), [0]);
}

/// Room for a single segment, and then for a half more each time; an empty list gives much room
/// back.
#[test]
fn room_for_what_is_outstanding() {
    let mut out = Outstanding::default();
    let rooms: Vec<usize> = (0..18)
        .map(|_| {
            out.append(Time::ZERO, 10);
            out.segments.capacity()
        })
        .collect();
    assert_eq!(rooms, [1, 2, 3, 4, 6, 6, 9, 9, 9, 13, 13, 13, 13, 19, 19, 19, 19, 19]);
    while out.pop_acked(180).is_some() {}
    out.advance(180);
    assert_eq!(out.segments.capacity(), 0);
}
