use ackclock_tcp::wire::Options;
use ackclock_tcp::{SackBlocks, Seq, Time, TimeoutClass};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{
    Connection, Lifetime, LossCause, Losses, Position, Recovery, Reset, ResetBy, Spurious, Stall,
    State, Timeout, Vantage,
};

mod shorter;
mod waits;

use super::*;
use crate::explained::Saved;
use crate::fixture;
use crate::replay::Rescue;

fn ms(t: u64) -> Time {
    Time(1_000_000_000_000 + t * 1_000_000)
}

fn span(t: u64) -> Span {
    Span::from_millis(t)
}

fn syn(sack_permitted: bool) -> Option<Options> {
    let sack = SackBlocks::NONE;
    Some(Options { mss: None, wscale: Some(7), sack_permitted, timestamps: None, sack })
}

/// A connection of four seconds, in which the server sends.
fn connection(from_server: Flow) -> Found {
    let position = Position {
        vantage: Vantage::Server,
        confidence: 1.0,
        to_client: None,
        to_server: None,
        lost_before: [false; 2],
    };
    let connection = Connection {
        number: 0,
        client: "192.0.2.1:40000".parse().unwrap(),
        server: "192.0.2.2:80".parse().unwrap(),
        start: ms(0),
        end: ms(4000),
        packets: 9,
        copies: 0,
        copies_after: Span::ZERO,
        begun: true,
        opened: true,
        one_way: false,
        deferred: 0,
        greeted: false,
        unanswered: false,
        whole_seconds: false,
        no_answer: None,
        ended: Ended::Fin,
        position,
        numbers: [None; 2],
        from_client: Flow { offered: syn(true), ..Flow::default() },
        from_server,
    };
    let (connection, saved) = (Box::new(connection), Vec::new());
    let (set_ahead, got_through) = Default::default();
    Found { number: 0, capture: 0, same_as: None, connection, set_ahead, saved, got_through }
}

fn again(at: u64, position: u64, kind: Kind) -> Retransmission {
    Retransmission {
        seq: Seq(position as u32),
        position,
        len: 1000,
        ..fixture::again(ms(at), kind)
    }
}

/// A server whose recovery takes two of four seconds.
fn lossy(retransmissions: Vec<Retransmission>) -> Flow {
    let offered = syn(true);
    let mut flow = Flow { offered, bytes: 9000, mss: 1448, retransmissions, ..Flow::default() };
    flow.lifetime.add(Limit::Path, span(2000));
    flow.lifetime.add(Limit::Recovery, span(2000));
    flow
}

fn lines(found: Found) -> Vec<String> {
    of(&Explained { connections: vec![found], ..Explained::default() })
}

/// Nothing moves for a time, without a timer, and then goes on. What is repaired took the rest.
#[test]
fn acknowledgments_that_come_late() {
    let late = |cause: StallCause, end: u64| {
        let mut flow = lossy(vec![again(2100, 1000, Kind::FastRetransmit)]);
        flow.stalls = vec![fixture::stall(ms(100), ms(end), cause)];
        lines(connection(flow))
    };
    let line = "192.0.2.2 to 192.0.2.1: acknowledgments come late; look for delay spikes and lost \
        acknowledgments";
    let lost = LOST.replace(" (recovery: 2.0 s)", "");
    let [first, second] = [(line, "1.5 s"), (&lost, "0.50 s")]
        .map(|(line, took)| format!("{line} (recovery: {took})"));
    assert_eq!(late(StallCause::Network, 1600), [first, second]);
    // A tenth of the time, which the other did not take.
    assert_eq!(late(StallCause::Network, 499), [LOST]);
    assert_eq!(late(StallCause::Network, 1701), [format!("{line} (recovery: 1.6 s)")]);
    assert_eq!(late(StallCause::Recovery, 2000), [LOST]);
}

/// On the receiver's host, what passes has arrived: who acknowledges it late is the receiver,
/// unless timestamps measure the way there as well, or something came meanwhile.
#[test]
fn a_receiver_that_acknowledges_late() {
    let all = |vantage, near: Option<u64>, timestamps, newest: u64| {
        let mut flow = lossy(vec![again(2100, 1000, Kind::FastRetransmit)]);
        let stall = fixture::stall(ms(101), ms(1701), StallCause::Network);
        flow.stalls = vec![Stall { newest: ms(newest), ..stall }];
        flow.timestamps = timestamps;
        let mut found = connection(flow);
        let position = &mut found.connection.position;
        (position.vantage, position.to_client) = (vantage, near.map(Span::from_micros));
        position.to_server = Some(span(50));
        let stall = &found.connection.from_server.stalls[0];
        let text = crate::text::stall(&found, End::Server, stall);
        (text.split(": ").last().unwrap().to_owned(), lines(found).remove(0))
    };
    let path = "192.0.2.2 to 192.0.2.1: acknowledgments come late; look for delay spikes and lost \
        acknowledgments (recovery: 1.6 s)";
    let path = ("acknowledgments came late".to_owned(), path.to_owned());
    let own = "192.0.2.1: it acknowledges late; the network does not (recovery: 1.6 s)";
    let own = ("the client acknowledged late".to_owned(), own.to_owned());
    let late = |vantage, timestamps| all(vantage, Some(100), timestamps, 101);
    assert_eq!(late(Vantage::Client, false), own);
    assert_eq!(late(Vantage::Client, true), path);
    assert_eq!(late(Vantage::Middle, false), path);
    assert_eq!(late(Vantage::Server, false), path);
    // A router near the client is not its host.
    for near in [Some(101), None] {
        assert_eq!(all(Vantage::Client, near, false, 101), path);
    }
    // Its ACK is at the server 50 ms later. What came last waited for half of the time, or it ended
    // a silence.
    let came = |newest| all(Vantage::Client, Some(100), false, newest);
    assert_eq!([850, 851, 1701].map(came), [own, path.clone(), path]);
}

/// The receiver gets the advice if it took most of the time in which ACKs came late: what ended a
/// silence, or came with data that had been lost, it did not hold back.
#[test]
fn a_receiver_and_a_path_that_are_late() {
    let advised = |held_back: u64, lost: bool| {
        let mut flow = lossy(vec![again(3100, 1000, Kind::FastRetransmit)]);
        let stall = |start, end| fixture::stall(ms(start), ms(end), StallCause::Network);
        let held_back = Stall { newest: ms(1000 + held_back), ..stall(1000, 1000 + held_back) };
        flow.stalls = vec![Stall { frame: 7, ..stall(100, 900) }, held_back];
        let mut found = connection(flow);
        let position = &mut found.connection.position;
        (position.vantage, position.to_client) = (Vantage::Client, Some(Span::from_micros(50)));
        let repaired = Stall { frame: 7, ..fixture::stall(ms(100), ms(900), StallCause::Recovery) };
        found.connection.from_client.stalls = if lost { vec![repaired] } else { vec![] };
        lines(found).into_iter().any(|line| line.starts_with("192.0.2.1: it acknowledges late"))
    };
    assert_eq!([799, 800].map(|held_back| advised(held_back, false)), [true, false]);
    assert!(!advised(799, true));
}

/// Most of the time no timer was waited for, though one expired.
#[test]
fn one_timer_and_much_that_came_late() {
    let mut found = without_probes();
    let flow = &mut found.connection.from_server;
    flow.timeouts[0].spurious = Some(Spurious::Dsack);
    flow.retransmissions[0].spurious = Some(Spurious::Dsack);
    flow.retransmissions.push(again(2100, 1000, Kind::FastRetransmit));
    let of = |start, end, cause, timeout| {
        let (start, end) = (ms(start), ms(end));
        Stall { timeout, ..fixture::stall(start, end, cause) }
    };
    let expired = StallCause::Timeout(TimeoutClass::NonTrigger);
    flow.stalls = vec![of(0, 800, expired, Some(0)), of(1000, 1900, StallCause::Network, None)];
    let line = "192.0.2.2 to 192.0.2.1: acknowledgments come late; look for delay spikes and lost \
        acknowledgments (recovery: 1.7 s)";
    assert_eq!(lines(found), [line]);
}

/// A policer is named beside that with what is left of the time, however little.
#[test]
fn no_time_is_told_twice() {
    let mut flow = lossy(vec![again(2100, 1000, Kind::FastRetransmit)]);
    let (start, end, cause) = (ms(100), ms(1800), StallCause::Network);
    flow.stalls = vec![fixture::stall(start, end, cause)];
    flow.losses.cause = Some(LossCause::Policer { rate_bps: 5e6, burst: None });
    assert_eq!(
        lines(connection(flow)),
        [
            "192.0.2.2 to 192.0.2.1: acknowledgments come late; look for delay spikes and lost \
             acknowledgments (recovery: 1.7 s)",
            "192.0.2.2 to 192.0.2.1: a policer drops what exceeds 5.0 Mbit/s; shape or pace below \
             that rate, or raise its burst (recovery: 0.30 s)",
        ]
    );
}

/// Where the cause of the losses is known, the advice names it.
#[test]
fn why_packets_are_lost() {
    let mut flow = lossy(vec![again(1000, 1000, Kind::FastRetransmit)]);
    assert_eq!(lines(connection(flow.clone())), [LOST]);
    flow.losses.cause = Some(LossCause::Policer { rate_bps: 5e6, burst: None });
    assert_eq!(
        lines(connection(flow)),
        ["192.0.2.2 to 192.0.2.1: a policer drops what exceeds 5.0 Mbit/s; shape or pace below \
             that rate, or raise its burst (recovery: 2.0 s)"]
    );
}

/// Of a full segment that is sent three times again in vain nobody knows more.
#[test]
fn full_segments_that_never_arrive() {
    let line = "192.0.2.2 to 192.0.2.1: the handshake passed, and no full segment did; see whether \
        packets are too long for the path (ping -M do -s 1472) (recovery: 2.0 s)";
    let timeouts = |n: u64, mss: u32| {
        let again = |n| {
            let lost = (n < 2).then_some(true);
            Retransmission { lost, ..again(1000 + n, 0, Kind::BackedOffTimeout) }
        };
        let mut flow = lossy((0..n).map(again).collect());
        flow.mss = mss;
        flow
    };
    assert_eq!(lines(connection(timeouts(3, 1000))), [line]);
    assert_eq!(lines(connection(timeouts(2, 1000))), [LOST]);
    assert_eq!(lines(connection(timeouts(3, 1448))), [LOST]);
    let span = span(50);
    let rtt = fixture::round_trip(span, 9);
    let acknowledged = Flow { rtt: Some(rtt), ..timeouts(3, 1000) };
    assert_eq!(lines(connection(acknowledged)), [LOST]);
    // The last one arrived.
    let mut repaired = timeouts(3, 1000);
    repaired.retransmissions[2].lost = Some(false);
    assert_eq!(lines(connection(repaired)), [LOST]);
    // What came back is not in the capture.
    let mut found = connection(timeouts(3, 1000));
    found.connection.one_way = true;
    assert_eq!(lines(found), [LOST]);
}

/// Of two seconds of recovery the bottleneck was busy in four fifths or more: a sender that keeps
/// its rate through losses, as BBR does, is told nothing of them.
#[test]
fn a_rate_that_is_kept_through_losses() {
    for (kept, expected) in [(1599, vec![LOST]), (1600, vec![])] {
        let mut flow = lossy(vec![again(1000, 0, Kind::FastRetransmit)]);
        flow.lifetime.add_kept(span(kept));
        assert_eq!(lines(connection(flow)), expected, "{kept}");
    }
}

/// The client's first segment went out three times before an ACK. Elsewhere than at the server, the
/// way may be to blame; in vain are also full segments that are too long for it.
#[test]
fn first_data_that_was_not_acknowledged() {
    let came = "192.0.2.2: data came that it did not acknowledge; see its listen queue \
        (Linux: net.core.somaxconn, nstat TcpExtListenOverflows) and its firewall (recovery: 2.0 \
        s)";
    let unheard = "192.0.2.1 to 192.0.2.2: the first data was not acknowledged; see the listen \
        queue of 192.0.2.2 (Linux: net.core.somaxconn, nstat TcpExtListenOverflows), its firewall, \
        and the way to it (recovery: 2.0 s)";
    let third = Retransmission { transmission: 3, ..again(1200, 0, Kind::BackedOffTimeout) };
    let again = [again(400, 0, Kind::Timeout), third, again(1300, 1000, Kind::SlowStart)];
    let of = |vantage, again: &[Retransmission], until: u64| {
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let stall = fixture::stall(ms(100), ms(until), cause);
        let mut found = connection(Flow::default());
        let offered = found.connection.from_client.offered;
        found.connection.from_client =
            Flow { offered, stalls: vec![stall], ..lossy(again.to_vec()) };
        found.connection.position.vantage = vantage;
        found
    };
    let at = |vantage, again: &[Retransmission], until: u64| lines(of(vantage, again, until));
    let lost = "192.0.2.1 to 192.0.2.2: packets are lost; find where (recovery: 2.0 s)";
    assert_eq!(at(Vantage::Server, &again, 1240), [came]);
    assert_eq!(at(Vantage::Client, &again, 1240), [unheard]);
    // Where both ends are near, the capture may seem to be at the wrong one.
    let mut too_long = of(Vantage::Server, &again, 1240);
    let cause = Some(LossCause::PathMtu { passed: 1076, lost: 1500 });
    too_long.connection.from_client.losses.cause = cause;
    assert!(lines(too_long)[0].contains("packets of 1500 bytes do not come through"));
    // Half of the recovery, and one retransmission.
    assert_eq!(at(Vantage::Client, &again, 1100), [lost]);
    assert_eq!(at(Vantage::Server, &again[..1], 1240), [lost]);
    let later = again.map(|r| Retransmission { position: r.position + 1000, ..r });
    assert_eq!(at(Vantage::Server, &later, 1240), [lost]);
}

#[test]
fn messages_in_pieces() {
    let mut flow = lossy(Vec::new());
    flow.lifetime.add(Limit::Nagle, span(1500));
    assert_eq!(
        lines(connection(flow)),
        ["192.0.2.2: small segments wait for the ACK of those before; set TCP_NODELAY, or write \
          messages whole where they are written in pieces (Nagle: 1.5 s)"]
    );
}

/// Of two connections on one way, the losses of one tell why the other loses; the other way is
/// another. Two reasons tell nothing of a third connection.
#[test]
fn the_reason_for_losses_is_that_of_the_way() {
    let lost = || connection(lossy(vec![again(1000, 1000, Kind::FastRetransmit)]));
    let with = |cause| {
        let mut found = lost();
        found.connection.from_server.losses = Losses { counted: 9, episodes: 9, cause };
        found
    };
    let all = |connections| of(&Explained { connections, ..Explained::default() });
    let policer = Some(LossCause::Policer { rate_bps: 5e6, burst: None });
    let line = |what: &str, s| format!("192.0.2.2 to 192.0.2.1: {what} (recovery: {s}.0 s)");
    let drops = "a policer drops what exceeds 5.0 Mbit/s; shape or pace below that rate, or raise \
        its burst";
    assert_eq!(all(vec![lost(), with(policer)]), [line(drops, 4)]);
    let random = Some(LossCause::Random { rate: 0.01, run: 1.0 });
    let mut three = all(vec![lost(), with(policer), with(random)]);
    three.retain(|line| line.contains("find where"));
    assert_eq!(three, [line("packets are lost; find where", 2)]);
    let mut other_way = lost();
    let c = &mut other_way.connection;
    (c.from_client, c.from_server) = (c.from_server.clone(), c.from_client.clone());
    let lines = all(vec![other_way, with(policer)]);
    assert!(lines.contains(&line(drops, 2)), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("192.0.2.1 to 192.0.2.2: packets are lost")));
}

/// A queue that two connections measure differently is one line, with the longer delay; a third
/// connection, whose losses are random, keeps either from being the reason of all. No line is left
/// out.
#[test]
fn one_queue_is_one_line() {
    let with = |cause| {
        let mut found = connection(lossy(vec![again(1000, 1000, Kind::FastRetransmit)]));
        found.connection.from_server.losses = Losses { counted: 9, episodes: 9, cause };
        found
    };
    let queue = |delay| Some(LossCause::DropTail { delay: span(delay), size: None });
    let random = |rate| Some(LossCause::Random { rate, run: 1.0 });
    let buffer = |full_window, client: [u8; 4]| {
        let mut flow = Flow { bytes: 90_000, full_window, window: Some(65_535), ..lossy(vec![]) };
        flow.lifetime = Lifetime::default();
        flow.lifetime.add(Limit::ReceiveWindow, span(1000));
        let mut found = connection(flow);
        found.connection.client.set_ip(client.into());
        found
    };
    let connections = vec![
        with(queue(34)),
        with(queue(36)),
        with(queue(35)),
        with(random(0.01)),
        with(random(0.02)),
        buffer(2048, [192, 0, 2, 1]),
        buffer(1024, [192, 0, 2, 1]),
        buffer(1024, [192, 0, 2, 3]),
    ];
    let explained = Explained { connections, ..Explained::default() };
    let all = [
        "192.0.2.2 to 192.0.2.1: a queue overflows that delays by 36.0 ms; manage it (fq_codel, \
         CAKE), or give it less room (recovery: 6.0 s)",
        "192.0.2.2 to 192.0.2.1: 1.0 % of the segments are lost at random; repair the link, or use \
         a congestion control that does not take each loss for congestion (bbr) (recovery: 4.0 s)",
        "192.0.2.1: its receive buffer limits at 2.0 KiB; raise it (SO_RCVBUF; Linux: \
         net.ipv4.tcp_rmem) \
         (receive window: 2.0 s)",
        "192.0.2.3: its receive buffer limits at 1.0 KiB; raise it (SO_RCVBUF; Linux: \
         net.ipv4.tcp_rmem) \
         (receive window: 1.0 s)",
    ];
    assert_eq!(of(&explained), all);
    let told = |top| {
        let text = crate::text::short(&explained, top);
        text[text.find("What to change:\n").unwrap() + 16..].to_owned()
    };
    let lines = |of: &[&str]| of.iter().map(|line| format!("- {line}\n")).collect::<String>();
    assert_eq!(told(0), lines(&all));
    assert_eq!(told(3), lines(&all[..3]) + "and 1 more: --top 0 shows all\n");
}

/// Two connections of 9,000 bytes lose 1,000 each at random, and a third one loses nothing: of what
/// was sent, 2,000 of 29,000 bytes were lost, also on the page of one. What a policer drops is not
/// lost at random.
#[test]
fn what_is_lost_at_random_is_that_of_the_way() {
    let with = |lost: bool, cause| {
        let again = if lost { vec![again(1000, 1000, Kind::FastRetransmit)] } else { vec![] };
        let mut found = connection(lossy(again));
        found.connection.from_server.losses = Losses { counted: 9, episodes: 9, cause };
        found
    };
    let random = |rate| Some(LossCause::Random { rate, run: 1.0 });
    let mut all = vec![with(true, random(0.1)), with(true, random(0.2)), with(false, None)];
    let line = |seconds| {
        format!(
            "192.0.2.2 to 192.0.2.1: 6.9 % of the segments are lost at random; repair the link, or \
             use a congestion control that does not take each loss for congestion (bbr) (recovery: \
             {seconds}.0 s)"
        )
    };
    let explained = Explained { connections: all.clone(), ..Explained::default() };
    assert_eq!(of(&explained), [line(4)]);
    assert_eq!(of_one(&all[1], &Known::of(&explained)), [line(2)]);
    all.push(with(true, Some(LossCause::Policer { rate_bps: 5e6, burst: None })));
    let explained = Explained { connections: all.clone(), ..Explained::default() };
    assert!(of(&explained).contains(&line(4)), "{:?}", of(&explained));
    // A single one has the number that its sentence has.
    let one = line(2).replace("6.9 %", "20.0 %");
    assert_eq!(lines(all.swap_remove(1)), [one]);
}

/// Of the 1.5 s in which the bottleneck was idle, so much was before the first loss: what lowered
/// the window says nothing of that.
#[test]
fn losses_explain_no_time_before_them() {
    let said = |growing: u64, spurious: Option<Spurious>| {
        let r = Retransmission { spurious, ..again(1000, 1000, Kind::FastRetransmit) };
        let mut flow = lossy(vec![r]);
        flow.window = Some(1 << 20);
        flow.lifetime = Lifetime::default();
        flow.lifetime.add(Limit::CongestionWindow, span(2000));
        flow.lifetime.add_idle(span(1500));
        flow.lifetime.add_growing(span(growing));
        lines(connection(flow))
    };
    let grows = |seconds: &str| {
        format!(
            "192.0.2.2: its window is still growing or its send buffer is full; keep connections \
             open for longer, or raise its initial window or its send buffer (Linux: initcwnd, \
             net.ipv4.tcp_wmem) (bottleneck idle: {seconds} s)"
        )
    };
    let losses = |seconds: &str| {
        format!(
            "192.0.2.2 to 192.0.2.1: losses keep the congestion window small; find where they \
             occur (bottleneck idle: {seconds} s)"
        )
    };
    assert_eq!(said(0, None), [losses("1.5")]);
    assert_eq!(said(500, None), [losses("1.0"), grows("0.50")]);
    assert_eq!(said(1400, None), [grows("1.4")]);
    assert_eq!(said(1400, Some(Spurious::Dsack)), [grows("1.4")]);
}

/// What is to be done for two reasons is said once, with the time of both.
#[test]
fn the_same_advice_twice_is_one_line() {
    let mut flow = lossy(vec![again(1000, 1000, Kind::FastRetransmit)]);
    flow.lifetime.add(Limit::CongestionWindow, span(1500));
    flow.lifetime.add_idle(span(1000));
    flow.losses.cause = Some(LossCause::Policer { rate_bps: 5e6, burst: None });
    let mut found = connection(flow);
    found.connection.end = ms(5500);
    assert_eq!(
        lines(found),
        ["192.0.2.2 to 192.0.2.1: a policer drops what exceeds 5.0 Mbit/s; shape or pace below \
             that rate, or raise its burst (bottleneck idle: 1.0 s, recovery: 2.0 s)"]
    );
}

const LOST: &str = "192.0.2.2 to 192.0.2.1: packets are lost; find where (recovery: 2.0 s)";

/// A tail was lost, and a replay says that a probe would have repaired it. The sender has let two
/// chances to send one pass.
fn without_probes() -> Found {
    let mut flow = lossy(vec![again(2000, 8000, Kind::Timeout)]);
    flow.ways.probes.unused = 2;
    flow.timeouts = vec![Timeout {
        seq: Seq(8000),
        position: 8000,
        flight: 1000,
        cwnd: 9000,
        waited: span(1900),
        ..fixture::timeout(ms(2000), TimeoutClass::NonTrigger, State::Open)
    }];
    let rescue = |strategy, avoided, saved_s| Rescue {
        strategy,
        mechanism: strategy,
        avoided,
        took_s: 1.0,
        saved_s,
        saved_90_s: None,
    };
    let by = vec![rescue("sack", false, 0.0), rescue("sack+tlp", true, 1.5)];
    let mut found = connection(flow);
    found.saved = vec![Saved { from: End::Server, timeout: 0, by }];
    found
}

#[test]
fn probes_where_none_were_sent_and_one_would_have_helped() {
    let line = "192.0.2.2: it sends no tail loss probes; enable them (Linux: set \
        net.ipv4.tcp_early_retrans to 3) \
        (what probes would have saved: 1.5 s)";
    assert_eq!(lines(without_probes()), [line]);
    let server = |change: fn(&mut Flow)| {
        let mut found = without_probes();
        change(&mut found.connection.from_server);
        found
    };
    let rescued = |change: fn(&mut Vec<Rescue>)| {
        let mut found = without_probes();
        change(&mut found.saved[0].by);
        found
    };
    let others = [
        // A single chance may have had another reason.
        server(|flow| flow.ways.probes.unused = 1),
        // It has sent one.
        server(|flow| flow.ways.probes.used = 1),
        server(|flow| flow.probes_of_new_data = 1),
        server(|flow| flow.retransmissions.push(again(3000, 9000, Kind::ProbeOrTimeout))),
        // No tail was lost for the first time.
        server(|flow| flow.timeouts[0].class = TimeoutClass::LostRetransmission),
        server(|flow| flow.timeouts[0].state = State::Disorder),
        // All was lost again, or nothing would have changed.
        rescued(|by| by[1].avoided = false),
        rescued(|by| by[0].avoided = true),
        rescued(|by| by[1].saved_s = 0.1),
        rescued(Vec::clear),
    ];
    for (place, found) in others.into_iter().enumerate() {
        assert_eq!(lines(found), [LOST], "{place}");
    }
}

#[test]
fn nothing_is_lost_after_a_delay_spike() {
    let mut found = without_probes();
    let flow = &mut found.connection.from_server;
    flow.timeouts[0].spurious = Some(Spurious::Dsack);
    flow.retransmissions[0].spurious = Some(Spurious::Dsack);
    // One delay may explain one, and not several.
    let one = "192.0.2.2 to 192.0.2.1: segments are retransmitted though nothing was lost; look \
        for reordering, delay spikes and lost acknowledgments (recovery: 2.0 s)";
    assert_eq!(lines(found.clone()), [one]);
    let most = "192.0.2.2 to 192.0.2.1: most retransmissions are spurious; look for reordering, \
        delay spikes and lost acknowledgments (recovery: 2.0 s)";
    let with = |kind| {
        let mut found = found.clone();
        let flow = &mut found.connection.from_server;
        let spurious = Some(Spurious::Dsack);
        let again = |n: u64| Retransmission { spurious, ..again(2100, n * 1000, kind) };
        flow.retransmissions.extend([1, 2].map(again));
        lines(found)
    };
    assert_eq!(with(Kind::FastRetransmit), [most]);
    // What a sender without SACK repeats after a timeout.
    assert_eq!(with(Kind::SlowStart), [one]);
    // Losses are more, but take little time.
    let flow = &mut found.connection.from_server;
    flow.retransmissions.extend([1, 2].map(|n| again(2100, n * 1000, Kind::FastRetransmit)));
    assert_eq!(lines(found.clone()), [LOST]);
    let cause = StallCause::Timeout(TimeoutClass::NonTrigger);
    let stall = Stall { timeout: Some(0), ..fixture::stall(ms(100), ms(2050), cause) };
    found.connection.from_server.stalls = vec![stall];
    let late = "192.0.2.2 to 192.0.2.1: timers expire though what they send had arrived; look for \
        delay spikes and lost acknowledgments (recovery: 1.9 s)";
    assert_eq!(lines(found.clone()), [late]);
    // Where both took time, each has a line with what it took.
    let mut both = found.clone();
    both.connection.from_server.stalls[0].start = ms(850);
    let parts = [late.replace("1.9 s", "1.2 s"), LOST.replace("2.0 s", "0.80 s")];
    assert_eq!(lines(both), parts);
    // An outage: the segment behind the first one did not arrive.
    let flow = &mut found.connection.from_server;
    flow.timeouts[0].flight = 2000;
    flow.retransmissions.push(again(2100, 9000, Kind::Recovery));
    assert_eq!(lines(found.clone()), [LOST]);
    // Away from the sender, what was lost is not known to have been outstanding.
    let flow = &mut found.connection.from_server;
    flow.timeouts[0].flight = 0;
    flow.timeouts[0].waited = Span::from_millis(1900);
    assert_eq!(lines(found.clone()), [late]);
    found.connection.position.vantage = Vantage::Client;
    assert_eq!(lines(found), [LOST]);
}

/// Only a recovery from several losses takes longer without SACK.
#[test]
fn sack_where_several_losses_were_repaired() {
    let refused = |positions: [u64; 2], took: u64, client: bool| {
        let [first, second] = positions;
        let mut flow = lossy(vec![
            again(1000, first, Kind::FastRetransmit),
            again(1100, second, Kind::Recovery),
        ]);
        flow.recoveries = vec![Recovery {
            start: ms(1000),
            end: Some(ms(1000 + took)),
            by_timeout: false,
            flight: 9000,
            retransmissions: 2,
            spurious: false,
        }];
        let mut found = connection(flow);
        let c = &mut found.connection;
        let without = if client { &mut c.from_client } else { &mut c.from_server };
        without.offered = syn(false);
        found
    };
    let line = |host: &str| {
        format!(
            "{host}: it does not offer SACK; enable it (Linux: net.ipv4.tcp_sack) (several losses \
             at once: 0.50 s)"
        )
    };
    assert_eq!(lines(refused([0, 2000], 500, true)), [line("192.0.2.1")]);
    assert_eq!(lines(refused([0, 2000], 500, false)), [line("192.0.2.2")]);
    // The same segment twice; and nearly all of the time went elsewhere.
    assert_eq!(lines(refused([0, 0], 500, true)), [LOST]);
    assert_eq!(lines(refused([0, 2000], 300, true)), [LOST]);
    // Only one of them was needed.
    let mut found = refused([0, 2000], 500, true);
    found.connection.from_server.retransmissions[1].spurious = Some(Spurious::Dsack);
    assert_eq!(lines(found), [LOST]);
    // A timeout that repairs what a fast retransmit began has no part in it.
    let mut found = refused([0, 2000], 500, true);
    found.connection.from_server.retransmissions[1].kind = Kind::Timeout;
    assert_eq!(lines(found), [LOST]);
}

/// What the client does not offer the server may not answer.
#[test]
fn an_option_that_the_client_does_not_offer() {
    let limited = |client: bool, server: bool, full_window: u64| {
        let mut flow = Flow { bytes: 90_000, full_window, window: Some(65_535), ..lossy(vec![]) };
        flow.lifetime.add(Limit::ReceiveWindow, span(4000));
        let mut found = connection(flow);
        let offer = |scales: bool| {
            syn(true).map(|options| Options { wscale: scales.then_some(7), ..options })
        };
        found.connection.from_client.offered = offer(client);
        found.connection.from_server.offered = offer(server);
        lines(found)
    };
    let scaling = |host: &str| {
        format!(
            "{host}: it does not offer window scaling, so that windows end at 64 KiB (Linux: \
             net.ipv4.tcp_window_scaling) (receive window: 4.0 s)"
        )
    };
    assert_eq!(limited(false, false, 65_535), [scaling("192.0.2.1")]);
    assert_eq!(limited(true, false, 65_535), [scaling("192.0.2.2")]);
    let buffer = "192.0.2.1: its receive buffer limits at 64.0 KiB; raise it (SO_RCVBUF; Linux: \
        net.ipv4.tcp_rmem) (receive window: 4.0 s)";
    assert_eq!(limited(true, true, 65_535), [buffer]);
    assert_eq!(limited(false, false, 16_384), [buffer.replace("64.0", "16.0")]);
    // So it is with SACK.
    let mut found = connection(lossy(vec![
        again(1000, 0, Kind::FastRetransmit),
        again(1100, 2000, Kind::Recovery),
    ]));
    let c = &mut found.connection;
    c.from_server.recoveries = vec![Recovery {
        start: ms(1000),
        end: Some(ms(1500)),
        by_timeout: false,
        flight: 9000,
        retransmissions: 2,
        spurious: false,
    }];
    (c.from_client.offered, c.from_server.offered) = (syn(false), syn(false));
    let sack = "192.0.2.1: it does not offer SACK; enable it (Linux: net.ipv4.tcp_sack) (several \
        losses at once: 0.50 s)";
    assert_eq!(lines(found), [sack]);
}

/// What was sent twice for nothing lowers the window, and was not lost. Nor was a FIN or a SYN.
#[test]
fn a_small_window_without_losses() {
    let small = |retransmissions: Vec<Retransmission>| {
        let mut flow = Flow { offered: syn(true), bytes: 9000, mss: 1448, ..Flow::default() };
        flow.window = Some(1 << 20);
        flow.lifetime.add(Limit::CongestionWindow, span(4000));
        flow.lifetime.add_idle(span(4000));
        lines(connection(Flow { retransmissions, ..flow }))
    };
    let growing = "192.0.2.2: its window is still growing or its send buffer is full; keep \
        connections open for longer, or raise its initial window or its send buffer (Linux: \
        initcwnd, net.ipv4.tcp_wmem) (bottleneck idle: 4.0 s)";
    let delay = "192.0.2.2 to 192.0.2.1: most retransmissions are spurious; look for reordering, \
        delay spikes and lost acknowledgments (bottleneck idle: 4.0 s)";
    let one = "192.0.2.2 to 192.0.2.1: segments are retransmitted though nothing was lost; look \
        for reordering, delay spikes and lost acknowledgments (bottleneck idle: 4.0 s)";
    let losses = "192.0.2.2 to 192.0.2.1: losses keep the congestion window small; find where they \
        occur (bottleneck idle: 4.0 s)";
    let needed = again(1000, 1000, Kind::FastRetransmit);
    let spurious = Retransmission { spurious: Some(Spurious::Dsack), ..needed };
    let fin = Retransmission { len: 0, ..needed };
    assert_eq!(small(vec![]), [growing]);
    assert_eq!(small(vec![fin]), [growing]);
    assert_eq!(small(vec![spurious; 3]), [delay]);
    assert_eq!(small(vec![spurious; 2]), [one]);
    // A probe lowers no window.
    assert_eq!(small(vec![Retransmission { kind: Kind::TailLossProbe, ..spurious }]), [growing]);
    // Nor does a SYN whose answer was lost.
    let syn = Retransmission { len: 0, syn: true, kind: Kind::Timeout, ..spurious };
    assert_eq!(small(vec![syn]), [growing]);
    assert_eq!(small(vec![spurious, needed]), [losses]);
    // Three of six were not needed.
    let slow_start = Retransmission { kind: Kind::SlowStart, ..needed };
    assert_eq!(small([vec![spurious; 3], vec![slow_start; 3]].concat()), [losses]);
}

/// An hour of silence hides nothing. What is too short beside it is not spoken of.
#[test]
fn a_connection_that_is_kept_open() {
    let kept = |limited: u64| {
        let mut flow = Flow { offered: syn(true), full_window: 65_535, ..Flow::default() };
        (flow.bytes, flow.window) = (9000, Some(65_535));
        flow.lifetime.add(Limit::ReceiveWindow, span(limited));
        flow.lifetime.add(Limit::Application, Span::from_secs(3600));
        connection(flow)
    };
    let buffer = "192.0.2.1: its receive buffer limits at 64.0 KiB; raise it (SO_RCVBUF; Linux: \
        net.ipv4.tcp_rmem) (receive window: 4.0 s)";
    let found = kept(4000);
    let why = super::super::short::why(&found);
    let rest = "the server's application had nothing to send for 3600.0 s of 3604.0 s (100 %); in \
        the rest the client's receive window held the server back for 4.0 s of 4.0 s (100 %)";
    assert!(why.starts_with(rest), "{why}");
    let explained = Explained { connections: vec![found], ..Explained::default() };
    let headline = super::super::short::headline(&explained.summary());
    assert!(
        headline.ends_with("\nWithout the application's: receive window 100 %\n"),
        "{headline}"
    );
    assert_eq!(of(&explained), [buffer]);
    assert_eq!(lines(kept(300)), Vec::<String>::new());
}

/// A server that thinks is not its client that has nothing to send.
#[test]
fn a_server_that_thinks() {
    let thinks = |answering: u64| {
        let mut flow = Flow { bytes: 9000, ..Flow::default() };
        flow.lifetime.add(Limit::Application, span(3600));
        flow.lifetime.add_answering(span(answering));
        flow.lifetime.add(Limit::Path, span(400));
        let mut found = connection(flow);
        found.connection.from_client = Flow { bytes: 100, counted: true, ..Flow::default() };
        found.connection.from_client.lifetime.add(Limit::Application, span(3500));
        found.connection.from_client.lifetime.add_answering(span(3000));
        found.connection.from_client.lifetime.add(Limit::Path, span(500));
        found
    };
    let why = |answering| super::super::short::why(&thinks(answering));
    let kept = "the server's application kept the client waiting for 3.0 s of 4.0 s (75 %)";
    assert!(why(3000).starts_with(kept), "{}", why(3000));
    let idle = "the client's application had nothing to send for 3.5 s of 4.0 s (88 %)";
    assert!(why(1000).starts_with(idle), "{}", why(1000));
    let line = "192.0.2.2: its application takes long to answer; the network does not (waiting for \
        answers: 3.0 s)";
    assert_eq!(lines(thinks(3000)), [line]);
    assert_eq!(lines(thinks(1000)), Vec::<String>::new());
    // Elsewhere what it sent may have been lost before the capture.
    let mut at_client = thinks(3000);
    at_client.connection.position.vantage = Vantage::Client;
    let line = "192.0.2.2: it takes long to answer; a capture there shows what of that is its own \
        (waiting for answers: 3.0 s)";
    let said = super::super::short::why(&at_client);
    assert!(said.starts_with("the server kept the client waiting for 3.0 s of 4.0 s"), "{said}");
    assert_eq!(lines(at_client), [line]);
}

/// A FIN that is lost holds up nothing.
#[test]
fn a_fin_gives_no_advice() {
    let fin = Retransmission { len: 0, ..again(2000, 9000, Kind::Timeout) };
    let spurious = Some(Spurious::Dsack);
    assert_eq!(lines(connection(lossy(vec![fin]))), Vec::<String>::new());
    let fins = vec![Retransmission { spurious, ..fin }; 2];
    let flow = lossy([fins, vec![again(1000, 0, Kind::FastRetransmit)]].concat());
    assert_eq!(lines(connection(flow)), [LOST]);
}

/// Time goes into the handshake alone, with a round trip of 100 ms.
fn opening(took: u64) -> Found {
    let trip = span(100);
    let mut found = connection(Flow { offered: syn(true), ..Flow::default() });
    let c = &mut found.connection;
    c.from_server.rtt = Some(fixture::round_trip(trip, 1));
    for flow in [&mut c.from_client, &mut c.from_server] {
        flow.lifetime.add(Limit::Handshake, span(took));
        flow.lifetime.add(Limit::Application, span(900));
    }
    found
}

#[test]
fn a_handshake_of_a_round_trip_is_no_fault() {
    assert_eq!(lines(opening(100)), Vec::<String>::new());
    assert_eq!(lines(opening(300)), Vec::<String>::new());
    let late = "192.0.2.2: it answers SYNs late (handshakes beyond a round trip: 0.30 s)";
    assert_eq!(lines(opening(400)), [late]);
    // Of two measures of the path, the longer one counts.
    let mut one = opening(100);
    let shorter = one.connection.from_server.rtt.map(|rtt| RoundTrip { min: span(10), ..rtt });
    one.connection.from_client.rtt = shorter;
    assert_eq!(lines(one), Vec::<String>::new());
    let mut unseen = opening(400);
    unseen.connection.begun = false;
    assert_eq!(lines(unseen), Vec::<String>::new());
}

/// Whoever sent the SYN again: its loss and that of its answer look the same.
#[test]
fn a_syn_that_went_out_again() {
    let lost = "192.0.2.1 and 192.0.2.2: SYNs or their answers are lost; find where (handshakes \
        beyond a round trip: 1.0 s)";
    let syn = |at| Retransmission { len: 0, syn: true, ..again(at, 0, Kind::Timeout) };
    let sent_again = |client: bool, at: u64| {
        let mut found = opening(1100);
        let c = &mut found.connection;
        let flow = if client { &mut c.from_client } else { &mut c.from_server };
        flow.retransmissions = vec![syn(at)];
        found
    };
    for client in [true, false] {
        let mut found = sent_again(client, 1000);
        found.connection.position.vantage = Vantage::Middle;
        let why = super::super::short::why(&found);
        assert!(why.starts_with("the handshake lasted for 1.1 s of 2.0 s (55 %)"), "{why}");
        assert_eq!(lines(found), [lost]);
    }
    // At the server, which would have answered each SYN that came.
    let came = "192.0.2.2: SYNs came that it did not answer; see its listen queue \
        (Linux: net.core.somaxconn, nstat TcpExtListenDrops) and its firewall (handshakes beyond a \
        round trip: 1.0 s)";
    assert_eq!(lines(sent_again(true, 1000)), [came]);
    assert_eq!(lines(sent_again(false, 1000)), [lost]);
    // The answer echoes the first one.
    let mut echoed = sent_again(true, 1000);
    echoed.connection.from_client.retransmissions[0].spurious = Some(Spurious::Timestamp);
    let late = "192.0.2.2 to 192.0.2.1: answers to SYNs that came are lost or late; find where \
        (handshakes beyond a round trip: 1.0 s)";
    assert_eq!(lines(echoed), [late]);
    // A FIN without data before it has the same position.
    let late = "192.0.2.2: it answers SYNs late (handshakes beyond a round trip: 1.0 s)";
    assert_eq!(lines(sent_again(false, 1500)), [late]);
    // Nothing of the client follows. If its SYN went again, it had not got the answer.
    let half_open = |client: bool, syns: u64| {
        let mut found = sent_again(client, 1000);
        let c = &mut found.connection;
        (c.opened, c.from_client.segments, c.from_server.segments) = (false, syns, 3);
        c.position.vantage = Vantage::Middle;
        found
    };
    let unheard = "192.0.2.1: it does not answer the SYN/ACKs of 192.0.2.2 (handshakes beyond a \
        round trip: 1.0 s)";
    assert_eq!(lines(half_open(false, 1)), [unheard]);
    assert_eq!(lines(half_open(true, 2)), [lost]);
    // It has answered the second one by a reset.
    let mut reset = half_open(false, 1);
    reset.connection.ended = Ended::Reset(Reset { by: ResetBy::Client, cuts_off: false });
    assert_eq!(lines(reset), [lost]);
    let mut nobody = sent_again(true, 1000);
    nobody.connection.from_server.offered = None;
    let unanswered = "192.0.2.2: it does not answer the SYNs of 192.0.2.1 (handshakes beyond a \
        round trip: 1.0 s)";
    assert_eq!(lines(nobody), [unanswered]);
    // The round trip is longer than the timer of the SYN.
    let mut late = sent_again(true, 1000);
    late.connection.from_client.retransmissions[0].spurious = Some(Spurious::Timestamp);
    late.connection.from_server.rtt = Some(fixture::round_trip(span(1050), 1));
    assert_eq!(lines(late), Vec::<String>::new());
    // At the client: the echo proves that the first SYN came, and a round trip of 100 ms after the
    // second one its answer comes, or that to the first one sooner.
    let mut unheard = sent_again(true, 1000);
    unheard.connection.position.vantage = Vantage::Client;
    unheard.connection.from_client.retransmissions[0].spurious = Some(Spurious::Timestamp);
    let answers = "192.0.2.2 to 192.0.2.1: answers to SYNs that came are lost or late; find where \
        (handshakes beyond a round trip: 1.0 s)";
    assert_eq!(lines(unheard.clone()), [answers]);
    // The one before it had not come, or its answer was lost: both are told with the time of both.
    let mut both = unheard.clone();
    let again = &mut both.connection.from_client.retransmissions;
    again.insert(0, Retransmission { at: ms(300), spurious: None, ..again[0] });
    assert_eq!(lines(both), [lost]);
    // A timer of the server sends its answer again after a second: the first one was lost or late.
    unheard.connection.from_client.retransmissions[0].at = ms(1051);
    assert_eq!(lines(unheard.clone()), [answers.replace("1.0 s", "1.1 s")]);
    // Elsewhere than at the server, the SYN may have been late.
    let late = "192.0.2.2: answers to SYNs are late; a capture there shows what of that is its own \
        (handshakes beyond a round trip: 1.1 s)";
    let c = &mut unheard.connection;
    c.from_client.retransmissions[0].at = ms(1151);
    for flow in [&mut c.from_client, &mut c.from_server] {
        flow.lifetime.add(Limit::Handshake, span(100));
    }
    assert_eq!(lines(unheard), [late]);
}

/// A tenth of a connection that is over within milliseconds is nothing that anybody feels.
#[test]
fn what_nobody_feels() {
    let opened = |micros: u64| {
        let mut found = opening(400);
        let c = &mut found.connection;
        for flow in [&mut c.from_client, &mut c.from_server] {
            flow.lifetime = Lifetime::default();
            flow.lifetime.add(Limit::Handshake, Span::from_micros(micros));
            flow.lifetime.add(Limit::Path, span(3));
            flow.rtt = Some(fixture::round_trip(Span::from_micros(10), 9));
        }
        lines(found)
    };
    let late = "192.0.2.2: it answers SYNs late (handshakes beyond a round trip: 1.0 ms)";
    assert_eq!(opened(1010), [late]);
    assert_eq!(opened(1009), [""; 0]);
}

/// The server has answered the first SYN by an ACK of an older connection.
#[test]
fn a_port_that_is_used_again() {
    let mut found = opening(1100);
    let syn = Retransmission { len: 0, syn: true, ..again(1000, 0, Kind::Unknown) };
    found.connection.from_client.retransmissions = vec![syn];
    let line = "192.0.2.1: it uses a port again while 192.0.2.2 has its older connection \
        (handshakes beyond a round trip: 1.0 s)";
    assert_eq!(lines(found), [line]);
}

#[test]
fn a_refused_connection() {
    let mut found = opening(100);
    found.connection.ended = Ended::Refused;
    let line = "192.0.2.2: it refuses connections; see whether something listens there, or a \
        firewall resets them (handshake: 0.10 s)";
    assert_eq!(lines(found.clone()), [line]);
    assert_eq!(super::super::short::why(&found), "the server refused it after 1.0 s");
    // However soon it comes.
    let flow = &mut found.connection.from_client;
    flow.lifetime = Lifetime::default();
    flow.lifetime.add(Limit::Handshake, Span::from_micros(40));
    assert_eq!(lines(found), [line.replace("0.10 s", "40 µs")]);
}

/// The window limits for 1.8 s, in which the bottleneck is idle for that long, for 0.25 s, or for
/// too little to speak of.
#[test]
fn a_window_costs_what_the_bottleneck_is_idle_in() {
    let said = |idle: u64| {
        let mut explained = fixture::explained();
        explained.connections.truncate(1);
        let mut lifetime = Lifetime::default();
        lifetime.add(Limit::CongestionWindow, Span::from_millis(1800));
        lifetime.add_idle(Span::from_millis(idle));
        let connection = &mut explained.connections[0].connection;
        (connection.from_client.lifetime, connection.from_server.lifetime) =
            (Lifetime::default(), lifetime);
        of(&explained)
    };
    let ends = |said: &[String], end: &str| said.len() == 1 && said[0].ends_with(end);
    assert!(ends(&said(1800), "(bottleneck idle: 1.8 s)"), "{:?}", said(1800));
    assert!(ends(&said(250), "(bottleneck idle: 0.25 s)"), "{:?}", said(250));
    assert_eq!(said(150), [""; 0]);
}

/// The kernel of a host has one setting: what single connections leave open, all of them tell.
#[test]
fn senders_are_judged_by_all_of_their_connections() {
    let line = "192.0.2.2: it sends no tail loss probes; enable them (Linux: set \
        net.ipv4.tcp_early_retrans to 3) \
        (what probes would have saved: 3.0 s)";
    let one = || {
        let mut found = without_probes();
        found.connection.from_server.ways.probes.unused = 1;
        found
    };
    let two = |change: fn(&mut Connection)| {
        let mut other = one();
        change(&mut other.connection);
        of(&Explained { connections: vec![one(), other], ..Explained::default() })
    };
    assert_eq!(two(|_| ()), [line]);
    let lost = |lines: Vec<String>| lines.iter().all(|line| line.contains("packets are lost"));
    assert!(lost(two(|connection| connection.from_server.ways.probes.used = 1)));
    assert!(lost(two(|connection| connection.from_server.probes_of_new_data = 1)));
    assert!(lost(two(|connection| connection.server = "192.0.2.3:80".parse().unwrap())));
}
