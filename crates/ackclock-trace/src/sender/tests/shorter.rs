//! What goes again since a router has asked for shorter packets.

use super::*;
use crate::connection::{AskedShorter, Retransmission};
use crate::sender::Shorter;

const ROUTER: [u8; 4] = [10, 9, 1, 1];

impl Line {
    /// A router asks for packets of `mtu` bytes.
    fn told(&mut self, t: f64, mtu: Option<u32>) {
        self.model.too_big(&Shorter { at: ms(t), router: ROUTER.into(), mtu });
    }
}

/// Ten segments of which the first four go again at `again`, and the others on the ACKs of those,
/// 50 ms later; a router has asked for shorter ones at these times.
fn ten(mut line: Line, told: &[f64], again: f64) -> Found {
    line.ack(50.0, 0);
    line.send(50.0, 0..10);
    told.iter().for_each(|t| line.told(*t, Some(940)));
    line.send(again, 0..4);
    line.ack(again + 50.0, 2);
    line.send(again + 50.01, 4..7);
    line.ack(again + 50.1, 4);
    line.send(again + 50.11, 7..10);
    line.ack(again + 100.0, 7);
    line.ack(again + 100.1, 10);
    line.send(again + 100.11, 10..20);
    line.ack(again + 150.1, 20);
    line.found()
}

/// It is neither a recovery nor a loss: nothing lowers cwnd.
#[test]
fn all_that_was_outstanding_goes_again() {
    for line in [Line::sack(50.0), Line::without_sack(50.0), Line::timestamped(50.0)] {
        let found = ten(line, &[70.0], 70.01);
        let all: Vec<_> = (0..10).map(|n| (n, Kind::TooBig)).collect();
        assert_eq!(kinds(&found), all);
        assert_eq!((found.recoveries.len(), found.timeouts.len()), (0, 0));
        assert_eq!((found.losses.counted, found.losses.episodes), (0, 0));
        let lost = |r: &Retransmission| r.spurious.is_some() || r.lost == Some(true);
        assert!(!found.retransmissions.iter().any(lost));
        assert_eq!(found.ways.reductions, Default::default());
    }
    // Nobody has asked.
    let found = ten(Line::sack(50.0), &[], 70.01);
    assert!(found.retransmissions.iter().all(|r| r.kind != Kind::TooBig));
    assert!(found.losses.counted > 0 && found.asked_shorter.is_none());
}

/// Cwnd is what it was: as much goes out at once later.
#[test]
fn cwnd_stays() {
    let cwnd = |told: &[f64]| {
        let mut line = Line::sack(50.0);
        line.model =
            SenderModel::new(Terms { events: true, ..*line.model.terms() }, Arc::default());
        line.model.syn(1, Time::ZERO, Seq(0), false, None);
        let found = ten(line, told, 70.01);
        found.events.iter().map(|event| event.cwnd).skip(20).min()
    };
    assert_eq!(cwnd(&[70.0]), Some(10 * MSS));
}

/// A host that drops ICMP, or has never heard of it: its timer expires, or a probe's.
#[test]
fn a_sender_that_does_not_heed() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..10);
    line.told(70.0, Some(940));
    line.send(150.0, [9]);
    line.told(170.0, Some(940));
    line.send(400.0, [0]);
    line.told(420.0, Some(940));
    line.send(1000.0, [0]);
    let found = line.found();
    use Kind::{BackedOffTimeout, TailLossProbe, Timeout};
    assert_eq!(kinds(&found), [(9, TailLossProbe), (0, Timeout), (0, BackedOffTimeout)]);
    assert_eq!(found.asked_shorter.unwrap().messages, 3);
}

/// What went out later, or went again once, is lost like any other.
#[test]
fn what_was_sent_since() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.told(70.0, Some(940));
    line.send(70.01, 0..2);
    line.send(70.02, 2..10);
    line.ack_sack(120.0, 1, &[(2, 8)]);
    line.send(120.01, [1]);
    line.ack(170.0, 8);
    line.ack_sack(170.1, 8, &[(9, 10)]);
    line.send(190.0, [8]);
    let found = line.found();
    let [first, second, lost, later] = kinds(&found)[..] else { panic!("{:?}", kinds(&found)) };
    assert_eq!([first, second], [(0, Kind::TooBig), (1, Kind::TooBig)]);
    assert_eq!(lost, (1, Kind::FastRetransmit));
    assert_eq!((later.0, later.1 == Kind::TooBig), (8, false));
    assert_eq!(found.retransmissions[1].lost, Some(true));
}

/// Two links, one smaller than the other, and a router that does not say what it takes.
#[test]
fn the_least_that_was_asked_for() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.told(60.0, None);
    line.send(60.01, 0..2);
    let asked = |at, router, mtu| Shorter { at: ms(at), router, mtu };
    line.model.too_big(&asked(70.0, [10, 9, 2, 2].into(), Some(840)));
    line.send(70.01, 0..2);
    line.model.too_big(&asked(70.02, [10, 9, 3, 3].into(), Some(940)));
    line.model.too_big(&asked(70.03, [10, 9, 4, 4].into(), Some(840)));
    line.ack(120.0, 2);
    let found = line.found();
    let again = [(0, Kind::TooBig), (1, Kind::TooBig)];
    assert_eq!(kinds(&found), [again, again].concat());
    let asked =
        AskedShorter { messages: 4, first: ms(60.0), mtu: Some(840), router: [10, 9, 2, 2].into() };
    assert_eq!(found.asked_shorter, Some(Box::new(asked)));
}

/// Away from the sender it is known to a quarter of the round trip when it has heard of it.
#[test]
fn away_from_the_sender() {
    for (at, is_it) in [(45.0, false), (60.0, true), (80.0, true)] {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = Sight::Arrived;
        line.ack(50.0, 0);
        line.send(50.0 - 20.0, 0..3);
        line.told(70.0, Some(940));
        line.send(at, 0..3);
        let found = line.found();
        assert_eq!(found.retransmissions.iter().all(|r| r.kind == Kind::TooBig), is_it, "{at}");
    }
}
