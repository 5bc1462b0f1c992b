//! Lin & Kung 1998, section 8: "A Net Reno TCP connection is able to avoid RTOs completely as long
//! as the network keeps at least one packet alive for each round trip time."
//!
//! As it stands this does not hold. The tests named counterexamples are the smallest ones, each
//! with its reason. What has to live is a packet whose ACK releases another one. Only some packets
//! release none: those sent before the first retransmission of a recovery that are under way
//! together with it. Until half of the window has left the network, their ACKs release nothing but
//! the two marked segments.
//!
//! So the claim holds where in each round trip one packet lives, and in that of a recovery's first
//! retransmission one that was not sent before it. It needs more:
//! - The small-window optimisation acts at the window at hand.
//! - There is data to send.
//! - The receiver echoes the markers, or has SACK. With SACK it reports what arrives twice (RFC
//!   2883): otherwise the ACK of a spurious retransmission is no duplicate.
//! - The timeout is long enough.

use ackclock_tcp::{
    Cause, DelayedAck, Receiver, ReceiverConfig, Registry, Segment, Sender, SenderConfig, Span,
    Time, Transmit,
};
use proptest::prelude::*;

const MSS: u32 = 100;

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Dies,
    /// It arrives, but its ACK does not.
    AckDies,
    Lives,
}
use Fate::*;

/// A path that keeps order, a round trip at a time.
struct Path {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    flight: Vec<Transmit>,
    /// Segments retransmitted because a retransmission was judged lost, though it had arrived.
    spurious: u32,
}

/// Both ends, and how they differ from the usual.
#[derive(Clone, Copy, Debug)]
struct Ends {
    window: u32,
    max_window: u64,
    segments: u64,
    min_rto: Option<Span>,
    delayed_ack: bool,
    echo_out_of_order: bool,
}

const ENDS: Ends = Ends {
    window: 4,
    max_window: 100,
    segments: 10_000,
    // A round trip takes a millisecond for each ACK.
    min_rto: Some(Span::from_secs(3600)),
    delayed_ack: false,
    echo_out_of_order: true,
};

impl Path {
    fn new(composition: &str, ends: Ends) -> Path {
        let strategy = Registry::default().parse(composition).expect("a composition").build();
        let sack = strategy.uses_sack;
        let sender = SenderConfig {
            mss: MSS,
            initial_window: Some(ends.window),
            initial_rwnd: 1 << 20,
            max_cwnd: Some(ends.max_window * u64::from(MSS)),
            min_rto: ends.min_rto,
            max_rto: Some(Span::from_secs(7200)),
            sack,
            timestamps: true,
            ..SenderConfig::default()
        };
        let delayed_ack = if ends.delayed_ack {
            DelayedAck::After(Span::from_millis(200))
        } else {
            DelayedAck::Off
        };
        let receiver = ReceiverConfig {
            mss: MSS,
            delayed_ack,
            sack,
            timestamps: true,
            echo_out_of_order: ends.echo_out_of_order,
            ..ReceiverConfig::default()
        };
        let (sender, receiver) = (Sender::new(sender, strategy), Receiver::new(receiver));
        let mut path = Path { sender, receiver, now: Time::ZERO, flight: Vec::new(), spurious: 0 };
        path.sender.write(path.now, ends.segments * u64::from(MSS));
        path.drain();
        path
    }

    fn drain(&mut self) {
        while let Some(t) = self.sender.poll_transmit(self.now) {
            self.flight.push(t);
        }
    }

    fn wait_until(&mut self, time: Time) {
        self.now = self.now.max(time);
        if self.sender.next_deadline() <= self.now {
            self.sender.on_deadline(self.now);
            self.drain();
        }
    }

    fn deliver(&mut self, ack: &Segment) {
        self.wait_until(self.now + Span::from_millis(1));
        self.sender.on_segment(self.now, ack);
        self.drain();
    }

    /// Everything under way meets its fate, and the ACKs release the next flight. Where an ACK
    /// stands for several packets (delayed ACKs), it lives if one of them does.
    fn round(&mut self, fate: impl Fn(usize) -> Fate) {
        let mut acks = Vec::new();
        let mut lives = false;
        for (i, t) in
            std::mem::take(&mut self.flight).iter().enumerate().filter(|(i, _)| fate(*i) != Dies)
        {
            let fresh = self.receiver.on_segment(self.now, &t.segment);
            self.spurious += u32::from(!fresh && t.cause == Cause::Recovery && t.transmission > 2);
            lives |= fate(i) == Lives;
            if let Some(ack) = self.receiver.poll_transmit(self.now)
                && std::mem::take(&mut lives)
            {
                acks.push(ack);
            }
        }
        for ack in &acks {
            self.deliver(ack);
        }
        if self.flight.is_empty() && self.receiver.next_deadline() != Time::NEVER {
            self.wait_until(self.receiver.next_deadline());
            self.receiver.on_deadline(self.now);
            let ack = self.receiver.poll_transmit(self.now).expect("a delayed ACK");
            self.deliver(&ack);
        }
    }

    /// Segment numbers, with F for the first retransmission, P and L for others, + for what is sent
    /// beyond the window.
    fn flight(&self) -> String {
        let name = |t: &Transmit| {
            let letter = match t.cause {
                Cause::New => "",
                Cause::LimitedTransmit
                | Cause::FRto
                | Cause::TailLossProbe
                | Cause::Marker
                | Cause::WindowProbe => "+",
                Cause::FastRetransmit => "F",
                Cause::Recovery if t.transmission > 2 => "L",
                Cause::Recovery => "P",
                _ => "?",
            };
            format!("{}{letter}", t.position / u64::from(MSS))
        };
        self.flight.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Only these packets of the flight live; returns the next flight.
    fn only(&mut self, lives: &[usize]) -> String {
        self.round(|i| if lives.contains(&i) { Lives } else { Dies });
        self.flight()
    }

    /// Nothing is under way, and something is not acknowledged.
    fn stalls(&self) -> bool {
        self.flight.is_empty() && !self.sender.is_idle()
    }
}

/// 4 lives, but it is the fourth duplicate: with a window of 4, and 4 and 5 sent for the first two
/// duplicates, the fifth is the first to release anything. Not even a smaller window is safe, since
/// it may grow to 4.
#[test]
fn counterexample_the_packet_that_lives_was_sent_before_the_first_retransmission() {
    for composition in
        ["net-reno", "net-reno-sack", "net-reno+smallwnd-any", "net-reno-sack+smallwnd-any"]
    {
        let mut path = Path::new(composition, ENDS);
        assert_eq!(path.flight(), "0 1 2 3");
        assert_eq!(path.only(&[1, 2, 3]), "4+ 5+ 0F");
        assert_eq!(path.only(&[0]), "");
        assert!(path.stalls(), "{composition}");
    }
    // One duplicate more is enough, or the retransmission.
    for (lives, next) in [(&[0, 1][..], "6"), (&[2], "6")] {
        let mut path = Path::new("net-reno-sack", ENDS);
        path.only(&[1, 2, 3]);
        assert_eq!(path.only(lives), next);
    }
}

/// "In our implementation, it is triggered only if the congestion window size is less than ten
/// packets."
#[test]
fn counterexample_a_window_of_ten() {
    for (window, composition, next) in [
        (10, "net-reno", ""),
        (10, "net-reno-sack", ""),
        (9, "net-reno", "9+"),
        (9, "net-reno-sack", "9+"),
        (10, "net-reno-sack+smallwnd-any", "10+"),
    ] {
        let mut path = Path::new(composition, Ends { window, ..ENDS });
        assert_eq!(path.only(&[5]), next, "{composition}");
    }
}

/// A receiver that follows RFC 7323 does not echo the marker, and without the echo the ACK of a
/// marker is a duplicate like any other. With SACK the marker is seen.
#[test]
fn counterexample_a_marker_that_is_not_echoed() {
    for (composition, echo_out_of_order, next) in [
        ("net-reno+smallwnd-any", false, ""),
        ("net-reno+smallwnd-any", true, "24"),
        ("net-reno-sack+smallwnd-any", false, "8P"),
    ] {
        let mut path = Path::new(composition, Ends { window: 20, echo_out_of_order, ..ENDS });
        // 0 is lost, and all above 7.
        assert_eq!(path.only(&[1, 2, 3, 4, 5, 6, 7]), "20+ 21+ 0F 22+ 23+");
        assert_eq!(path.only(&[4]), next, "{composition} {echo_out_of_order}");
    }
}

/// There has to be something to send, before recovery too: section 6.5 speaks of what is sent
/// within it.
#[test]
fn counterexample_no_data() {
    for composition in ["net-reno", "net-reno-sack", "net-reno+header-only"] {
        let mut path = Path::new(composition, Ends { segments: 4, ..ENDS });
        assert_eq!(path.only(&[1, 2]), "");
        assert!(path.stalls());
    }
}

/// The first segment may die as long as another packet lives, but not for ever: each time it goes
/// again in place of a new segment, so that in the end it is alone. With a window of 20 it dies 11
/// times in 35 round trips, and the timeout has to be longer than these.
#[test]
fn the_first_segment_dies_as_long_as_it_can() {
    for composition in ["net-reno+smallwnd-any", "net-reno-sack+smallwnd-any"] {
        let mut path = Path::new(composition, Ends { window: 20, ..ENDS });
        let (mut rounds, mut lost) = (0, 0);
        while path.sender.acked() == 0 {
            let others: Vec<usize> =
                (0..path.flight.len()).filter(|i| path.flight[*i].position > 0).collect();
            lost += path.flight.len() - others.len();
            path.only(if others.is_empty() { &[0] } else { &others });
            assert!(!path.stalls());
            rounds += 1;
        }
        assert_eq!((rounds, lost, path.sender.stats().timeouts), (35, 11, 0), "{composition}");
    }
}

/// Which packets live, for one round trip: one that has to, and which others arrive and are
/// acknowledged.
#[derive(Clone, Copy, Debug)]
struct Round {
    one: u8,
    arrive: u64,
    acknowledged: u64,
}

fn round() -> impl Strategy<Value = Round> {
    let few = || prop_oneof![Just(0), any::<u64>().prop_map(|bits| 1 << (bits % 64)), any::<u64>()];
    let most = prop_oneof![Just(u64::MAX), any::<u64>()];
    (any::<u8>(), few(), most).prop_map(|(one, arrive, acknowledged)| Round {
        one,
        arrive,
        acknowledged,
    })
}

/// Runs these round trips, and then some without losses: there is no timeout, and all is
/// acknowledged that was sent before.
fn one_lives(composition: &str, ends: Ends, rounds: &[Round]) -> Result<(), TestCaseError> {
    let mut path = Path::new(composition, ends);
    for (n, r) in rounds.iter().enumerate() {
        let first = path.flight.iter().position(|t| t.cause == Cause::FastRetransmit).unwrap_or(0);
        let one = first + usize::from(r.one) % (path.flight.len() - first);
        path.round(|i| match (r.arrive >> (i % 64) & 1, r.acknowledged >> (i % 64) & 1) {
            _ if i == one => Lives,
            (0, _) => Dies,
            (_, 0) => AckDies,
            _ => Lives,
        });
        prop_assert!(!path.stalls(), "stalls after round trip {n}");
    }
    let sent = path.sender.state().snd_max;
    for _ in 0..200 {
        path.round(|_| Lives);
    }
    prop_assert!(path.sender.acked() >= sent, "{:?}", path.sender.state());
    prop_assert_eq!(path.sender.stats().timeouts, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// At every window, with the small-window optimisation at every window.
    #[test]
    fn no_timeout_while_one_packet_lives(
        sack in any::<bool>(),
        window in 1..=40u32,
        delayed_ack in any::<bool>(),
        rounds in prop::collection::vec(round(), 1..40),
    ) {
        let composition = if sack { "net-reno-sack+smallwnd-any" } else { "net-reno+smallwnd-any" };
        one_lives(composition, Ends { window, delayed_ack, ..ENDS }, &rounds)?;
    }

    /// As the paper has it, while the window stays below ten segments.
    #[test]
    fn no_timeout_while_one_packet_of_a_small_window_lives(
        sack in any::<bool>(),
        window in 1..10u32,
        delayed_ack in any::<bool>(),
        rounds in prop::collection::vec(round(), 1..40),
    ) {
        let composition = if sack { "net-reno-sack" } else { "net-reno" };
        one_lives(composition, Ends { window, max_window: 9, delayed_ack, ..ENDS }, &rounds)?;
    }

    /// The ACK clock does not run fast on any base: where packets keep their order and no ACK is
    /// lost, every retransmission that it judges lost is lost.
    #[test]
    fn the_clock_raises_no_false_alarm(
        base in prop::sample::select(vec![
            "reno", "newreno", "newreno+lt", "newreno-ls", "sack", "rfc3517", "sack-ff96", "sack-ls", "net-reno", "net-reno-sack",
        ]),
        marks in prop::sample::select(vec!["lrxt", "marks-ts", "marks-sack"]),
        window in 1..=40u32,
        rounds in prop::collection::vec(round(), 1..40),
    ) {
        let mut path = Path::new(&format!("{base}+{marks}+response-1"), Ends { window, ..ENDS });
        for r in rounds {
            let one = usize::from(r.one) % path.flight.len().max(1);
            path.round(|i| if i == one || r.arrive >> (i % 64) & 1 == 1 { Lives } else { Dies });
        }
        prop_assert_eq!(path.spurious, 0);
    }
}
