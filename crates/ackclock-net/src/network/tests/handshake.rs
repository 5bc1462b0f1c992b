//! Connections that open and close, to the microsecond: a byte takes 1 us to be sent, 40 of them
//! stand for a segment without data, and each way takes 10 ms.

use ackclock_tcp::Registry;
use ackclock_tcp::Seq;
use ackclock_tcp::connection::ConnectionConfig;
use ackclock_tcp::wire::Control;

use super::*;
use crate::config::Endpoint;

/// What the sender's host sees, in microseconds: `>` leaves it, `<` reaches it.
#[derive(Default)]
struct Wire(Vec<String>);

impl Recorder for Wire {
    fn wants_events(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, _: &Event) {}

    fn packet(&mut self, _: FlowId, place: Place, seen: &Sighting) {
        let Sighting { at, to_receiver, header, len, sent, .. } = *seen;
        if place != Place::Sender {
            return;
        }
        let has = |control| header.control.contains(control);
        let way = if to_receiver { ">" } else { "<" };
        let mut line = format!("{} {way}", at.0 / 1000);
        for (control, name) in
            [(Control::SYN, " syn"), (Control::RST, " rst"), (Control::FIN, " fin")]
        {
            line += if has(control) { name } else { "" };
        }
        if len > 0 || has(Control::FIN) || has(Control::SYN) {
            line += &format!(" {}+{len}", header.seq.0);
        }
        if has(Control::ACK) {
            line += &format!(" ack {}", header.ack.0);
        }
        if let Some(Sending { cause, transmission }) = sent.filter(|s| s.transmission > 1) {
            line += &format!(" {} {transmission}", cause.name());
        }
        self.0.push(line);
    }
}

fn config(receiver: ReceiverConfig) -> ConnectionConfig {
    ConnectionConfig {
        iss: Seq(0),
        local_mss: 1000,
        path_mss: 1000,
        wide_path_mss: None,
        least_path_mss: None,
        sack: true,
        timestamps: false,
        ecn: false,
        wscale: Some(4),
        sender: SenderConfig { initial_window: Some(10), events: true, ..SenderConfig::default() },
        receiver,
        syn_retries: 6,
        keep_alive: None,
        user_timeout: None,
        time_wait: Span::from_secs(60),
        fin_wait_2: Span::from_secs(60),
    }
}

/// A flow from its SYN to its last FIN.
pub(super) fn with_handshake(a: NodeId, b: NodeId, strategy: &str, source: Source) -> FlowConfig {
    let strategy = || Registry::default().parse(strategy).expect("a strategy").build();
    let config =
        config(ReceiverConfig { delayed_ack: DelayedAck::Off, ..ReceiverConfig::default() });
    let server = ConnectionConfig { iss: Seq(100_000), ..config.clone() };
    let end = |config| Box::new(Endpoint { config, strategy: strategy() });
    let ends = Ends::Handshake { client: end(config), server: end(server) };
    FlowConfig { ends, source, ..tcp("f", a, b, "newreno") }
}

/// Loses everything on its way during this time, in microseconds.
fn outage(from: u64, to: u64) -> Vec<Loss> {
    let model = LossModel::ThreeState {
        second_at: Time(from * 1000),
        second_for: Span((to - from) * 1000),
        second_loss: 1.0,
        third_for: Span::ZERO,
        third_loss: 0.0,
        lose_fast_retransmission: false,
        repeat: false,
    };
    vec![Loss { model, applies: Applies::Both, flow: None }]
}

/// A transfer of this size over a way there and a way back of 10 ms.
fn network(
    there: LinkConfig,
    back: LinkConfig,
    flow: impl FnOnce(NodeId, NodeId) -> FlowConfig,
) -> (Network, FlowId) {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { from: a, to: b, ..there });
    network.link(LinkConfig { from: b, to: a, ..back });
    let flow = network.flow(flow(a, b));
    (network, flow)
}

fn plain() -> LinkConfig {
    link(NodeId(0), NodeId(1), 10)
}

/// What the sender's host sees of a transfer of three segments, when it completes, and how often
/// its SYN's timer expired.
fn three_and_syns(there: LinkConfig, back: LinkConfig) -> (Vec<String>, u64, u32) {
    let (mut network, flow) =
        network(there, back, |a, b| with_handshake(a, b, "newreno", Source::Fixed(3_000)));
    let mut wire = Wire::default();
    network.run(Time(120_000 * MS), &mut wire).expect("a sound network");
    let report = network.flow_report(flow).expect("the flow");
    assert_eq!(report.bytes_acked, 3_000);
    (wire.0, report.completed.expect("it completes").0 / 1000, report.syn_timeouts)
}

fn three(there: LinkConfig, back: LinkConfig) -> (Vec<String>, u64) {
    let (wire, completed, syn_timeouts) = three_and_syns(there, back);
    assert_eq!(syn_timeouts, 0);
    (wire, completed)
}

/// The handshake is over after one round trip, its last ACK is that of the first segment. FIN
/// follows the data in a segment of its own, whose ACK is that of the peer. In all three round
/// trips, and completed when the data is acknowledged.
#[test]
fn three_segments_from_syn_to_fin() {
    let (wire, completed) = three(plain(), plain());
    let expected = [
        "0 > syn 0+0",
        "20080 < syn 100000+0 ack 1",
        "20080 > 1+1000 ack 100001",
        "20080 > 1001+1000 ack 100001",
        "20080 > 2001+1000 ack 100001",
        "20080 > fin 3001+0 ack 100001",
        "41120 < ack 1001",
        "42120 < ack 2001",
        "43120 < ack 3001",
        "43160 < fin 100001+0 ack 3002",
        "43160 > ack 100002",
    ];
    assert_eq!(wire, expected);
    assert_eq!(completed, 43_120);
}

/// RFC 6298 section 2.1: it goes out again after 1 s. RFC 6928 section 2: the window is the initial
/// one all the same.
#[test]
fn a_syn_or_its_answer_is_lost() {
    let expected = [
        "0 > syn 0+0",
        "1000000 > syn 0+0",
        "1020080 < syn 100000+0 ack 1",
        "1020080 > 1+1000 ack 100001",
        "1020080 > 1001+1000 ack 100001",
        "1020080 > 2001+1000 ack 100001",
        "1020080 > fin 3001+0 ack 100001",
        "1041120 < ack 1001",
        "1042120 < ack 2001",
        "1043120 < ack 3001",
        "1043160 < fin 100001+0 ack 3002",
        "1043160 > ack 100002",
    ];
    for lost in [[outage(0, 1), Vec::new()], [Vec::new(), outage(10_000, 11_000)]] {
        let [there, back] = lost.map(|loss| LinkConfig { loss, ..plain() });
        let (wire, completed, syn_timeouts) = three_and_syns(there, back);
        assert_eq!(wire, expected);
        assert_eq!((completed, syn_timeouts), (1_043_120, 1));
    }
}

/// Six times, by 1 s, 2 s, 4 s, ...: then there is no connection.
#[test]
fn nobody_answers() {
    let dead = LinkConfig { loss: outage(0, 1_000_000_000), ..plain() };
    let (mut network, flow) =
        network(dead, plain(), |a, b| with_handshake(a, b, "newreno", Source::Fixed(3_000)));
    let mut wire = Wire::default();
    network.run(Time(1_000_000 * MS), &mut wire).expect("a sound network");
    let seconds = [0, 1, 3, 7, 15, 31, 63];
    assert_eq!(wire.0, seconds.map(|s| format!("{} > syn 0+0", s * 1_000_000)));
    let report = network.flow_report(flow).expect("the flow");
    assert_eq!((report.completed, report.drops, report.stats), (None, 7, Stats::default()));
    assert_eq!(report.syn_timeouts, 6);
}

/// The client's FIN finds no room in the queue, or the server's is lost: either is retransmitted
/// upon its timer, that of the server being acknowledged in TIME-WAIT. Completion does not wait for
/// it.
#[test]
fn a_fin_is_lost() {
    let acks = ["41120 < ack 1001", "42120 < ack 2001", "43120 < ack 3001"];
    let (wire, completed) = three(LinkConfig { queue: drop_tail(3), ..plain() }, plain());
    let end = [
        "1043120 > fin 3001+0 ack 100001 timeout 2",
        "1063200 < fin 100001+0 ack 3002",
        "1063200 > ack 100002",
    ];
    assert_eq!(wire[6..], [&acks[..], &end[..]].concat());
    assert_eq!(completed, 43_120);
    let (wire, completed) = three(plain(), LinkConfig { loss: outage(33_120, 33_121), ..plain() });
    let end = [
        "1043120 > fin 3001+0 ack 100001 timeout 2",
        "1043160 < fin 100001+0 ack 3002",
        "1043160 > ack 100002",
        "1063200 < ack 3002",
    ];
    assert_eq!(wire[6..], [&acks[..], &end[..]].concat());
    assert_eq!(completed, 43_120);
}

/// Of each segment of data: time since the first, sequence number, bytes and why it was sent.
fn data(log: &Log, bytes: u32) -> Vec<(u64, u32, u32, Sending)> {
    let sent = log.packets.iter().filter(|p| p.2 && p.3.len > 0 && p.3.seq.0 < bytes);
    let first = sent.clone().next().expect("data").1;
    sent.map(|&(_, at, _, segment, sent)| {
        (at.since(first).0, segment.seq.0, segment.len, sent.expect("data has a cause"))
    })
    .collect()
}

/// What differs from an established connection is when it begins, one round trip later, as long as
/// no timer expires: the first timeouts, of 1 s at least either way, are what the handshake's
/// sample changes, and the window of the SYN/ACK is one of 65,535 bytes at most, which an initial
/// window of 14,600 bytes does not notice.
#[test]
fn a_long_transfer_is_that_of_an_established_connection_a_round_trip_later() {
    for strategy in ["newreno", "sack", "prr", "net-reno"] {
        let lossy = || {
            let listed = [20, 21, 90, 400, 401, 405].map(ListedLoss::first).to_vec();
            let loss =
                vec![Loss { model: LossModel::Listed(listed), applies: Applies::Data, flow: None }];
            LinkConfig { loss, queue: drop_tail(30), ..plain() }
        };
        let run = |flow: &dyn Fn(NodeId, NodeId) -> FlowConfig| {
            let (mut network, flow) = network(lossy(), plain(), flow);
            let log = run(&mut network, 60_000);
            (log, network.flow_report(flow).expect("the flow"))
        };
        let (log, report) = run(&|a, b| with_handshake(a, b, strategy, Source::Fixed(600_000)));
        let (log_without, without) = run(&|a, b| {
            let composition = Registry::default().parse(strategy).expect("a strategy").build();
            let sack = composition.uses_sack;
            let Ends::Handshake { client, .. } = with_handshake(a, b, strategy, Source::Bulk).ends
            else {
                unreachable!()
            };
            let (config, receiver) = (client.config.sender, client.config.receiver);
            let config =
                SenderConfig { isn: Seq(1), mss: 1000, wscale: 4, initial_rwnd: 65_535, ..config };
            let receiver = ReceiverConfig { isn: Seq(1), mss: 1000, wscale: 4, sack, ..receiver };
            let ends = Ends::Established {
                sender: Sender::new(config, composition),
                receiver: Receiver::new(receiver),
            };
            FlowConfig { ends, source: Source::Fixed(600_000), ..tcp("f", a, b, strategy) }
        });
        assert_eq!(data(&log, 600_001), data(&log_without, 600_001), "{strategy}");
        assert!(without.stats.retransmissions >= 6 && without.stats.timeouts == 0, "{strategy}");
        let completed = |report: &FlowReport| report.completed.expect("it completes").0;
        assert_eq!(completed(&report), completed(&without) + 20_080_000, "{strategy}");
        // The FIN is a segment of its own, and a byte.
        assert_eq!(report.stats.segments_sent, without.stats.segments_sent + 1, "{strategy}");
        assert_eq!(report.stats.bytes_sent, without.stats.bytes_sent + 1, "{strategy}");
        assert_eq!((report.drops, report.bytes_acked), (without.drops, 600_000), "{strategy}");
        assert_eq!(report.spurious_retransmissions, without.spurious_retransmissions, "{strategy}");
    }
}

/// The Web's user waits for the handshake once; the next response goes out at once.
#[test]
fn responses_over_one_connection() {
    let size = Distribution { law: Law::Fixed(1000), max: None };
    let web = Web { responses: 2.0, exactly: true, size, think: Span::ZERO };
    let (mut network, flow) =
        network(plain(), plain(), |a, b| with_handshake(a, b, "newreno", Source::Web(web)));
    let log = run(&mut network, 1_000);
    assert_eq!(log.arrivals(), [(0, 0, 31_080), (0, 1000, 52_120), (0, 2000, 52_160)]);
    assert_eq!(network.flow_report(flow).and_then(|f| f.completed), Some(Time(62_160_000)));
}

/// What a stopped flow has not sent it never sends, and what arrives for it is nobody's.
#[test]
fn a_stopped_flow_is_silent() {
    let stop = Some(Time(30 * MS));
    let (mut network, flow) = network(plain(), plain(), |a, b| FlowConfig {
        stop,
        ..with_handshake(a, b, "newreno", Source::Bulk)
    });
    let log = run(&mut network, 10_000);
    assert_eq!(log.packets.iter().map(|p| p.1).max(), Some(Time(20_080_000)));
    let report = network.flow_report(flow).expect("the flow");
    assert_eq!((report.stats.segments_sent, report.arrived, report.bytes_acked), (10, 10, 0));
}

/// Whatever the network does to SYN, data and FIN, everything arrives; the same with a recorder as
/// without one; and a flow beside it that begins established uses lookahead all the same.
#[test]
fn everything_arrives() {
    for seed in 0..40 {
        let results = [true, false].map(|recorded| {
            let mut network = Network::new(seed);
            let (a, b) = (network.node("a"), network.node("b"));
            let lossy = |from, to| {
                let loss = vec![Loss {
                    model: LossModel::Bernoulli(0.1),
                    applies: Applies::Both,
                    flow: None,
                }];
                let late = Reorder {
                    probability: 0.1,
                    segments: Vec::new(),
                    extra_delay: Span::from_millis(7),
                };
                LinkConfig { loss, duplicate: 0.1, reorder: Some(late), ..link(from, to, 10) }
            };
            network.link(lossy(a, b));
            network.link(lossy(b, a));
            let flows = [
                network.flow(with_handshake(a, b, "rack-tlp", Source::Fixed(30_000))),
                network
                    .flow(FlowConfig { source: Source::Fixed(30_000), ..tcp("g", a, b, "sack") }),
                network.flow(FlowConfig {
                    name: "h".into(),
                    ..with_handshake(a, b, "newreno", Source::Fixed(1))
                }),
            ];
            let until = Time(600_000 * MS);
            if recorded {
                network.run(until, &mut Log::default())
            } else {
                network.run(until, &mut ())
            }
            .expect("a sound network");
            flows.map(|flow| network.flow_report(flow).expect("the flow"))
        });
        for report in &results[0] {
            assert!(report.completed.is_some(), "seed {seed}: {report:?}");
        }
        assert_eq!(results[0], results[1], "seed {seed}");
    }
}
