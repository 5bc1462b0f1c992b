//! What goes again since a router has asked for shorter packets.

use super::*;
use crate::connection::{AskedShorter, Retransmission};
use crate::sender::Shorter;

const ROUTER: [u8; 4] = [10, 9, 1, 1];

impl Line {
    /// A router asks for packets of `mtu` bytes.
    fn told(&mut self, t: f64, mtu: Option<u32>) {
        self.model.too_big(&Shorter { at: ms(t), router: ROUTER.into(), mtu, len: 1040 });
    }

    /// Segments from this position on are cut as was asked.
    fn cut(&mut self, t: f64, positions: std::ops::Range<u64>) {
        for position in positions.step_by(MSS as usize) {
            self.send_bytes(t, position, 900);
            self.send_bytes(t, position + 900, 100);
        }
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

/// It has heeded the message at once, in packets that are cut behind the capture: what its timer
/// sends then is of a loss.
#[test]
fn what_has_heeded_is_lost_later() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.told(70.0, Some(940));
    line.send(70.01, 0..2);
    line.send_bytes(400.0, 0, 900);
    let found = line.found();
    let too_big: Vec<_> = found.retransmissions.iter().map(|r| r.too_big).collect();
    assert_eq!(too_big, [true, true, false]);
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
    assert!(!found.retransmissions.iter().any(|r| r.too_big));
    let asked = found.asked_shorter.unwrap();
    assert_eq!((asked.messages, asked.ignored), (3, true));
}

/// A message was lost behind the capture: the next one is heeded. Nor is it a timer of what is
/// short enough, or has gone out since, that does not heed.
#[test]
fn a_sender_that_heeds_later() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.told(70.0, Some(940));
    line.send(400.0, [0]);
    line.told(420.0, Some(940));
    line.cut(420.01, 0..2000);
    line.send_bytes(1100.0, 0, 900);
    let found = line.found();
    let kinds: Vec<_> = found.retransmissions.iter().map(|r| r.kind).collect();
    let (timeout, cut) = (Kind::Timeout, Kind::TooBig);
    assert_eq!(kinds[..5], [timeout, cut, cut, cut, cut]);
    assert!(kinds[5].is_timeout());
    assert!(!found.asked_shorter.unwrap().ignored);

    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..1);
    line.told(70.0, Some(940));
    line.cut(70.01, 0..1000);
    line.ack(120.0, 1);
    line.send(130.0, 1..2);
    line.send(500.0, [1]);
    assert!(!line.found().asked_shorter.unwrap().ignored);

    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send_bytes(50.0, 0, 500);
    line.send_bytes(50.0, 500, 1000);
    line.told(70.0, Some(940));
    line.send_bytes(500.0, 0, 500);
    let found = line.found();
    assert!(found.retransmissions[0].kind.is_timeout());
    assert!(!found.asked_shorter.unwrap().ignored);
}

/// Windows waits for its timer: what it sends then is shorter, and is of no loss. The segment that
/// was short enough was lost, and so is what has been cut and goes once more.
#[test]
fn a_sender_that_waits_for_its_timer() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.send_bytes(50.0, 2000, 500);
    line.send_bytes(50.0, 2500, 1000);
    for t in [70.0, 70.1, 70.2] {
        line.told(t, Some(940));
    }
    line.send_bytes(400.0, 0, 900);
    line.acked_at(450.0, 900);
    line.send_bytes(450.1, 900, 900);
    line.send_bytes(450.2, 1800, 200);
    line.send_bytes(450.3, 2000, 500);
    line.send_bytes(450.4, 2500, 900);
    line.send_bytes(1200.0, 900, 900);
    let found = line.found();
    assert_eq!(found.losses.counted, 1);
    let sent: Vec<_> = found.retransmissions.iter().map(|r| (r.position, r.too_big)).collect();
    let cut = [(0, true), (900, true), (1800, true)];
    assert_eq!(sent, [&cut[..], &[(2000, false), (2500, true), (900, false)]].concat());
    assert!(found.retransmissions[0].kind.is_timeout());
    assert!(!found.asked_shorter.unwrap().ignored);
}

/// The first message was lost, so that the timer sends it as long as it was. What that brings is
/// heeded by the next timer: nothing was lost but the message.
#[test]
fn a_sender_that_hears_after_its_timer() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.send(400.0, [0]);
    line.told(420.0, Some(940));
    for (at, position, len) in [(1100.0, 0, 900), (1150.1, 900, 900), (1150.2, 1800, 200)] {
        line.send_bytes(at, position, len);
        line.told(at + 0.05, Some(940));
    }
    line.send_bytes(2500.0, 900, 900);
    let found = line.found();
    let sent: Vec<_> = found.retransmissions.iter().map(|r| (r.position, r.too_big)).collect();
    assert_eq!(sent, [(0, false), (0, true), (900, true), (1800, true), (900, false)]);
}

/// Each packet on its way brings a message. What the sender has cut by then, and is lost, is lost
/// like any other.
#[test]
fn a_burst_of_messages() {
    for mtu in [Some(940), Some(941), None] {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..5);
        line.told(70.0, Some(940));
        line.cut(70.01, 0..5000);
        (0..9).for_each(|n| line.told(70.02 + 0.01 * f64::from(n), mtu));
        let mut sack = [(0, 0); 4];
        sack[0] = (1000, 5000);
        line.heard(Acked { sack, sacks: 1, ..line.plain(120.0, 900) });
        line.send_bytes(121.0, 900, 100);
        let found = line.found();
        let lost = &found.retransmissions[10];
        assert_eq!((lost.position, lost.kind), (900, Kind::FastRetransmit), "{mtu:?}");
        assert_eq!(found.asked_shorter.unwrap().messages, 10);
    }
}

/// Data goes out beside the first message, before the sender takes that in.
#[test]
fn what_goes_out_beside_the_message() {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send(50.0, 0..2);
    line.told(70.0, Some(940));
    line.send(70.01, 2..4);
    line.told(70.02, Some(940));
    line.cut(70.03, 0..4000);
    let found = line.found();
    assert_eq!(found.retransmissions.len(), 8);
    assert!(found.retransmissions.iter().all(|r| r.kind == Kind::TooBig));
}

/// A sender goes up again after ten minutes (RFC 1191 section 6.3), and is asked again.
#[test]
fn asked_again() {
    for is_longer in [true, false] {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..1);
        line.told(70.0, Some(940));
        line.cut(70.01, 0..1000);
        line.model.set_mss(900);
        line.ack(120.0, 1);
        if is_longer {
            line.model.set_mss(1000);
        }
        line.send(600_000.0, 1..3);
        line.told(600_020.0, Some(940));
        line.cut(600_020.01, 1000..3000);
        let found = line.found();
        let cut = found.retransmissions.iter().filter(|r| r.kind == Kind::TooBig).count();
        assert_eq!(cut, if is_longer { 6 } else { 2 });
    }
}

/// An ACK speaks of a loss just when a message comes. What goes again is not cut, so it goes for
/// the ACK. At the sender it may be cut behind the capture: there it goes for the message if no ACK
/// speaks of a loss.
#[test]
fn what_is_not_cut() {
    let kind = |sight, len, sacked| {
        let mut line = Line::sack(50.0);
        line.model.stream.terms.sight = sight;
        line.ack(50.0, 0);
        line.send(50.0, 0..10);
        if sacked {
            line.ack_sack(100.0, 0, &[(1, 5)]);
        }
        line.told(100.01, Some(940));
        line.send_bytes(100.02, 0, len);
        line.found().retransmissions[0].kind
    };
    let (by_ack, cut) = (Kind::FastRetransmit, Kind::TooBig);
    for (sight, len, sacked, wanted) in [
        (Sight::Sent, 1000, true, by_ack),
        (Sight::Sent, 901, true, by_ack),
        (Sight::Sent, 900, true, cut),
        (Sight::Sent, 1000, false, cut),
        (Sight::Arrived, 1000, true, by_ack),
        (Sight::Arrived, 900, true, cut),
        (Sight::Arrived, 900, false, cut),
    ] {
        assert_eq!(kind(sight, len, sacked), wanted, "{sight:?} {len} {sacked}");
    }
    assert_ne!(kind(Sight::Arrived, 1000, false), cut);
}

/// What comes a round trip after the message is no answer, nor what an ACK lets go when the timer
/// was due.
#[test]
fn what_comes_later() {
    let unknown = |at| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..5);
        line.told(70.0, Some(940));
        line.send_bytes(at, 1000, 900);
        line.found().retransmissions[0].kind
    };
    assert_eq!([119.0, 123.0].map(unknown), [Kind::TooBig, Kind::Unknown]);
    let on_ack = |at| {
        let mut line = Line::sack(50.0);
        line.ack(50.0, 0);
        line.send(50.0, 0..5);
        line.told(70.0, Some(940));
        line.cut(70.01, 0..1000);
        line.ack(at, 1);
        line.send_bytes(at + 0.01, 1000, 900);
        line.found().retransmissions[2].kind == Kind::TooBig
    };
    assert_eq!([120.0, 2000.0].map(on_ack), [true, false]);
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
    let asked = |at, router, mtu| Shorter { at: ms(at), router, mtu, len: 1040 };
    line.model.too_big(&asked(70.0, [10, 9, 2, 2].into(), Some(840)));
    line.send(70.01, 0..2);
    line.model.too_big(&asked(70.02, [10, 9, 3, 3].into(), Some(940)));
    line.model.too_big(&asked(70.03, [10, 9, 4, 4].into(), Some(840)));
    line.ack(120.0, 2);
    let found = line.found();
    let again = [(0, Kind::TooBig), (1, Kind::TooBig)];
    assert_eq!(kinds(&found), [again, again].concat());
    let asked = AskedShorter {
        messages: 4,
        first: ms(60.0),
        mtu: Some(840),
        router: [10, 9, 2, 2].into(),
        ignored: false,
    };
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
        line.cut(at, 0..3000);
        let found = line.found();
        assert_eq!(found.retransmissions.iter().all(|r| r.kind == Kind::TooBig), is_it, "{at}");
    }
}
