use super::*;
use ackclock_tcp::Registry;
use ackclock_tcp::Seq;
use ackclock_tcp::Span;
use ackclock_tcp::wire::Control;
use std::net::SocketAddr;

/// 8 Mb/s, so that a byte takes a microsecond, and 5 ms each way; `b` and `c` have no link between
/// them.
fn gateway(more: &str) -> Gateway {
    let text = format!(
        r#"
        duration = "1s"
        [[link]]
        from = "a"
        to = "b"
        rate = "8mbit"
        delay = "5ms"
        {more}
        [[link]]
        from = "c"
        to = "b"
        rate = "8mbit"
        delay = "5ms"
        duplex = false
        "#
    );
    let scenario = Scenario::from_toml(&text, &Registry::default())
        .map_err(|e| e.to_string())
        .expect("a sound scenario");
    Gateway::new(&scenario, 1).expect("a sound scenario")
}

fn data(len: u32) -> Headers {
    let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
    let tcp = TcpHeader {
        seq: Seq(1),
        ack: Seq(0),
        control: Control::ACK,
        len: len - 40,
        option_len: 0,
        mss: None,
        timestamps: false,
    };
    Headers {
        len,
        from: end(1),
        to: end(2),
        protocol: 6,
        codepoint: Default::default(),
        tcp: Some(tcp),
    }
}

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

fn us(us: u64) -> Time {
    Time(1000 * us)
}

fn delivered(token: u64, at: u64, node: NodeId) -> Option<Exit> {
    Some(Exit {
        token,
        at: us(at),
        last: true,
        outcome: Outcome::Delivered { node, flip: None, marked: false },
    })
}

#[test]
fn packets_leave_when_they_are_due_and_however_late_they_are_asked_for() {
    let mut gateway = gateway("");
    assert_eq!(gateway.next_deadline(), Time::NEVER);
    assert!(gateway.enter(us(0), A, B, &data(1000), 10));
    assert!(gateway.enter(us(100), A, B, &data(500), 11));
    assert!(gateway.enter(us(200), B, A, &data(1000), 12));
    assert_eq!((gateway.next_deadline(), gateway.under_way()), (us(6000), 3));
    assert_eq!(gateway.poll(Time(5_999_999)), None);
    assert_eq!(gateway.poll(us(6000)), delivered(10, 6000, B));
    assert_eq!(gateway.next_deadline(), us(6200));
    // Whoever comes late finds what has happened, and enters his packet after it.
    assert!(gateway.enter(us(9000), A, B, &data(1000), 13));
    assert_eq!(gateway.next_deadline(), us(9000));
    assert_eq!(gateway.poll(us(9000)), delivered(12, 6200, A));
    assert_eq!(gateway.poll(us(9000)), delivered(11, 6500, B));
    assert_eq!(gateway.poll(us(9000)), None);
    assert_eq!(gateway.poll(us(20_000)), delivered(13, 15_000, B));
    assert_eq!((gateway.next_deadline(), gateway.under_way()), (Time::NEVER, 0));
}

#[test]
fn without_a_route_nothing_enters() {
    let mut gateway = gateway("");
    assert_eq!((gateway.node("c"), gateway.node("d")), (Some(C), None));
    assert!(gateway.has_route(C, A) && !gateway.has_route(A, C) && !gateway.has_route(A, A));
    assert!(
        !gateway.enter(us(0), A, C, &data(100), 1)
            && !gateway.enter(us(0), A, NodeId(9), &data(100), 1)
    );
    assert_eq!((gateway.poll(us(1000)), gateway.under_way()), (None, 0));
}

/// A gateway runs for long: what a burst took goes with the last of its packets.
#[test]
fn memory_of_a_burst_is_given_back() {
    let mut gateway = gateway("queue = { droptail = { packets = 3000 } }\nduplicate = 0.5");
    for burst in 1..=2 {
        let start = burst * 10_000_000;
        for token in 0..2000 {
            assert!(gateway.enter(us(start), A, B, &data(1000), token));
        }
        assert!(gateway.wires.places() >= 2000 && gateway.entered.len() == 2000);
        let exits = std::iter::from_fn(|| gateway.poll(us(start + 9_000_000)));
        assert_eq!(exits.filter(|exit| exit.last).map(|exit| exit.token).sum::<u64>(), 1_999_000);
        assert_eq!((gateway.wires.places(), gateway.entered.capacity()), (0, 0));
    }
    // Few keep their room.
    gateway.enter(us(90_000_000), A, B, &data(1000), 7);
    while gateway.poll(us(91_000_000)).is_some() {}
    assert_eq!(gateway.entered.len(), 1);
}

#[test]
fn a_drop_is_reported_at_once() {
    let mut gateway = gateway("queue = { droptail = { packets = 1 } }");
    gateway.enter(us(0), A, B, &data(1000), 1);
    gateway.enter(us(0), A, B, &data(1000), 2);
    let outcome = Outcome::Dropped { link: LinkId(0), why: "queue" };
    assert_eq!(gateway.poll(us(0)), Some(Exit { token: 2, at: us(0), last: true, outcome }));
    assert_eq!(gateway.poll(us(0)), None);
    let reports: Vec<_> = gateway
        .link_reports(us(0))
        .map(|(built, r)| (built.back, r.packets, r.dropped_queue))
        .collect();
    assert_eq!(reports, [(false, 2, 1), (true, 0, 0), (false, 0, 0)]);
}

/// A packet of 1000 bytes takes 1 ms. One comes each 600 us: they find what those of a network
/// would, whether the link's queue judges as they come or its transmitter has events.
#[test]
fn what_packets_find_at_queues_is_told() {
    let visit = |at, packets: u32, waited, dropped, waits| {
        let bytes = u64::from(packets) * 1000;
        let (came, waited) = (us(at), Span::from_micros(waited));
        Visit { came, size: 1000, packets, bytes, waited, dropped, marked: false, waits }
    };
    let still = "queue = { droptail = { packets = 2 } }";
    let varies = "queue = { droptail = { packets = 2 } }\n\
        change = [{ at = \"900ms\", rate = \"8mbit\" }]";
    for more in [still, varies] {
        let mut gateway = gateway(more);
        gateway.watch_queues();
        for (at, token) in (0..4).map(|n| (n * 600, n)) {
            assert!(gateway.enter(us(at), A, B, &data(1000), token));
        }
        while gateway.poll(us(1900)).is_some() {}
        let mut seen: Vec<_> = gateway.take_visits().collect();
        seen.extend(gateway.waiting());
        seen.sort_by_key(|(_, visit)| visit.came);
        let all = [
            visit(0, 0, 0, None, false),
            visit(600, 1, 400, None, false),
            visit(1200, 1, 800, None, false),
            visit(1800, 2, 0, Some("queue"), false),
        ];
        let late = visit(1200, 1, 700, None, true);
        let all =
            if more == varies { all.map(|v| if v == all[2] { late } else { v }) } else { all };
        assert_eq!(seen, all.map(|visit| (LinkId(0), visit)), "{more}");
    }
}

#[test]
fn the_last_copy_says_so_and_each_copy_has_its_own_flipped_bit() {
    let mut gateway = gateway("duplicate = 1\ncorrupt = 1");
    gateway.enter(us(0), A, B, &data(1000), 1);
    let (first, second) =
        (gateway.poll(us(6000)).expect("a packet"), gateway.poll(us(6000)).expect("its copy"));
    assert_eq!((first.token, first.last, second.token, second.last), (1, false, 1, true));
    let bit = |exit: &Exit| match exit.outcome {
        Outcome::Delivered { flip: Some(bit), .. } => bit,
        _ => panic!("{exit:?}"),
    };
    assert!(bit(&first) < 8000 && bit(&second) < 8000 && bit(&first) != bit(&second));
    assert_eq!((gateway.poll(us(6000)), gateway.under_way()), (None, 0));
}

/// Whenever the driver comes: packets leave in the order of time, and the last copy of each says
/// so, once.
#[test]
fn every_packet_leaves() {
    let more = r#"
        jitter = "3ms"
        reorder = { p = 0.1, delay = "20ms" }
        duplicate = 0.1
        corrupt = 0.1
        loss = [{ bernoulli = { p = 0.1, direction = "both" } }]
        queue = { red = { limit = 20, min = 2, max = 6, weight = 0.1 } }"#;
    for seed in 0..20 {
        let mut gateway = gateway(more);
        let mut rng = Rng::new(seed, "driver");
        let mut draw = |n: u64| (rng.unit() * n as f64) as u64;
        let mut ended = vec![0; 500];
        let (mut now, mut entered, mut last) = (0, 0, Time::ZERO);
        while entered < ended.len() || gateway.under_way() > 0 {
            now += draw(2000);
            if entered < ended.len() && draw(3) > 0 {
                let (from, to) = if draw(4) == 0 { (B, A) } else { (A, B) };
                assert!(gateway.enter(
                    us(now),
                    from,
                    to,
                    &data(40 + draw(1460) as u32),
                    entered as u64
                ));
                entered += 1;
            }
            while let Some(exit) = (draw(5) > 0).then(|| gateway.poll(us(now))).flatten() {
                assert!(exit.at >= last && exit.at <= us(now) && ended[exit.token as usize] == 0);
                last = exit.at;
                ended[exit.token as usize] += u32::from(exit.last);
            }
        }
        assert!(ended.iter().all(|&n| n == 1));
        let sums = gateway.link_reports(us(now)).fold((0, 0), |sum, (_, r)| {
            (
                sum.0 + r.packets,
                sum.1 + r.departed + r.dropped_queue + r.dropped_early + r.dropped_loss,
            )
        });
        assert_eq!(sums, (500, 500));
        assert_eq!((gateway.poll(us(now)), gateway.next_deadline()), (None, Time::NEVER));
    }
}
