//! Every fate of windows of 1 to 6, with all presets.

use std::collections::BTreeSet;

use ackclock_fates::{After, FIRST, MSS, Path, Schedule, Space, Sweep, Tally};
use ackclock_run::Progress;
use ackclock_tcp::{Event, EventKind, Registry};

fn presets() -> Vec<String> {
    Registry::default().presets().iter().map(|preset| preset.name.to_string()).collect()
}

fn tallies(space: &Space, strategies: &[String]) -> Vec<(String, Tally)> {
    let registry = Registry::default();
    let (progress, stop) = (Progress::new(0), || false);
    let mut sweep = Sweep::new(&registry, space, 0, &progress, &stop);
    let one = |name: &String| {
        let composition = registry.parse(name).unwrap();
        (name.clone(), sweep.strategy(&composition).unwrap().unwrap())
    };
    strategies.iter().map(one).collect()
}

fn losses(window: u32, after: After, strategy: &str) -> Tally {
    let space = Space::losses(after.connection(window, MSS));
    tallies(&space, &[strategy.into()]).remove(0).1
}

/// One segment draws no duplicate, and cwnd lets nothing follow it: the timer alone repairs its
/// loss. A tail loss probe does so before the timer, once at the end of a transfer. Else the probe
/// is new data, whose SACK shows the loss, and with `rack-tlp` what goes out after the
/// retransmission shows its loss. With a window of one, `linux` sends nothing beside the
/// retransmission.
#[test]
fn a_window_of_one() {
    for (strategy, end, data) in
        [("newreno", 2, 2), ("sack", 2, 2), ("rack-tlp", 1, 0), ("linux", 1, 1)]
    {
        for (after, timed_out) in [(After::End, end), (After::Data, data)] {
            let t = losses(1, after, strategy);
            assert_eq!((t.runs, t.timed_out.runs), (3, timed_out), "{strategy} {after:?}");
        }
    }
    // Of the two timeouts that follow each other, the second comes after twice the time. The oracle
    // knows of each loss after a round trip: 1 s + 2 s less 0.2 s.
    let t = losses(1, After::End, "sack");
    assert_eq!(t.over_oracle.worst, "20:2");
    assert!((t.over_oracle.worst_s - 2.8).abs() < 0.01, "{}", t.over_oracle.worst_s);
    // The paper's condition: alone, the segment is all that is sent in its round trip.
    assert_eq!((t.alive, t.alive_timed_out.runs), (1, 0));
}

/// Two segments at the end draw one duplicate at most. So all but the case without a loss time out,
/// unless a probe or RACK's timer finds the loss: what these retransmit may not be lost again. That
/// leaves five cases, those with a segment that is lost twice.
#[test]
fn a_window_of_two_at_the_end() {
    for (strategy, timed_out) in
        [("tahoe", 8), ("newreno", 8), ("sack", 8), ("prr", 8), ("rack-tlp", 5), ("linux", 5)]
    {
        let t = losses(2, After::End, strategy);
        assert_eq!((t.runs, t.timed_out.runs), (9, timed_out), "{strategy}");
    }
    // The smallest of them: either segment, or for a probe either of them twice.
    assert_eq!(losses(2, After::End, "sack").minimal.smallest, ["20", "21"]);
    assert_eq!(losses(2, After::End, "linux").minimal.smallest, ["20:2", "21:2"]);
    // Of the cases of `sack`, all are alive in which one of both arrives.
    let t = losses(2, After::End, "sack");
    assert_eq!((t.alive, t.alive_timed_out.runs), (5, 4));
}

#[test]
fn every_transfer_completes() {
    for window in 1..=6 {
        for after in After::ALL {
            let space = Space::losses(after.connection(window, MSS));
            for (strategy, t) in tallies(&space, &presets()) {
                let of = format!("{strategy}, window {window}, {after:?}");
                assert_eq!(t.runs, 3u64.pow(window), "{of}");
                assert_eq!(t.incomplete.runs, 0, "{of}");
                assert!(t.alive_timed_out.runs <= t.timed_out.runs.min(t.alive), "{of}");
                assert!(t.minimal.cases <= t.timed_out.runs, "{of}");
                // The condition holds of the case without a loss at least.
                assert!(t.alive > 0, "{of}");
                if strategy.starts_with("oracle") {
                    assert_eq!((t.timed_out.runs, t.spurious.runs), (0, 0), "{of}");
                }
            }
        }
    }
}

#[test]
fn every_transfer_completes_with_lost_acks_and_lateness() {
    for after in After::ALL {
        let space = Space::disturbed(after.connection(3, MSS));
        for (strategy, t) in tallies(&space, &presets()) {
            assert_eq!((t.runs, t.incomplete.runs), ((27 + 3 * 9) * 22, 0), "{strategy} {after:?}");
        }
    }
}

/// Where new data follows and a packet is kept alive for each round trip, RACK needs no timeout.
#[test]
fn the_condition_of_the_paper_holds_of_rack() {
    for window in 1..=6 {
        for strategy in ["rack-tlp", "linux", "last-mile"] {
            let t = losses(window, After::Data, strategy);
            assert_eq!(t.alive_timed_out.smallest, None, "{strategy}, window {window}");
        }
    }
}

/// What a strategy does is the same with longer segments, which take as long on this path. Only
/// products are larger: in a window of 24 segments of 9,000 bytes PRR multiplies 10 segments by 12,
/// which is more than 32 bits hold. BBR goes by bytes a second, of which its bundles depend.
#[test]
fn segments_count_and_not_bytes() {
    for after in After::ALL {
        let presets: Vec<_> =
            presets().into_iter().filter(|name| !name.starts_with("bbr")).collect();
        let of = |mss| tallies(&Space::losses(after.connection(4, mss)), &presets);
        assert_eq!(of(MSS), of(9000), "{after:?}");
    }
    let registry = Registry::default();
    let (mut path, mut schedule) = (Path::default(), Schedule::default());
    for strategy in ["prr", "newreno+prr", "sack+prr-crb", "rack-tlp"] {
        let composition = registry.parse(strategy).unwrap();
        for lost in FIRST..FIRST + 24 {
            schedule.clear();
            schedule.lose(lost, 1);
            // What goes out until recovery ends: later, growth by parts of a segment is rounded.
            let mut of = |mss| {
                path.run(After::Data.connection(24, mss), &composition, &schedule, true);
                let left = |kind| matches!(kind, EventKind::RecoveryLeft { .. });
                let sent = |e: &Event| match e.kind {
                    EventKind::Sent { seq, .. } => Some((e.at, seq / u64::from(mss))),
                    _ => None,
                };
                let events = path.events.iter().take_while(|e| !left(e.kind));
                events.filter_map(sent).collect::<Vec<_>>()
            };
            assert_eq!(of(MSS), of(9000), "{strategy}: {lost}");
        }
    }
}

/// PRR sends no more than what was delivered allows, in the proportion of ssthresh to what was
/// outstanding. So with new data to send it is never ahead of the oracle, which knows more.
#[test]
fn prr_is_not_ahead_of_the_oracle() {
    for window in 1..=6 {
        let t = losses(window, After::Data, "prr");
        assert_eq!((t.over_oracle.earlier, t.spurious_alone.runs), (0, 0), "window {window}");
    }
}

/// RFC 9937, by hand: of 12 outstanding segments one is lost, and the third SACK begins recovery
/// with the retransmission. RecoverFS is 10, since two had been SACKed before, and ssthresh is 6.
/// While the pipe is above 6, `6/10 * delivered - 1` is less than a segment: after 3 delivered it
/// is 0.8. With the fourth the pipe is 6, and from then on each that is delivered releases one.
#[test]
fn prr_takes_recover_fs_from_what_is_outstanding() {
    let composition = Registry::default().parse("prr").unwrap();
    let (mut path, mut schedule) = (Path::default(), Schedule::default());
    for lost in FIRST..FIRST + 12 {
        schedule.clear();
        schedule.lose(lost, 1);
        path.run(After::Data.connection(12, MSS), &composition, &schedule, true);
        let (mut recovering, mut delivered, mut sent) = (false, 0, Vec::new());
        for event in &path.events {
            match event.kind {
                EventKind::Acked { newly_sacked, .. } => {
                    delivered = if recovering { delivered } else { 0 } + newly_sacked / 1000;
                }
                EventKind::RecoveryEntered { .. } => recovering = true,
                EventKind::RecoveryLeft { .. } => recovering = false,
                EventKind::Sent { .. } if recovering => sent.push(delivered),
                _ => {}
            }
        }
        assert_eq!(sent, [1, 5, 6, 7, 8, 9], "{lost}");
    }
}

/// RFC 6937 section 4: with PRR-CRB what is sent in a recovery is no more than what is delivered,
/// "under all conditions and sequences of events". What is delivered is counted here from the
/// acknowledgment numbers and SACK blocks, each segment once.
#[test]
fn prr_crb_conserves_packets() {
    let composition = Registry::default().parse("sack+prr-crb").unwrap();
    let (mut path, mut schedule) = (Path::default(), Schedule::default());
    for after in After::ALL {
        let space = Space::losses(after.connection(8, MSS));
        let mut tight = 0;
        for case in (0..space.numbers()).filter_map(|number| space.case(number)) {
            case.schedule(&mut schedule);
            path.run(space.connection, &composition, &schedule, true);
            let (mut known, mut delivered, mut sent) = (BTreeSet::new(), 0, 0);
            let mut recovering = false;
            for event in &path.events {
                match event.kind {
                    EventKind::Acked { ack, sack, sacks, .. } => {
                        let ranges = sack.iter().take(sacks.into());
                        let ranges = ranges.copied().chain([(0, ack)]);
                        let held = ranges.flat_map(|(a, b)| a / 1000..b / 1000);
                        let before = known.len();
                        known.extend(held);
                        // Of a recovery, the ACK that begins it counts.
                        delivered = if recovering { delivered } else { 0 } + known.len() - before;
                    }
                    EventKind::RecoveryEntered { .. } => (recovering, sent) = (true, 0),
                    EventKind::RecoveryLeft { .. } => recovering = false,
                    EventKind::Sent { .. } if recovering => {
                        sent += 1;
                        assert!(sent <= delivered, "{case}, {after:?}");
                        tight += u32::from(sent == delivered);
                    }
                    _ => {}
                }
            }
        }
        // The bound binds.
        assert!(tight > 0);
    }
}
