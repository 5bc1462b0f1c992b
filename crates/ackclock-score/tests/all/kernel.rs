//! The captures of the kernel's TCP in `captures/`, scored. `make score` takes some hundred fresh
//! ones.

use std::path::{Path, PathBuf};

use ackclock_score::kernel::{KernelScore, Plan, connections, score};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

fn scored() -> KernelScore {
    let [sender, ..] = score(&kept()).expect("captures");
    sender
}

#[test]
fn the_plan_has_sixty_captures_and_each_link_is_sound() {
    let plan = Plan::built_in().expect("kernel.toml");
    assert!(plan.capture.len() >= 60);
    for capture in &plan.capture {
        capture.scenario().unwrap_or_else(|e| panic!("{e}"));
    }
    let mut names: Vec<_> = plan.capture.iter().map(|c| &c.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), plan.capture.len());
}

/// As many retransmissions as the kernel's own counter says.
#[test]
fn retransmissions_are_counted_exactly() {
    let KernelScore { score, mistakes, .. } = scored();
    assert!(score.captures >= 25);
    assert_eq!(score.exact, score.captures, "{mistakes:#?}");
}

#[test]
fn timeouts_differ_from_fast_retransmits() {
    let KernelScore { apart, mistakes, .. } = scored();
    assert!(apart.of_truth("timeout") >= 100 && apart.of_truth("fast_retransmit") >= 100);
    assert!(
        apart.right() * 100 >= apart.all() * 99,
        "{}\n{mistakes:#?}",
        apart.table("timeout or fast")
    );
}

#[test]
fn timeouts_have_their_class() {
    let KernelScore { score, mistakes, .. } = scored();
    assert!(
        score.classes.right() * 100 >= score.classes.all() * 97,
        "{}\n{mistakes:#?}",
        score.table("")
    );
}

#[test]
fn spurious_retransmissions_are_found() {
    let KernelScore { score, mistakes, .. } = scored();
    let (precision, recall) = (score.spurious.precision("yes"), score.spurious.recall("yes"));
    assert!(score.spurious.of_truth("yes") >= 100);
    assert!(
        precision >= Some(95.0) && recall >= Some(90.0),
        "{precision:?} {recall:?}\n{mistakes:#?}"
    );
}

/// Of a spurious retransmission that was lost nobody reports anything, but for an echo of an older
/// timestamp.
#[test]
fn what_was_lost_is_reported_by_nobody() {
    let KernelScore { score, .. } = scored();
    let counts = |matrix: &ackclock_score::Matrix| matrix.of_truth("yes");
    assert_eq!((counts(&score.spurious), counts(&score.spurious_unreported)), (225, 92));
}

/// The kernel says with CWR, once each, that it has lowered its window: for a mark, or for a loss.
/// Two of the recoveries began while CWR was under way, and lowered it no further
/// (`tcp_enter_recovery`).
#[test]
fn reductions_for_marks_are_those_that_the_kernel_made() {
    for (name, recoveries, in_cwr) in [("marks", 0, 0), ("marks-and-losses", 5, 2)] {
        let path = kept().join(format!("{name}.sender.pcap.zst"));
        let found = connections(&path, None).expect("a capture");
        let [connection] = &found[..] else { panic!("{name}: {} connections", found.len()) };
        let (ecn, flow) = (&connection.from_client.ecn, &connection.from_client);
        assert_eq!(ecn.negotiated, Some(true), "{name}");
        assert!(!ecn.reductions.is_empty() && ecn.echoes > 0, "{name}: {ecn:?}");
        assert_eq!((flow.recoveries.len(), flow.timeouts.len()), (recoveries, 0), "{name}");
        let lowered = ecn.reductions.len() + recoveries - in_cwr;
        assert_eq!(lowered as u64, ecn.cwr, "{name}: {ecn:?}");
    }
}

#[test]
fn ways_of_the_kernel_are_named_rightly() {
    let KernelScore { score, mistakes, .. } = scored();
    assert_eq!(score.ways.right, score.ways.named, "{mistakes:#?}");
    // Least timeouts are seen where a capture is long enough, reductions too.
    let least = [1; 6];
    assert!(score.ways.named.iter().zip(least).all(|(n, least)| *n >= least), "{:?}", score.ways);
}

/// What TCP_INFO says of a receiver that does not read, and of a path with losses.
#[test]
fn shares_agree_with_the_kernel() {
    let KernelScore { told, mistakes, .. } = scored();
    assert!(told.connections >= 3);
    assert_eq!(
        (told.idle, told.receive_window),
        (told.connections, told.connections),
        "{mistakes:#?}"
    );
}

/// Behind a delay spike what the timer sent is seen after the ACKs of what it was for; of tails
/// that are lost before the capture the numbers of packets tell.
#[test]
fn captures_away_from_the_sender_are_explained() {
    let [_, middle, receiver] = score(&kept()).expect("captures");
    for KernelScore { score, mistakes, .. } in [middle, receiver] {
        let kinds = &score.kinds;
        assert_eq!((score.captures, score.places.right()), (3, score.places.all()));
        assert_eq!(kinds.of_truth("slow_start"), 94);
        assert!(kinds.count("slow_start", "slow_start") >= 90, "{mistakes:#?}");
        assert_eq!(kinds.count("slow_start", "none"), 0, "{mistakes:#?}");
    }
}
