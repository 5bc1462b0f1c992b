//! The connection whose window meets every fate.

use std::sync::LazyLock;

use ackclock_net::Rng;
use ackclock_net::scenario::units::{Amount, Duration, Rate, Size};
use ackclock_net::scenario::{
    self, DelayedAck as ScenarioAck, Flow, Link, Scenario, Source, Write,
};
use ackclock_tcp::{
    Composition, DelayedAck, Receiver, ReceiverConfig, Registry, Sender, SenderConfig, Seq, Span,
    Time,
};

use crate::schedule::{Schedule, Spike};

/// The first segment of the window: so many came before it.
pub const FIRST: u64 = 20;
/// Payload bytes of a segment, unless a test takes others.
pub const MSS: u32 = 1000;
/// The round trip of a segment over the idle path.
pub const RTT: Span = Span::from_millis(100);
/// What the transmitter takes for a segment; an ACK takes it no time.
pub(crate) const TRANSMISSION: Span = Span::from_millis(1);
/// One way, without the transmission.
pub(crate) const DELAY: Span = Span::from_micros(49_500);
/// The lower bound of the timeout.
const MIN_RTO: Span = Span::from_secs(1);
/// A connection that is not done by then is taken for one that never completes: the backed-off
/// timeouts of two lost transmissions of one segment come to 3 s.
pub const LIMIT: Span = Span::from_secs(120);
/// The receiver's buffer, which never binds, and the shift that covers it.
const RWND: u64 = 1 << 20;
const WSCALE: u8 = 5;

/// The phase of coarse timers and of Linux's jiffies, as the flow of the scenario draws it.
static TICK_PHASE: LazyLock<Span> =
    LazyLock::new(|| Rng::new(SEED, "scenario/tick/flow0").up_to(Span::from_millis(500)));
/// Nothing else is drawn.
const SEED: u64 = 1;

/// A connection over one path: 20 segments, a pause in which all of them are acknowledged, and then
/// what its window holds, at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The window in segments, which cwnd is bounded by.
    pub window: u32,
    /// Segments written with those of the window, to go after them.
    pub following: u32,
    /// Payload bytes of a segment.
    pub mss: u32,
}

impl Connection {
    /// The window as the end of the transfer.
    pub fn tail(window: u32) -> Connection {
        Connection { window, following: 0, mss: MSS }
    }

    /// The window, and three more of new data behind it.
    pub fn followed(window: u32) -> Connection {
        Connection { following: 3 * window, ..Connection::tail(window) }
    }

    /// Segments of the whole transfer.
    pub fn segments(self) -> u64 {
        FIRST + u64::from(self.window) + u64::from(self.following)
    }

    /// RFC 6928 allows ten.
    fn initial_window(self) -> u32 {
        self.window.min(10)
    }

    /// When the window is written. All before it are acknowledged: a round trip has less than 110
    /// ms.
    pub fn written_at(self) -> Time {
        let rounds = FIRST.div_ceil(u64::from(self.initial_window()));
        Time::ZERO + Span::from_millis(110 * rounds + 80)
    }

    fn bytes(self, segments: u64) -> u64 {
        segments * u64::from(self.mss)
    }

    /// Bits in a second, so that a segment takes [`TRANSMISSION`].
    fn rate(self) -> Rate {
        Rate(8 * u64::from(self.mss) * 1_000_000_000 / TRANSMISSION.0)
    }

    /// The two ends. The receiver echoes timestamps out of order where marks need that (Lin & Kung
    /// section 6.3).
    pub(crate) fn ends(self, composition: &Composition, events: bool) -> (Sender, Receiver) {
        let strategy = composition.build();
        let sack = strategy.uses_sack;
        let sender = SenderConfig {
            isn: Seq(1),
            remote_seq: Seq(1),
            mss: self.mss,
            initial_window: Some(self.initial_window()),
            initial_rwnd: RWND,
            max_cwnd: Some(self.bytes(self.window.into())),
            wscale: WSCALE,
            sack,
            timestamps: true,
            handshake_rtt: Some(DELAY.times(2)),
            min_rto: Some(MIN_RTO),
            tick_phase: *TICK_PHASE,
            events,
            ..SenderConfig::default()
        };
        let receiver = ReceiverConfig {
            ecn: false,
            dctcp_echo: false,
            isn: Seq(1),
            local_seq: Seq(1),
            mss: self.mss,
            delayed_ack: DelayedAck::Off,
            ack_every: 2,
            sack,
            dsack: sack,
            timestamps: true,
            echo_out_of_order: echoes_out_of_order(composition),
            buffer: RWND,
            wscale: WSCALE,
            auto_read: true,
        };
        (Sender::new(sender, strategy), Receiver::new(receiver))
    }

    /// What the application writes, and when.
    pub(crate) fn writes(self) -> [(Time, u64); 2] {
        [(Time::ZERO, self.bytes(FIRST)), (self.written_at(), self.bytes(self.segments() - FIRST))]
    }

    /// The same connection as a scenario of `strategy`, for the general simulator.
    pub fn scenario(self, strategy: &str, registry: &Registry, schedule: &Schedule) -> Scenario {
        let mut scenario = Scenario::new(Duration(LIMIT));
        scenario.seed = SEED;
        let tcp = &mut scenario.tcp;
        tcp.mss = Some(Size(self.mss.into()));
        tcp.initial_window = Some(self.initial_window());
        tcp.max_cwnd = Some(Amount::Segments(self.window.into()));
        tcp.rwnd = Some(Amount::Bytes(RWND));
        tcp.delayed_ack = Some(ScenarioAck::Off);
        tcp.timestamps = Some(true);
        tcp.min_rto = Some(Duration(MIN_RTO));
        (tcp.header, tcp.ack_size, tcp.count_options) = (Some(0), Some(0), Some(false));
        if registry.parse(strategy).is_ok_and(|c| echoes_out_of_order(&c)) {
            tcp.echo_out_of_order = Some(true);
        }
        let mut link = Link::new("sender", "receiver", self.rate(), Duration(DELAY));
        link.fates = fates(schedule);
        link.spikes = schedule.spikes().iter().map(spike).collect();
        scenario.links.push(link);
        let mut flow = Flow::new("sender", "receiver");
        flow.strategy = Some(strategy.into());
        let segments = |at: Time, bytes: u64| Write {
            at: Duration(at.since(Time::ZERO)),
            amount: Amount::Segments(bytes / u64::from(self.mss)),
        };
        flow.source = Source::Writes(self.writes().map(|(at, n)| segments(at, n)).to_vec());
        scenario.flows.push(flow);
        scenario
    }
}

fn echoes_out_of_order(composition: &Composition) -> bool {
    composition.mechanisms().iter().any(|m| m.name == "marks-ts")
}

fn spike(spike: &Spike) -> scenario::Spike {
    let Spike { at, lasts, delay } = *spike;
    scenario::Spike {
        at: Duration(at.since(Time::ZERO)),
        lasts: Duration(lasts),
        delay: Duration(delay),
    }
}

fn fates(schedule: &Schedule) -> Vec<scenario::Fate> {
    let of_segment = |segment, transmission: u32| {
        let mut fate = scenario::Fate::default();
        fate.segment = Some(segment);
        fate.transmission = (transmission > 1).then_some(transmission);
        fate
    };
    let of_ack = |number| {
        let mut fate = scenario::Fate::default();
        fate.ack = Some(number);
        fate
    };
    let losing = |mut fate: scenario::Fate| {
        fate.lose = true;
        fate
    };
    let late = |mut fate: scenario::Fate, by| {
        fate.late = Some(Duration(by));
        fate
    };
    let lost = schedule.losses().map(|(s, t)| losing(of_segment(s, t)));
    let delayed = schedule.late().iter().map(|&(s, t, by)| late(of_segment(s, t), by));
    let lost_acks = schedule.lost_acks().iter().map(|&n| losing(of_ack(n)));
    let delayed_acks = schedule.late_acks().iter().map(|&(n, by)| late(of_ack(n), by));
    lost.chain(delayed).chain(lost_acks).chain(delayed_acks).collect()
}
