//! Something on the path makes two of each packet, or only the capture has them twice.

use super::*;
use crate::connection::Spurious;

/// Data with this identification, and its copy.
fn twice(talk: &mut Talk, ms: f64, data: P, id: u16) {
    talk.at(ms, data.id(id).ttl(64)).at(ms + 0.014, data.id(id).ttl(63));
}

/// The client's second segment goes again. What is said of that, and of how many D-SACKs, where so
/// many of them report the first segment and then the second one, with these bytes.
fn fate(first: usize, second: usize, block: (u64, u64)) -> (Option<Spurious>, Option<bool>, u64) {
    let of = |isns| {
        let mut talk = Talk::new(isns);
        talk.open();
        twice(&mut talk, 11.0, c(0, 1000), 1);
        talk.at(21.0, s(0, 0).ack(1000));
        for n in 0..first {
            talk.sacked(21.5 + n as f64, s(0, 0).ack(1000), &[(0, 1000)]);
        }
        twice(&mut talk, 31.0, c(1000, 1000), 2);
        twice(&mut talk, 331.0, c(1000, 1000), 3);
        talk.at(341.0, s(0, 0).ack(2000));
        for n in 0..second {
            talk.sacked(341.5 + n as f64, s(0, 0).ack(2000), &[block]);
        }
        let one = talk.one();
        assert_eq!(one.copies, 3);
        let [again] = one.from_client.retransmissions[..] else { panic!() };
        (again.spurious, again.lost, one.from_client.dsacks)
    };
    let [fate, other] = ISNS.map(of);
    assert_eq!(fate, other);
    fate
}

/// One of the retransmission's two packets is a duplicate, though the retransmission was needed.
#[test]
fn a_dsack_of_a_copy_that_arrived_proves_no_retransmission_spurious() {
    assert_eq!(fate(1, 1, (1000, 2000)), (None, Some(false), 2));
}

/// Of four packets one was first.
#[test]
fn one_more_dsack_than_copies_proves_it() {
    assert_eq!(fate(1, 2, (1000, 2000)), (None, Some(false), 3));
    assert_eq!(fate(1, 3, (1000, 2000)), (Some(Spurious::Dsack), Some(false), 4));
}

/// The receiver has reported nothing of the first segment's copy: a mirror port has made it.
#[test]
fn copies_of_the_capture_alone_explain_no_dsack() {
    assert_eq!(fate(0, 1, (1000, 2000)), (Some(Spurious::Dsack), Some(false), 1));
}

/// What a D-SACK reports beyond a copy's bytes is another segment's.
#[test]
fn a_dsack_of_other_bytes_is_no_answer_to_a_copy() {
    assert_eq!(fate(1, 1, (0, 2000)), (Some(Spurious::Dsack), Some(false), 2));
}

/// A segment behind a hole arrives twice: the D-SACK says so with the block of the ACK before.
#[test]
fn a_dsack_right_behind_an_ack_is_no_copy_of_that() {
    each(|mut talk| {
        talk.open();
        twice(&mut talk, 11.0, c(0, 1000), 1);
        twice(&mut talk, 11.1, c(2000, 1000), 3);
        talk.sacked(21.0, s(0, 0).ack(1000), &[(2000, 3000)]);
        talk.sacked(21.02, s(0, 0).ack(1000), &[(2000, 3000), (2000, 3000)]);
        // Three blocks fit beside timestamps.
        for (ms, n) in [(11.2, 4), (11.3, 6)] {
            twice(&mut talk, ms, c(1000 * n, 1000), n as u16);
        }
        let blocks = [2, 4, 6].map(|n| (1000 * n, 1000 * (n + 1)));
        talk.sacked(31.0, s(0, 0).ack(1000), &blocks);
        talk.sacked(31.02, s(0, 0).ack(1000), &[blocks[0], blocks[0], blocks[1]]);
        let one = talk.one();
        assert_eq!((one.copies, one.from_client.dsacks), (4, 2));
    });
}

/// Keep-alives, which a mirror port doubles, are answered by D-SACKs: they say nothing of copies.
#[test]
fn dsacks_of_keep_alives_are_none_of_copies() {
    each(|mut talk| {
        talk.open();
        twice(&mut talk, 11.0, c(0, 1000), 1);
        talk.at(21.0, s(0, 0).ack(1000));
        for n in 0..3 {
            let ms = 45_000.0 * f64::from(n + 1);
            twice(&mut talk, ms, c(999, 1), 2 + n);
            talk.sacked(ms + 10.0, s(0, 0).ack(1000), &[(999, 1000)]);
        }
        twice(&mut talk, 200_000.0, c(1000, 1000), 9);
        twice(&mut talk, 200_300.0, c(1000, 1000), 10);
        talk.at(200_310.0, s(0, 0).ack(2000));
        talk.sacked(200_310.5, s(0, 0).ack(2000), &[(1000, 2000)]);
        let again = talk.one().from_client.retransmissions;
        assert_eq!(again.last().unwrap().spurious, Some(Spurious::Dsack));
    });
}

/// Packets of another stream, far off, move nothing, however often the capture has all of them.
#[test]
fn copies_move_no_stream() {
    let all = |copies: bool| {
        let mut talk = Talk::new(ISNS[0]);
        talk.open();
        for n in 0..14_u16 {
            let far = if (2..6).contains(&n) { (1 << 30) + 5_000_000 * u64::from(n) } else { 0 };
            let (ms, data) = (20.0 + f64::from(n), c(far + 1000 * u64::from(n), 1000).id(n + 1));
            talk.at(ms, data.ttl(64));
            if copies {
                talk.at(ms + 0.014, data.ttl(63));
            }
        }
        let one = talk.one();
        (one.from_client.bytes, one.from_client.segments)
    };
    assert_eq!(all(true), all(false));
}
