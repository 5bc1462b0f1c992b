//! Numbers of packets say that the capture was not taken at the sender, however near that is.

use super::*;
use crate::connection::{Connection, Kind, Vantage};

const MSS: u64 = 1460;

/// What a capture 0.4 ms from the client shows of an upload over 40 ms, whose ninth and tenth
/// segments are missing.
struct Upload {
    /// Numbers that are missing with them.
    missing: u16,
    /// They come again, with numbers behind the last one, or those that were missing.
    again: Option<bool>,
    /// The segments are two by two in super-segments.
    offload: bool,
    /// So many later segments are not in the capture, but are acknowledged.
    dropped: u64,
}

const LOST: Upload = Upload { missing: 2, again: Some(true), offload: false, dropped: 0 };

impl Upload {
    fn explained(&self) -> Connection {
        let mut talk = Talk::new(ISNS[1]);
        talk.at(0.0, syn(0).id(1)).at(39.6, syn(1)).at(40.0, c(0, 0).id(2));
        let (pieces, len) = if self.offload { (2, 2920) } else { (1, 1460) };
        let sent = |n: u64| c(MSS * n, len);
        let mut number = 3;
        let lost_at = |n: u64| (8..10).contains(&n);
        for n in (0..14).step_by(pieces) {
            if lost_at(n) {
                number += if n == 8 { self.missing } else { 0 };
                continue;
            }
            talk.at(40.1 + 0.1 * n as f64, sent(n).id(number));
            number += pieces as u16;
        }
        talk.at(80.5, s(0, 0).ack(8 * MSS));
        for n in 11..15 {
            talk.sacked(80.5 + 0.1 * n as f64, s(0, 0).ack(8 * MSS), &[(10 * MSS, n * MSS)]);
        }
        if let Some(later) = self.again {
            for n in (8..10).step_by(pieces) {
                let id = if later { number } else { 3 + n as u16 };
                number += pieces as u16;
                talk.at(82.5 + 0.1 * n as f64, sent(n).id(id));
            }
        }
        talk.at(124.0, s(0, 0).ack(14 * MSS));
        for n in 0..self.dropped {
            let (at, next) = (124.1 + 40.1 * n as f64, 16 + 2 * n);
            number += 2;
            talk.at(at, c((next - 1) * MSS, 1460).id(number - 1));
            talk.at(at + 40.0, s(0, 0).ack(next * MSS));
        }
        // The tail is lost before the capture, and the timer sends it again.
        let (at, next) = (124.4 + 40.1 * self.dropped as f64, 14 + 2 * self.dropped);
        talk.at(at, c(next * MSS, 1460).id(number));
        talk.at(at + 40.0, s(0, 0).ack((next + 1) * MSS));
        talk.at(at + 275.6, c((next + 1) * MSS, 1460).id(number + 2));
        talk.at(at + 315.6, s(0, 0).ack((next + 2) * MSS));
        talk.one()
    }

    /// Whether the capture was taken at the client.
    fn is_at_client(&self) -> bool {
        let position = self.explained().position;
        assert_eq!(position.vantage, Vantage::Client);
        assert_eq!(position.lost_before, [!position.is_at(true), false]);
        position.is_at(true)
    }
}

#[test]
fn what_comes_again_was_lost_before() {
    assert!(!LOST.is_at_client());
    assert!(!Upload { offload: true, ..LOST }.is_at_client());
}

/// Packets of other connections have these numbers, too, or the capture has them in another order,
/// or has not taken them in.
#[test]
fn what_proves_nothing_leaves_it_at_the_client() {
    for missing in [0, 1, 3] {
        assert!(Upload { missing, ..LOST }.is_at_client(), "{missing}");
    }
    assert!(Upload { again: Some(false), ..LOST }.is_at_client());
    assert!(Upload { again: None, ..LOST }.is_at_client());
}

/// A capture that drops packets drops some that the path loses, too.
#[test]
fn what_is_dropped_later_takes_the_proof_back() {
    assert!(Upload { dropped: 1, ..LOST }.is_at_client());
}

/// From then on what looks new may have been sent before, too.
#[test]
fn what_a_timer_sends_again_is_a_retransmission() {
    let kinds = |upload: Upload| {
        let again = upload.explained().from_client.retransmissions;
        again.iter().map(|r| (r.position / MSS, r.kind)).collect::<Vec<_>>()
    };
    let repaired = [(8, Kind::FastRetransmit), (9, Kind::Recovery)];
    let [first, second] = repaired;
    assert_eq!(kinds(LOST), [first, second, (15, Kind::Timeout)]);
    assert_eq!(kinds(Upload { missing: 3, ..LOST }), repaired);
    assert_eq!(kinds(Upload { dropped: 1, ..LOST }), repaired);
}
