//! Two hosts on the links of a scenario, in virtual time: real packets meet the simulator's queues,
//! losses, duplicates, reordering and flipped bits, and links that take smaller packets than the
//! hosts think. Every byte arrives once and in order, everybody is done some time, and the same
//! seed gives the same packets.

use std::collections::HashMap;
use std::net::IpAddr;

use ackclock_net::scenario::Scenario;
use ackclock_net::{Gateway, Headers, NodeId, Outcome};
use ackclock_stack::{Ready, SocketId, Stack, TcpConfig};
use ackclock_tcp::wire::ip::{ICMP, ICMPV6};
use ackclock_tcp::wire::{Checksum, PseudoHeader};
use ackclock_tcp::{Registry, Span, Time};
use proptest::prelude::*;

use crate::rig::{App, cut, host_config, ip_addresses, ip_packet, v4, v6};

/// A link each way, with these settings.
fn scenario(there: &str, back: &str) -> Scenario {
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nduplex = \
         false\n{there}\n[[link]]\nfrom = \"b\"\nto = \"a\"\nduplex = false\n{back}\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\n"
    );
    Scenario::from_toml(&text, &Registry::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A packet as it passed: when, which host sent it, and a sum of its bytes; and whether it is one
/// that arrived.
type Passed = (Time, usize, u64, bool);

struct World {
    now: Time,
    stacks: [Stack; 2],
    apps: [HashMap<SocketId, App>; 2],
    /// What the server does with what it accepts.
    answers: App,
    accepted: u64,
    gateway: Gateway,
    nodes: [NodeId; 2],
    packets: HashMap<u64, (usize, Vec<u8>)>,
    tokens: u64,
    /// The largest packet that the links take; what is larger is dropped, and its host told. And
    /// how often that was.
    mtu: usize,
    too_big: u64,
    log: Vec<Passed>,
}

impl World {
    fn new(scenario: &Scenario, seed: u64, offload: bool, answers: App) -> World {
        let gateway = Gateway::new(scenario, seed).unwrap();
        let nodes = ["a", "b"].map(|name| gateway.node(name).unwrap());
        World {
            now: Time(1_000_000),
            stacks: [0, 1].map(|host| Stack::new(host_config(host, offload))),
            apps: [HashMap::new(), HashMap::new()],
            answers,
            accepted: 0,
            gateway,
            nodes,
            packets: HashMap::new(),
            tokens: 0,
            mtu: 1500,
            too_big: 0,
            log: Vec::new(),
        }
    }

    /// What the contract of a stack asks for after every input.
    fn drain(&mut self, host: usize) {
        loop {
            while let Some(outgoing) = self.stacks[host].poll_transmit(self.now) {
                for packet in cut(&outgoing) {
                    self.enter(host, packet);
                }
            }
            let (stack, apps) = (&mut self.stacks[host], &mut self.apps[host]);
            match stack.poll_ready() {
                Some(Ready::Accept(listener)) => {
                    while let Ok(id) = stack.accept(listener) {
                        self.accepted += 1;
                        apps.entry(id).or_insert(self.answers.clone()).act(self.now, stack, id);
                    }
                }
                Some(Ready::Socket(id)) => {
                    if let Some(app) = apps.get_mut(&id) {
                        app.act(self.now, stack, id);
                    }
                }
                None => return,
            }
        }
    }

    fn note(&mut self, host: usize, packet: &[u8], arrived: bool) {
        let sum = packet.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, &b| {
            (sum ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        });
        self.log.push((self.now, host, sum, arrived));
    }

    fn enter(&mut self, host: usize, packet: Vec<u8>) {
        self.note(host, &packet, false);
        if packet.len() > self.mtu {
            self.too_big += 1;
            let told = too_big(&packet, self.mtu);
            self.stacks[host].on_packet(self.now, &told, false);
            return;
        }
        let headers = Headers::parse(&packet).expect("a stack sends IP packets");
        let (from, to) = (self.nodes[host], self.nodes[1 - host]);
        assert!(self.gateway.enter(self.now, from, to, &headers, self.tokens));
        self.packets.insert(self.tokens, (1 - host, packet));
        self.tokens += 1;
    }

    /// The next thing happens.
    fn step(&mut self) -> bool {
        let timers = [0, 1].map(|host| self.stacks[host].next_deadline());
        let arrival = self.gateway.next_deadline();
        let next = arrival.min(timers[0]).min(timers[1]);
        if next == Time::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        if arrival <= next {
            while let Some(exit) = self.gateway.poll(self.now) {
                assert_eq!(exit.at, self.now, "nobody was late");
                let (to, mut packet) = self.packets[&exit.token].clone();
                if exit.last {
                    self.packets.remove(&exit.token);
                }
                if let Outcome::Delivered { node, flip, .. } = exit.outcome {
                    assert_eq!(node, self.nodes[to]);
                    if let Some(bit) = flip {
                        packet[bit as usize / 8] ^= 0x80 >> (bit % 8);
                    }
                    self.note(to, &packet, true);
                    self.stacks[to].on_packet(self.now, &packet, false);
                    self.drain(to);
                }
            }
        } else {
            let host = usize::from(timers[1] == next);
            self.stacks[host].on_deadline(self.now);
            self.drain(host);
        }
        true
    }

    fn is_done(&self) -> bool {
        self.accepted > 0 && self.apps.iter().all(|apps| apps.values().all(App::is_done))
    }
}

/// What a router says of a packet that its link does not take (RFC 792, RFC 1191 section 4, RFC
/// 4443 section 3.2).
fn too_big(packet: &[u8], mtu: usize) -> Vec<u8> {
    let (src, _) = ip_addresses(packet);
    let router: IpAddr =
        if src.is_ipv4() { [10, 0, 0, 99].into() } else { [0xfd00, 0, 0, 0, 0, 0, 0, 0x99].into() };
    let (kind, code, quoted) = if src.is_ipv4() { (3, 4, 28) } else { (2, 0, 48) };
    let mut bytes =
        [&[kind, code, 0, 0][..], &(mtu as u32).to_be_bytes(), &packet[..quoted]].concat();
    let sum = match (router, src) {
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            PseudoHeader::V6 { src: from, dst: to }.of(ICMPV6, bytes.len() as u32)
        }
        _ => Checksum::default(),
    };
    let checksum = sum.then(&bytes).value();
    bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
    ip_packet(router, src, if src.is_ipv4() { ICMP } else { ICMPV6 }, &bytes)
}

/// How a transfer goes.
#[derive(Clone, Debug)]
struct Transfer {
    seed: u64,
    strategy: &'static str,
    offload: bool,
    over_v6: bool,
    /// Bytes there and back.
    amounts: (u64, u64),
    /// When the links take packets of `mtu` bytes only.
    narrows: Span,
    mtu: usize,
}

/// Runs until everything has arrived, then until nobody remembers anything. Returns the world then.
fn run(links: &Scenario, t: &Transfer) -> World {
    let config = TcpConfig {
        strategy: Registry::default().parse(t.strategy).unwrap(),
        ..TcpConfig::default()
    };
    let ip = if t.over_v6 { v6(1) } else { v4(1) };
    let mut world = World::new(links, t.seed, t.offload, App::new(t.amounts.1, 2, 1));
    world.stacks[1].listen((ip, 80).into(), config.clone(), 16).unwrap();
    let client = world.stacks[0].connect(world.now, (ip, 80).into(), config).unwrap();
    world.apps[0].insert(client, App::new(t.amounts.0, 1, 2));
    world.drain(0);
    let (narrow, hour) = (world.now + t.narrows, world.now + Span::from_secs(3600));
    while !world.is_done() {
        assert!(world.step() && world.now < hour, "{t:?} is not done");
        if world.now >= narrow {
            world.mtu = t.mtu;
        }
    }
    // The applications have compared every byte.
    assert_eq!(world.apps[0][&client].read, t.amounts.1);
    assert!(world.apps[1].values().any(|app| app.read == t.amounts.0));
    for host in 0..2 {
        for (id, _) in std::mem::take(&mut world.apps[host]) {
            world.stacks[host].close(world.now, id);
        }
        world.drain(host);
    }
    while world.step() {
        assert!(world.now < hour, "{t:?} does not end");
    }
    assert_eq!(world.stacks.each_ref().map(Stack::connections), [0, 0]);
    assert_eq!((world.gateway.under_way(), world.packets.len()), (0, 0));
    world
}

/// Settings of a link: everything that can happen to a packet to up to four in a hundred.
fn link() -> impl Strategy<Value = String> {
    let share = || prop_oneof![Just(0), 0..5u32];
    let rate = prop::sample::select(vec!["256kbit", "2mbit", "100mbit"]);
    (rate, 0..60u32, 2..50u32, (share(), share(), share(), share()), 0..5u32).prop_map(
        |(rate, delay, packets, (lost, twice, late, flipped), jitter)| {
            format!(
                "rate = \"{rate}\"\ndelay = \"{delay}ms\"\nqueue = {{ droptail = {{ packets = \
                 {packets} }} }}\n\
                 jitter = \"{jitter}ms\"\nreorder = {{ p = \"{late}%\", delay = \"10ms\" \
                 }}\nduplicate = \"{twice}%\"\n\
                 corrupt = \"{flipped}%\"\nloss = [{{ bernoulli = {{ p = \"{lost}%\" }} }}]"
            )
        },
    )
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let strategy =
        prop::sample::select(vec!["linux", "newreno", "sack", "prr", "rack-tlp", "net-reno"]);
    let narrows = (0..2_000u64).prop_map(Span::from_millis);
    let mtu = prop_oneof![Just(1500usize), 1280..1500usize];
    (
        any::<u64>(),
        strategy,
        any::<bool>(),
        any::<bool>(),
        (0..100_000u64, 0..50_000u64),
        narrows,
        mtu,
    )
        .prop_map(|(seed, strategy, offload, over_v6, amounts, narrows, mtu)| Transfer {
            seed,
            strategy,
            offload,
            over_v6,
            amounts,
            narrows,
            mtu,
        })
}

/// What the property below is about does happen: here it is, in one transfer over both families.
#[test]
fn everything_that_can_happen_happens() {
    let link = "rate = \"2mbit\"\ndelay = \"20ms\"\nqueue = { droptail = { packets = 3 } }\njitter \
        = \"3ms\"\n\
                reorder = { p = \"4%\", delay = \"30ms\" }\nduplicate = \"4%\"\ncorrupt = \"4%\"\n\
                loss = [{ bernoulli = { p = \"4%\" } }]";
    for over_v6 in [false, true] {
        let narrows = Span::from_millis(300);
        let (strategy, amounts) = ("linux", (400_000, 200_000));
        let t = Transfer { seed: 7, strategy, offload: true, over_v6, amounts, narrows, mtu: 1280 };
        let world = run(&scenario(link, link), &t);
        let sum = |of: fn(&ackclock_net::LinkReport) -> u64| {
            world.gateway.link_reports(world.now).map(|(_, report)| of(&report)).collect::<Vec<_>>()
        };
        for counts in [sum(|r| r.dropped_queue), sum(|r| r.dropped_loss), sum(|r| r.corrupted)] {
            assert!(counts.iter().all(|&n| n > 0), "{counts:?}");
        }
        assert!(world.too_big > 0);
        assert!(world.stacks.iter().all(|stack| stack.stats().bad_checksums > 0));
        let arrived = world.log.iter().filter(|passed| passed.3).count() as u64;
        let lost: u64 = sum(|r| r.dropped_queue + r.dropped_loss).iter().sum();
        let entered = world.log.len() as u64 - arrived - world.too_big;
        assert!(arrived > entered - lost, "some came twice");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_arrives_and_the_same_seed_gives_the_same_packets(there in link(), back in link(), t in transfer()) {
        let links = scenario(&there, &back);
        prop_assert!(run(&links, &t).log == run(&links, &t).log, "another run has other packets");
    }
}
