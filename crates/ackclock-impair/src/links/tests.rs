use std::net::SocketAddr;

use ackclock_net::scenario::units::Duration;
use ackclock_stack::{Stack, StackConfig, TcpConfig};
use ackclock_tcp::{Registry, Span};

use super::*;
use crate::{Simple, Way};

const MS: u64 = 1_000_000;

fn delay(ms: u64, direction: Way) -> Conditions {
    let delay = Duration(Span::from_millis(ms));
    Conditions::simple(&Simple { direction, delay, ..Simple::default() }, 1).unwrap()
}

/// One link both ways with 1 ms and these lines of a scenario.
fn link(lines: &str, seed: u64) -> Conditions {
    let text = format!(
        "duration = \"1s\"\n[[link]]\nfrom = \"client\"\nto = \"server\"\nrate = \"100gbit\"\n\
         delay = \"1ms\"\n{lines}\n"
    );
    Conditions::from_toml(&text, "test", Some(seed), None, None, &Registry::default()).unwrap()
}

/// Links with these conditions, from place 0 on.
fn links(conditions: &[Conditions]) -> Links {
    let mut links = Links::new();
    for (conditions, place) in conditions.iter().zip(0..) {
        links.set(Time::ZERO, place, Some(conditions)).unwrap();
    }
    links
}

/// A host sends a SYN. Returns its bytes.
fn send(links: &mut Links, now: Time, host: usize) -> Vec<u8> {
    let addresses = vec!["10.0.0.1".parse().unwrap()];
    let mut stack = Stack::new(StackConfig { addresses, ..StackConfig::default() });
    let to: SocketAddr = "10.0.0.2:1".parse().unwrap();
    stack.connect(now, to, TcpConfig::default()).unwrap();
    let packet = stack.poll_transmit(now).unwrap();
    links.enter(now, host, &packet);
    packet.header.to_vec()
}

/// What arrives: when, in whole milliseconds, at which host, and its bytes.
fn arrivals(links: &mut Links) -> Vec<(u64, usize, Vec<u8>)> {
    let mut all = Vec::new();
    loop {
        let now = links.next_deadline();
        if now == Time::NEVER {
            return all;
        }
        while let Some(arrived) = links.poll(now) {
            links.deliver(now, &arrived, |packet| {
                all.push((now.nanos() / MS, arrived.host, packet.to_vec()));
            });
        }
    }
}

/// Whether nothing is kept of what was under way.
fn is_empty(links: &mut Links) -> bool {
    links.trim(Time(3600 * 1000 * MS)) == Time::NEVER
}

#[test]
fn delays_of_all_places_add_up_in_each_direction() {
    let row = [delay(1, Way::Both), delay(20, Way::Up), delay(300, Way::Down)];
    for (host, expected) in [(0, 21), (1, 301)] {
        let mut links = links(&row);
        let sent = send(&mut links, Time::ZERO, host);
        assert_eq!(arrivals(&mut links), [(expected, 1 - host, sent)]);
        assert!(is_empty(&mut links));
    }
}

#[test]
fn without_conditions_a_packet_arrives_at_once() {
    let mut links = Links::new();
    let sent = send(&mut links, Time(5), 0);
    assert_eq!(links.next_deadline(), Time::ZERO);
    assert_eq!(arrivals(&mut links), [(0, 1, sent)]);
    assert!(is_empty(&mut links));
}

/// Those of clients cross the first place first, those of the server the last. What is dropped at
/// the first one is not counted at the other.
#[test]
fn servers_cross_the_places_in_the_reverse_order() {
    let drop = || link("loss = [{ bernoulli = { p = \"100%\", direction = \"both\" } }]", 1);
    for (host, counts) in [(0, [1, 0, 0, 0]), (1, [0, 0, 0, 1])] {
        let mut links = links(&[drop(), drop()]);
        send(&mut links, Time::ZERO, host);
        assert_eq!(arrivals(&mut links), []);
        let report = links.report(Time::ZERO);
        assert_eq!(report.iter().map(|link| link.place).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert_eq!(report.iter().map(|link| link.counts.packets).collect::<Vec<_>>(), counts);
        assert!(is_empty(&mut links));
    }
}

/// What is on a link that is removed or has other conditions keeps its delay there, and meets what
/// is in force behind it when it comes there.
#[test]
fn a_packet_leaves_old_links_as_it_would_have() {
    let mut links = links(&[delay(10, Way::Both), delay(5, Way::Both)]);
    send(&mut links, Time::ZERO, 0);
    links.set(Time(MS), 0, None).unwrap();
    links.set(Time(2 * MS), 1, Some(&delay(50, Way::Both))).unwrap();
    send(&mut links, Time(2 * MS), 0);
    assert_eq!(links.stages.len(), 2, "the old first one, and the new second one");
    let at: Vec<u64> = arrivals(&mut links).iter().map(|(at, ..)| *at).collect();
    assert_eq!(at, [52, 60]);
    assert_eq!(links.stages.len(), 1);
}

/// A change at one place leaves the random numbers of another one alone.
#[test]
fn a_change_elsewhere_moves_no_loss() {
    let lossy = || link("loss = [{ bernoulli = { p = \"50%\", direction = \"both\" } }]", 1);
    let fates = |changes: bool| {
        let mut links = links(&[delay(1, Way::Both), lossy()]);
        let arrived = (0..64).map(|_| {
            if changes {
                links.set(Time::ZERO, 0, Some(&delay(1, Way::Both))).unwrap();
            }
            send(&mut links, Time::ZERO, 0);
            arrivals(&mut links).len()
        });
        arrived.collect::<Vec<_>>()
    };
    let expected = fates(false);
    assert_eq!(fates(true), expected);
    let lost = expected.iter().filter(|&&arrived| arrived == 0).count();
    assert!((16..48).contains(&lost), "{expected:?}");
}

#[test]
fn changes_of_idle_links_keep_nothing() {
    let mut links = links(&[delay(1, Way::Both)]);
    for i in 0..1000 {
        links.set(Time(i), 0, Some(&delay(1, Way::Both))).unwrap();
        assert_eq!(links.stages.len(), 1);
    }
    links.set(Time(1000), 0, None).unwrap();
    assert_eq!(links.stages.len(), 0);
}

/// Links in a row each flip a bit of each copy that is made before or on them.
#[test]
fn copies_and_flipped_bits_pass_through_the_row() {
    let twice = || link("duplicate = \"100%\"", 1);
    // With one seed, the second link would flip the first one's bit back.
    let flips = |seed| link("corrupt = \"100%\"", seed);
    let mut links = links(&[twice(), flips(1), twice(), flips(2)]);
    let sent = send(&mut links, Time::ZERO, 0);
    let bits =
        |packet: &[u8]| packet.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
    let arrived = arrivals(&mut links);
    assert_eq!(arrived.len(), 4);
    for (at, host, packet) in arrived {
        assert_eq!((at, host, bits(&packet)), (4, 1, 2));
    }
    assert!(is_empty(&mut links));
}

/// Each packet counts once, whatever links it crosses; those that arrive with a flipped bit are
/// lost, and copies are no packets of a host.
#[test]
fn packets_are_counted_at_the_hosts() {
    for (row, lost) in [
        (vec![], 0),
        (vec![delay(1, Way::Both), delay(1, Way::Both)], 0),
        (vec![link("duplicate = \"100%\"", 1), delay(1, Way::Both)], 0),
        (vec![delay(1, Way::Both), link("corrupt = \"100%\"", 1)], 1),
        (vec![link("duplicate = \"100%\"", 1), link("corrupt = \"100%\"", 1)], 1),
    ] {
        let mut links = links(&row);
        send(&mut links, Time::ZERO, 0);
        let sent = Passed { packets: 1, ..Passed::default() };
        assert_eq!(links.passed(), sent, "it is under way");
        arrivals(&mut links);
        let delivered = 1 - lost;
        // 60 bytes at 100 Gbit/s, and 1 ms, on each link.
        let delay = Span(delivered * row.len() as u64 * (MS + 5));
        assert_eq!(links.passed(), Passed { packets: 1, lost, delivered, delay, ..sent });
    }
}

/// Packets are counted whether the conditions that they met are gone, still empty themselves, or
/// are in force.
#[test]
fn packets_are_counted_also_when_their_links_are_gone() {
    let drop = || link("loss = [{ bernoulli = { p = \"100%\", direction = \"both\" } }]", 1);
    let mut links = links(&[delay(1, Way::Both)]);
    let counted = |links: &Links, now| {
        let Passed { packets, lost, .. } = links.passed();
        ((packets, lost), links.report(now).iter().map(|l| l.counts.packets).sum())
    };
    let passed = |packets: u64, lost: u64| (packets, lost);
    send(&mut links, Time::ZERO, 0);
    assert_eq!(counted(&links, Time::ZERO), (passed(1, 0), 1));
    // The first packet is on its way yet.
    links.set(Time::ZERO, 0, Some(&drop())).unwrap();
    send(&mut links, Time::ZERO, 1);
    assert_eq!(counted(&links, Time::ZERO), (passed(2, 0), 1));
    assert_eq!((arrivals(&mut links).len(), links.stages.len()), (1, 1));
    assert_eq!(counted(&links, Time(MS)), (passed(2, 1), 1));
    links.set(Time(2 * MS), 0, None).unwrap();
    assert_eq!(counted(&links, Time(2 * MS)), (passed(2, 1), 0));
}

/// A condition holds for a share of connections, each drawn by its own seed when it begins, or when
/// the condition comes into force; both directions of one are drawn together. Those that were there
/// move none of those to come. A port that comes again is another connection.
#[test]
fn a_condition_holds_for_a_share_of_connections() {
    let half = |seed| {
        let toxicity = Some("50%".parse().unwrap());
        delay(1, Way::Both).with_seed(seed).holding(toxicity, None)
    };
    // The connections of 64 ports, as far as the condition holds for them.
    let drawn = |links: &Links| -> Vec<u16> {
        (0..64).filter(|&port| links.stages[0].takes(0, Some(port))).collect()
    };
    let begin = |links: &mut Links| {
        (0..64).for_each(|port| links.begin(Time::ZERO, SocketId(port.into()), port));
    };
    let mut after = links(&[half(1)]);
    begin(&mut after);
    let first = drawn(&after);
    let mut rng = ackclock_net::Rng::new(1, "toxicity");
    assert_eq!(first, (0..64).filter(|_| rng.unit() < 0.5).collect::<Vec<u16>>());
    assert!((0..64).all(|p| after.stages[0].takes(1, Some(p)) == first.contains(&p)));
    let mut before = links(&[]);
    begin(&mut before);
    before.set(Time::ZERO, 0, Some(&half(1))).unwrap();
    let mut others = ackclock_net::Rng::new(1, "toxicity of those before");
    assert_eq!(drawn(&before), (0..64).filter(|_| others.unit() < 0.5).collect::<Vec<u16>>());
    begin(&mut before);
    assert_eq!(drawn(&before), first);
    before.set(Time::ZERO, 0, Some(&half(2))).unwrap();
    begin(&mut before);
    assert_ne!(drawn(&before), first);
    begin(&mut after);
    assert_eq!(drawn(&after), (0..64).filter(|_| rng.unit() < 0.5).collect::<Vec<u16>>());
}

/// Packets of connections for which a condition does not hold pass it by.
#[test]
fn other_connections_pass_a_condition_by() {
    for (toxicity, ms) in [("0%", 0), ("100%", 1)] {
        let toxicity = Some(toxicity.parse().unwrap());
        let mut links = links(&[delay(1, Way::Both).holding(toxicity, None)]);
        // Whichever port the host takes.
        (0..=u16::MAX).for_each(|port| links.begin(Time::ZERO, SocketId(port.into()), port));
        send(&mut links, Time::ZERO, 0);
        assert_eq!(arrivals(&mut links)[0].0, ms);
    }
}

/// A connection is to be reset so long after it began, or after the condition came into force. One
/// that has ended is forgotten, and so are all when the condition goes.
#[test]
fn connections_are_reset_in_time() {
    let after = |ms| {
        let time = Some(Duration(Span::from_millis(ms)));
        delay(0, Way::Both).holding(None, time)
    };
    let mut links = links(&[after(10)]);
    links.begin(Time(MS), SocketId(1), 1);
    links.begin(Time(2 * MS), SocketId(2), 2);
    assert_eq!(links.next_reset(), Time(11 * MS));
    assert_eq!(
        (links.poll_reset(Time(11 * MS - 1)), links.poll_reset(Time(11 * MS))),
        (None, Some(SocketId(1)))
    );
    links.end(SocketId(2));
    links.trim(Time(11 * MS));
    assert_eq!(links.next_reset(), Time::NEVER);
    links.begin(Time(12 * MS), SocketId(3), 3);
    links.set(Time(20 * MS), 1, Some(&after(1))).unwrap();
    assert_eq!(links.next_reset(), Time(21 * MS));
    links.set(Time(20 * MS), 1, None).unwrap();
    assert_eq!(links.next_reset(), Time(22 * MS));
}
