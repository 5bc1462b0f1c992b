//! What the oracle bounds, and what it does not (`ackclock_tcp`, `recovery/detect/notified.rs`):
//! transfers over a path that drops a list of transmissions and nothing else, with the same window
//! law.

use ackclock_net::{
    Ends, FlowConfig, FlowId, Limit, LinkConfig, ListedLoss, Loss, LossModel, Network, Queue,
    Recorder, Source,
};
use ackclock_tcp::{
    DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Registry, Sender, SenderConfig, Span,
    Time,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

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
    /// Segments retransmitted beyond those that were lost.
    spurious: u64,
    /// The most bytes outstanding.
    flight: u64,
    ssthresh: u64,
    at: Time,
}

impl Recorder for Transfer {
    fn event(&mut self, _: FlowId, e: &Event) {
        let response =
            matches!(e.kind, EventKind::RecoveryEntered { .. } | EventKind::TimedOut { .. });
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
    let link = |from, to| {
        LinkConfig::new(from, to, path.rate, path.delay, Queue::DropTail(Limit::Packets(10_000)))
    };
    let mut lossy = link(a, b);
    lossy.loss.push(Loss::new(LossModel::Listed(path.drops.clone())));
    network.link(lossy);
    network.link(link(b, a));
    let strategy = Registry::default().parse(strategy).expect("a strategy").build();
    let sender = SenderConfig {
        mss: MSS,
        initial_window: Some(path.initial_window),
        initial_ssthresh: path.initial_ssthresh,
        initial_rwnd: 1 << 20,
        events: true,
        ..SenderConfig::default()
    };
    let sack = strategy.uses_sack;
    let receiver = ReceiverConfig {
        mss: MSS,
        delayed_ack: DelayedAck::Off,
        sack,
        ..ReceiverConfig::default()
    };
    let ends = Ends::Established {
        sender: Sender::new(sender, strategy),
        receiver: Receiver::new(receiver),
    };
    let mut flow = FlowConfig::new("f", a, b, ends, MSS);
    flow.source = Source::Fixed(path.segments * u64::from(MSS));
    (flow.header, flow.count_options) = (0, false);
    let flow = network.flow(flow);
    let mut transfer = Transfer { ssthresh: u64::MAX, at: Time::NEVER, ..Transfer::default() };
    network.run(Time(u64::MAX / 2), &mut transfer).expect("a sound network");
    let report = network.flow_report(flow).expect("the flow");
    let spurious = report.stats.retransmissions - report.drops;
    Transfer { completed: report.completed.expect("it completes"), spurious, ..transfer }
}

impl Path {
    /// The longest round trip of a transfer, its own queue included.
    fn rtt(&self, transfer: &Transfer) -> Span {
        self.delay.times(2)
            + Span((transfer.flight + 2 * u64::from(MSS)) * 8_000_000_000 / self.rate)
    }
}

/// Whether `x` lowered its windows no less often than `notified`, and no less each time.
fn as_low(notified: &Transfer, x: &Transfer) -> bool {
    notified
        .lowered
        .iter()
        .enumerate()
        .all(|(i, ssthresh)| x.lowered.get(i).is_some_and(|other| other <= ssthresh))
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
    (0..150u64, transmission)
        .prop_map(|(segment, transmission)| ListedLoss { segment, transmission })
}

fn config() -> ProptestConfig {
    let cases = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Knowing it sooner is never worse where one segment is lost, once.
    #[test]
    fn of_a_single_loss(
        path in path((0..150u64).prop_map(|segment| vec![ListedLoss::first(segment)])),
    ) {
        let notified = transfer("oracle", &path);
        prop_assert!(transfer("oracle-drop", &path).completed <= notified.completed);
        for strategy in ["sack", "prr", "rack-tlp", "fack"] {
            prop_assert!(notified.completed <= transfer(strategy, &path).completed, "{strategy}");
        }
    }

    /// A strategy may complete before the oracle for one of three reasons. It retransmitted a
    /// segment that was lost before any notice said so. It lowered its windows less: it took
    /// several losses for one, or met them at another window. Or its last segments happened to go
    /// out a round trip earlier.
    #[test]
    fn of_any_losses(path in path(vec(drop(), 1..12))) {
        let notified = transfer("oracle", &path);
        let at_once = transfer("oracle-drop", &path);
        prop_assert_eq!((notified.spurious, at_once.spurious), (0, 0));
        let rtt = path.rtt(&notified);
        let holds = at_once.completed <= notified.completed + rtt;
        prop_assert!(holds || !as_low(&at_once, &notified), "{at_once:?} {notified:?}");
        for strategy in ["sack", "newreno", "prr", "rack-tlp", "fack"] {
            let x = transfer(strategy, &path);
            for bound in [&notified, &at_once] {
                let holds = bound.completed <= x.completed + rtt;
                let excused = x.spurious > 0 || !as_low(bound, &x);
                prop_assert!(holds || excused, "{strategy}: {bound:?} {x:?}");
            }
        }
    }
}

/// A strategy completes before an oracle in one of a hundred transfers at most, and an oracle
/// retransmits nothing without need. The numbers in `recovery/detect/notified.rs` are printed by
/// `N=20000 cargo test -p ackclock-net --test all oracle::others -- --nocapture`.
#[test]
fn others_rarely_complete_first() {
    let mut runner = TestRunner::deterministic();
    let paths = path(vec(drop(), 1..12));
    let strategies = ["sack", "newreno", "prr", "rack-tlp", "fack"];
    let mut first = [[0; 2]; 5];
    let (mut spurious, mut later) = (0, 0);
    for _ in 0..config().cases {
        let path = paths.new_tree(&mut runner).unwrap().current();
        let bounds = ["oracle", "oracle-drop"].map(|oracle| transfer(oracle, &path));
        spurious += bounds.iter().filter(|bound| bound.spurious > 0).count();
        later += usize::from(bounds[1].completed > bounds[0].completed);
        for (strategy, first) in strategies.iter().zip(&mut first) {
            let x = transfer(strategy, &path);
            for (bound, first) in bounds.iter().zip(first) {
                *first += u32::from(x.completed < bound.completed);
            }
        }
    }
    println!("transfers {}, before `oracle` and `oracle-drop`:", config().cases);
    strategies.iter().zip(&first).for_each(|(strategy, first)| println!("{strategy} {first:?}"));
    println!("oracle-drop after oracle: {later}");
    assert!(first.iter().flatten().all(|&n| n <= config().cases / 100), "{first:?}");
    assert_eq!(spurious, 0);
}
