//! Recording the kernel. Takes root, /dev/net/tun, ip and tc; without them nothing is tested here
//! but what is drawn.

use std::path::Path;

use ackclock_replay::{CaState, Sent, Vector, What, read, write};
use ackclock_score::linux::receive::{Script, differences, receive};
use ackclock_score::linux::{FAMILIES, Scenario, record_all, shrink};

const MSS: u64 = 1460;

fn root() -> bool {
    let root = rustix::process::geteuid().is_root() && Path::new("/dev/net/tun").exists();
    if !root {
        eprintln!("left out: this takes root and /dev/net/tun");
    }
    root
}

/// 20 ms of a round trip at 50 Mbit/s, and so many segments.
fn plain(segments: u64) -> Scenario {
    Scenario {
        family: "plain".into(),
        congestion: "reno".into(),
        mss: MSS as u16,
        sack: true,
        dsack: true,
        buffer: 1 << 20,
        rate: 50_000,
        delay: 10_000,
        queue: 100,
        writes: vec![(0, segments * MSS)],
        ..Scenario::default()
    }
}

fn record(scenario: &Scenario) -> Vector {
    record_all(std::slice::from_ref(scenario), 1).unwrap().remove(0).unwrap()
}

fn sent(number: u64, transmission: u32) -> Sent {
    Sent { position: number * MSS, len: MSS as u32, transmission, push: false, cwr: false }
}

/// What is acknowledged in segments, SACK blocks, and the segments that answer it. A timer
/// acknowledges nothing.
type Answered = (Option<u64>, Vec<(u64, u64)>, Vec<Sent>);

fn course(vector: &Vector) -> Vec<Answered> {
    let of = |step: &ackclock_replay::Step| match &step.what {
        What::Ack(ack) => {
            let blocks = ack.sack.iter().map(|(left, right)| (left / MSS, right / MSS));
            (Some(ack.to / MSS), blocks.collect(), step.sent.clone())
        }
        _ => (None, vec![], step.sent.clone()),
    };
    vector.steps.iter().map(of).collect()
}

/// With offload segments leave in pairs, of which the second one has PSH.
#[test]
fn bundles_are_recorded_with_psh() {
    if !root() {
        return;
    }
    let vector = record(&Scenario { offload: true, ..plain(30) });
    assert!(vector.header.offload);
    let first: Vec<(u64, bool)> =
        vector.steps[0].sent.iter().map(|s| (s.position / MSS, s.push)).collect();
    let pairs: Vec<(u64, bool)> = (0..10).map(|n| (n, n % 2 == 1)).collect();
    assert_eq!(first, pairs);
}

#[test]
fn slow_start_is_recorded_segment_by_segment() {
    if !root() {
        return;
    }
    let vector = record(&plain(14));
    let header = &vector.header;
    assert_eq!((header.mss, header.initial_window, header.hz), (1460, 10, 250));
    let round_trip = header.round_trip.expect("the SYN went once");
    assert!((20_000..25_000).contains(&round_trip), "{round_trip}");
    let mut expected = vec![(None, vec![], (0..10).map(|n| sent(n, 1)).collect())];
    expected.push((Some(1), vec![], vec![sent(10, 1), sent(11, 1)]));
    expected.push((Some(2), vec![], vec![sent(12, 1), sent(13, 1)]));
    expected.extend((3..=14).map(|n| (Some(n), vec![], vec![])));
    assert_eq!(course(&vector), expected);
    assert_eq!(vector.steps[1].info.cwnd, 11);
    // What is kept is what was recorded.
    let again = read("v", &write(std::slice::from_ref(&vector))).unwrap();
    assert_eq!(again, [vector]);
}

/// The receiver echoes the mark of segment 3 until CWR comes, which is on the first new segment
/// after the echo: 16, as ssthresh 7 of cwnd 14 lets one go (`tcp_cwnd_reduction`).
#[test]
fn marks_are_echoed_and_cwr_is_recorded() {
    if !root() {
        return;
    }
    let vector = record(&Scenario { ecn: true, mark: vec![(3, 1)], ..plain(30) });
    assert!(vector.header.ecn);
    let echoes: Vec<u64> = vector
        .steps
        .iter()
        .filter_map(|step| match &step.what {
            What::Ack(ack) if ack.ece => Some(ack.to / MSS),
            _ => None,
        })
        .collect();
    assert_eq!(echoes, (4..=16).collect::<Vec<_>>());
    let cwr: Vec<u64> = vector
        .steps
        .iter()
        .flat_map(|step| step.sent.iter().filter(|s| s.cwr).map(|s| s.position / MSS))
        .collect();
    assert_eq!(cwr, [16]);
    let reduced = vector.steps.iter().find(|s| s.info.state == CaState::Cwr).unwrap();
    assert!(matches!(&reduced.what, What::Ack(ack) if ack.to == 4 * MSS));
    assert_eq!(reduced.info.ssthresh, 6);
    // Without ECN at the receiver nothing is capable, and nothing is marked.
    let vector = record(&Scenario { mark: vec![(3, 1)], ..plain(30) });
    assert!(!vector.header.ecn && vector.steps.iter().all(|s| s.info.state == CaState::Open));
}

#[test]
fn what_a_timer_sends_is_no_answer_to_an_ack() {
    if !root() {
        return;
    }
    let vector = record(&Scenario { drop: vec![(4, 1)], ..plain(5) });
    let expected = [
        (None, vec![], (0..5).map(|n| sent(n, 1)).collect::<Vec<_>>()),
        (Some(1), vec![], vec![]),
        (Some(2), vec![], vec![]),
        (Some(3), vec![], vec![]),
        (Some(4), vec![], vec![]),
        // The tail loss probe.
        (None, vec![], vec![sent(4, 2)]),
        (Some(5), vec![], vec![]),
    ];
    assert_eq!(course(&vector), expected);
    assert_eq!(vector.steps[5].what, What::Timer);
}

#[test]
fn losses_late_acks_and_settings_do_what_they_say() {
    if !root() {
        return;
    }
    let vector = record(&Scenario { drop: vec![(2, 1)], ..plain(8) });
    let fast = course(&vector)
        .into_iter()
        .find(|(.., sent)| !sent.is_empty() && sent[0].transmission == 2);
    assert_eq!(fast, Some((Some(2), vec![(3, 6)], vec![sent(2, 2)])));
    let recovery = vector.steps.iter().find(|s| s.info.state == CaState::Recovery);
    assert_eq!(recovery.map(|s| s.info.ssthresh), Some(6));

    let settings = [("tcp_early_retrans".to_string(), 0)].into();
    let scenario = Scenario { drop: vec![(4, 1)], settings, ..plain(5) };
    let vector = record(&scenario);
    let timer = vector.steps.iter().find(|s| s.what == What::Timer).unwrap();
    assert_eq!(timer.info.state, CaState::Loss);
    assert_eq!(vector.header.setting("tcp_early_retrans", 3), 0);

    let scenario = Scenario { late_acks: vec![(0, 5)], drop_acks: vec![3], ..plain(5) };
    let acks: Vec<u64> = course(&record(&scenario)).into_iter().filter_map(|c| c.0).collect();
    assert_eq!(acks, [2, 3, 5]);
}

#[test]
fn a_scenario_shrinks_to_what_matters() {
    if !root() {
        return;
    }
    let scenario = Scenario {
        drop: vec![(3, 1), (9, 1), (12, 1), (12, 2)],
        late: vec![(20, 1, 4)],
        drop_acks: vec![0, 1],
        ..plain(24)
    };
    let again = |vector: &Vector| vector.steps.iter().any(|step| step.sent.contains(&sent(9, 2)));
    let (shrunk, vector) = shrink(&scenario, 16, again).unwrap().unwrap();
    assert!(again(&vector));
    assert_eq!(shrunk.drop, [(9, 1)]);
    assert!(shrunk.late.is_empty() && shrunk.drop_acks.is_empty());
    assert_eq!(shrunk.bytes(), 10 * MSS);
    assert!(shrink(&plain(5), 1, again).unwrap().is_none());
}

#[test]
fn every_family_draws_what_can_happen() {
    for seed in 0..500 {
        for family in FAMILIES {
            let s = Scenario::draw(family, seed);
            assert_eq!(s, Scenario::draw(family, seed));
            let segments = s.bytes().div_ceil(s.payload());
            assert!((20..=304).contains(&segments), "{family} {seed}: {segments} segments");
            assert!(s.drop.iter().all(|(n, t)| *n < 2 * segments && *t >= 1), "{family} {seed}");
            assert!(s.writes.is_sorted_by_key(|(at, _)| *at), "{family} {seed}");
            assert!(s.writes.iter().all(|(_, bytes)| *bytes > 0), "{family} {seed}");
            assert!(s.buffer >= 4 * s.payload(), "{family} {seed}");
        }
    }
    // What each of these is about, in nearly all seeds: lists at random may stay empty.
    type Filled = fn(&Scenario) -> bool;
    let retransmission = |s: &Scenario| s.drop.iter().any(|(_, t)| *t > 1);
    let filled: [(&str, Filled); 16] = [
        ("application-limited", |s| s.writes.len() > 2),
        ("bursts", |s| s.drop.windows(2).any(|w| w[1].0 == w[0].0 + 1)),
        ("congestion", |s| s.queue <= 15),
        ("d-sack", |s| !s.twice.is_empty() && !s.late.is_empty()),
        ("delay-spikes", |s| !s.holds.is_empty()),
        ("idle", |s| s.writes.len() > 1),
        ("late-acks", |s| !s.late_acks.is_empty()),
        ("late-segments", |s| !s.late.is_empty() && s.twice.is_empty()),
        ("long-transfers", |s| s.bytes() >= 150 * s.payload() && s.queue <= 40),
        ("lost-acks", |s| !s.drop_acks.is_empty()),
        ("lost-retransmissions", retransmission),
        ("random-losses", |s| !s.drop.is_empty()),
        ("receive-window", |s| s.buffer <= 24 * s.payload()),
        ("tails", |s| s.drop.iter().any(|(n, _)| (n + 1) * s.payload() == s.bytes())),
        ("timeouts", retransmission),
        ("trains", |s| s.drop.len() > 1),
    ];
    for (family, filled) in filled {
        assert!(FAMILIES.contains(&family), "{family}");
        let count = (0..500).filter(|seed| filled(&Scenario::draw(family, *seed))).count();
        assert!(count > 450, "{family}: {count} of 500");
    }
}

/// The kernel as a receiver acknowledges at once, or by a timer of the same time, where ours does.
#[test]
fn our_receiver_acknowledges_as_the_kernel_does() {
    if !root() {
        return;
    }
    for seed in 1..=12 {
        let heard = receive(&Script::draw(seed)).unwrap();
        assert_eq!(differences(&heard), [], "seed {seed}: {heard:?}");
    }
}

/// So it does where segments are missing, with the same blocks: the first three ACKs for a gap
/// leave at once, later ones together, unless there are more than two blocks.
#[test]
fn our_receiver_reports_gaps_as_the_kernel_does() {
    if !root() {
        return;
    }
    // A timer of a millisecond may meet a segment: then it may be either.
    let times = 0..3;
    for seed in 1..=12 {
        let found = |_| differences(&receive(&Script::with_gaps(seed)).unwrap());
        let found: Vec<_> =
            times.clone().map(found).take_while(|found| !found.is_empty()).collect();
        assert!(found.len() < times.len(), "seed {seed}: {found:?}");
    }
}
