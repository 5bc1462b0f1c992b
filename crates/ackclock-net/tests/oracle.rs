//! What the oracle bounds, and what it does not (`ackclock_tcp`, `recovery/oracle.rs`): transfers over a path that drops a list of
//! transmissions and nothing else, with the same window law.

use ackclock_net::{
    Applies, Ends, FlowConfig, FlowId, Limit, LinkConfig, ListedLoss, Loss, LossModel, Network, Queue, Recorder, Source,
};
use ackclock_tcp::{
    Composition, DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Sender, SenderConfig, Span, Time,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const MSS: u32 = 1000;

#[derive(Clone, Debug)]
struct Path {
    segments: u64,
    initial_window: u32,
    delay: Span,
    /// Bits per second.
    rate: u64,
    initial_ssthresh: Option<u64>,
    drops: Vec<ListedLoss>,
}

/// How a transfer went.
#[derive(Clone, Debug, Default)]
struct Transfer {
    completed: Time,
    /// ssthresh each time that the windows were lowered.
    lowered: Vec<u64>,
    /// Segments sent again beyond those that were lost.
    needless: u64,
    /// The most bytes outstanding.
    flight: u64,
    ssthresh: u64,
    at: Time,
}

impl Recorder for Transfer {
    fn event(&mut self, _: FlowId, e: &Event) {
        let response = matches!(e.kind, EventKind::RecoveryEntered { .. } | EventKind::TimedOut { .. });
        if e.ssthresh < self.ssthresh || (response && e.at != self.at) {
            self.lowered.push(e.ssthresh);
            self.at = e.at;
        }
        self.ssthresh = e.ssthresh;
        self.flight = self.flight.max(e.snd_nxt - e.snd_una);
    }
}

fn transfer(strategy: &str, path: &Path) -> Transfer {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let plain = LinkConfig::new(a, b, path.rate, path.delay, Queue::DropTail(Limit::Packets(10_000)));
    let listed = LossModel::Listed(path.drops.clone());
    let loss = vec![Loss { model: listed, applies: Applies::Data, flow: None }];
    network.link(LinkConfig { loss, ..plain.clone() });
    network.link(LinkConfig { from: b, to: a, ..plain });
    let strategy = Composition::parse(strategy).expect("a strategy").build();
    let sender = SenderConfig {
        mss: MSS,
        initial_window: path.initial_window,
        initial_ssthresh: path.initial_ssthresh,
        initial_rwnd: 1 << 20,
        events: true,
        ..SenderConfig::default()
    };
    let sack = strategy.uses_sack;
    let receiver = ReceiverConfig { mss: MSS, delayed_ack: DelayedAck::Off, sack, ..ReceiverConfig::default() };
    let flow = network.flow(FlowConfig {
        name: "f".into(),
        from: a,
        to: b,
        ends: Ends::Established { sender: Sender::new(sender, strategy), receiver: Receiver::new(receiver) },
        source: Source::Fixed(path.segments * u64::from(MSS)),
        start: Time::ZERO,
        stop: None,
        mss: MSS,
        header: 0,
        ack_size: 40,
        count_options: false,
    });
    let mut transfer = Transfer { ssthresh: u64::MAX, at: Time::NEVER, ..Transfer::default() };
    network.run(Time(u64::MAX / 2), &mut transfer).expect("a sound network");
    let report = network.flow_report(flow).expect("the flow");
    let needless = report.stats.retransmissions - report.drops;
    Transfer { completed: report.completed.expect("it completes"), needless, ..transfer }
}

impl Path {
    /// The longest round trip of a transfer, its own queue included.
    fn rtt(&self, transfer: &Transfer) -> Span {
        self.delay.times(2) + Span((transfer.flight + 2 * u64::from(MSS)) * 8_000_000_000 / self.rate)
    }
}

/// Whether `x` lowered its windows no less often than `told`, and no less each time.
fn as_low(told: &Transfer, x: &Transfer) -> bool {
    told.lowered.iter().enumerate().all(|(i, ssthresh)| x.lowered.get(i).is_some_and(|other| other <= ssthresh))
}

fn path(drops: impl Strategy<Value = Vec<ListedLoss>>) -> impl Strategy<Value = Path> {
    (
        1..150u64,
        1..=10u32,
        (1..200u64).prop_map(Span::from_millis),
        prop_oneof![Just(1_000_000u64), Just(8_000_000), Just(100_000_000)],
        option::of((2..40u64).prop_map(|segments| segments * u64::from(MSS))),
        drops,
    )
        .prop_map(|(segments, initial_window, delay, rate, initial_ssthresh, drops)| Path {
            segments,
            initial_window,
            delay,
            rate,
            initial_ssthresh,
            drops,
        })
}

fn drop() -> impl Strategy<Value = ListedLoss> {
    let transmission = prop_oneof![6 => Just(1u32), 1 => Just(2), 1 => Just(3)];
    (0..150u64, transmission).prop_map(|(segment, transmission)| ListedLoss { segment, transmission })
}

fn config() -> ProptestConfig {
    let cases = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Knowing it sooner is never worse where one segment is lost, once.
    #[test]
    fn of_a_single_loss(path in path((0..150u64).prop_map(|segment| vec![ListedLoss::first(segment)]))) {
        let told = transfer("oracle", &path);
        prop_assert!(transfer("oracle-drop", &path).completed <= told.completed);
        for strategy in ["sack", "prr", "rack-tlp", "fack"] {
            prop_assert!(told.completed <= transfer(strategy, &path).completed, "{strategy}");
        }
    }

    /// A strategy that completes before the oracle has sent something again that nothing told to be lost, and which was; or
    /// has lowered its windows less, for it took several losses for one, or met them at another window; or its last segments
    /// just fell into a round trip earlier.
    #[test]
    fn of_any_losses(path in path(vec(drop(), 1..12))) {
        let told = transfer("oracle", &path);
        let at_once = transfer("oracle-drop", &path);
        prop_assert_eq!((told.needless, at_once.needless), (0, 0));
        let rtt = path.rtt(&told);
        prop_assert!(at_once.completed <= told.completed + rtt || !as_low(&at_once, &told), "{at_once:?} {told:?}");
        for strategy in ["sack", "newreno", "prr", "rack-tlp", "fack"] {
            let x = transfer(strategy, &path);
            for bound in [&told, &at_once] {
                let holds = bound.completed <= x.completed + rtt;
                prop_assert!(holds || x.needless > 0 || !as_low(bound, &x), "{strategy}: {bound:?} {x:?}");
            }
        }
    }
}
