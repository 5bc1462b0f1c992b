//! Pairs of the kernel's connections. Takes root, /dev/net/tun, tcpdump and ip; without them
//! nothing is tested here but what is drawn.

use std::path::Path;

use ackclock_score::kernel::pairs::{Pair, Way};

#[test]
fn pairs_lose_what_they_send() {
    let pairs: Vec<Pair> = (0..500).map(Pair::drawn).collect();
    for pair in &pairs {
        let (lost, again) = &pair.lost;
        assert!(lost.is_sorted_by(|a, b| a < b) && lost.iter().all(|n| *n < pair.segments));
        assert!(again.iter().all(|(segment, _)| lost.contains(segment)));
    }
    let tails = pairs.iter().filter(|p| p.lost.0.last() == Some(&(p.segments - 1))).count();
    assert!((200..450).contains(&tails), "{tails}");
    assert_eq!(pairs.iter().filter(|p| p.way == Way::Sack).count(), 250);
}

/// A probe repairs a lost tail in the place of the timer, also one that SACK brings. That is said
/// of the connections without, and true of those with. A tail that is lost again with its probe
/// times out either way; that cannot always be told. (Of a single segment it would not be known
/// what sent it again.)
#[test]
fn said_and_true() {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/net/tun").exists() {
        eprintln!("left out: this takes root and /dev/net/tun");
        return;
    }
    let directory =
        std::env::temp_dir().join(format!("ackclock-pairs-test-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let cases = [
        (Way::Probes, vec![8, 9], vec![], true),
        (Way::Probes, vec![8, 9], vec![(9, 1)], false),
        (Way::Sack, vec![8, 9], vec![], true),
    ];
    for (seed, (way, lost, again, avoided)) in (0..).zip(cases) {
        let (rate, delay, lost) = ("10mbit", "20ms", (lost, again));
        let pair = Pair { seed, way, segments: 10, lost, rate, delay };
        let answers = pair.answers(&directory, 240 + seed as u8).unwrap();
        if answers.told == 0 && !avoided {
            continue;
        }
        let [answer] = &answers.answers[..] else { panic!("{pair:?}: {answers:?}") };
        assert_eq!(answer.avoided, [avoided; 2], "{pair:?}: {answer:?}");
        if avoided {
            let [said, is] = answer.saved;
            assert!(is > 0.05 && (said - is).abs() < 0.1, "{pair:?}: {answer:?}");
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
}
