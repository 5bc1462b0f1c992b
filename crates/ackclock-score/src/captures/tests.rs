use ackclock_tcp::Span;
use ackclock_trace::{Ecn, Limit};

use super::{Run, explained, from_sender, written};
use crate::places::PLACES;

/// A queue of CoDel that marks, between the middle and the receiver.
fn scenario(strategy: &str, handshake: bool, more: &str) -> String {
    format!(
        "duration = \"20s\"\n[tcp]\necn = true\nhandshake = {handshake}\n\
         initial_ssthresh = \"40seg\"\n\
         [[link]]\nfrom = \"sender\"\nto = \"router\"\nrate = \"100mbit\"\ndelay = \"5ms\"\n\
         [[link]]\nfrom = \"router\"\nto = \"receiver\"\nrate = \"10mbit\"\ndelay = \"15ms\"\n\
         queue = {{ codel = {{ ecn = true }} }}\n{more}\
         [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"{strategy}\"\n\
         source = {{ bytes = \"8mb\" }}\n"
    )
}

/// What a capture at each place says of the sender's marks, how many there were, and how often the
/// sender says that it answered.
fn found(text: &str) -> ([Ecn; 3], u64, u64, u64) {
    let run = Run::of(text, 1).unwrap();
    let all = [0, 1, 2].map(|place| {
        let file = written(&run.simulation, &run.recording.seen[place], PLACES[place]).unwrap();
        let connections = explained(&file).unwrap();
        assert_eq!(connections.len(), 1);
        from_sender(&connections[0]).0.ecn.clone()
    });
    let (network, flow) = (&run.simulation.network, run.simulation.flows[0].id);
    let links = run.simulation.links.iter().map(|link| network.link_report(link.id).unwrap());
    let marked = links.map(|link| link.marked).sum();
    let stats = network.flow_report(flow).unwrap().stats;
    (all, marked, stats.ecn_reductions, stats.ecn_echoes)
}

/// Each mark is seen behind the queue and none before it, and the windows lowered for them are
/// counted exactly, from each place.
#[test]
fn marks_and_reductions_are_counted_at_each_place() {
    for strategy in ["reno", "newreno", "sack", "prr", "rack-tlp", "linux"] {
        for handshake in [false, true] {
            let ([sender, middle, receiver], marked, reductions, echoes) =
                found(&scenario(strategy, handshake, ""));
            let what = format!("{strategy}, handshake {handshake}");
            assert!(marked > 3 && reductions > 3, "{what}: {marked} marks, {reductions}");
            for (ecn, seen) in [(&sender, 0), (&middle, 0), (&receiver, marked)] {
                let what = format!("{what}, {seen} of {marked} marks seen");
                assert_eq!((ecn.negotiated, ecn.marked), (Some(true), seen), "{what}");
                assert_eq!(ecn.reductions.len() as u64, reductions, "{what}");
                assert_eq!((ecn.echoes, ecn.cwr), (echoes, reductions), "{what}");
                assert_eq!(ecn.capable, sender.capable, "{what}");
            }
        }
    }
}

/// Beside losses of the same window a mark lowers nothing, which a capture at the sender shows.
#[test]
fn reductions_beside_losses() {
    for strategy in ["newreno", "sack", "prr"] {
        let loss = "loss = [{ bernoulli = { p = \"0.03%\" } }]\n";
        let ([sender, ..], _, reductions, _) = found(&scenario(strategy, true, loss));
        assert!(reductions > 3, "{strategy}: {reductions}");
        assert_eq!(sender.reductions.len() as u64, reductions, "{strategy}");
    }
}

/// A capture that a lost first segment did not come to begins with its retransmission: the time
/// that the timer took is not in it, but at the sender it is all.
#[test]
fn lifetimes_begin_where_the_capture_does() {
    let text = |lost: &str| {
        format!(
            "duration = \"20s\"\n[tcp]\nmin_rto = \"1s\"\nhandshake = false\n\
             [[link]]\nfrom = \"sender\"\nto = \"router\"\nrate = \"100mbit\"\ndelay = \"5ms\"\n\
             {}[[link]]\nfrom = \"router\"\nto = \"receiver\"\nrate = \"100mbit\"\ndelay = \"5ms\"\n\
             {}[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\nstrategy = \"newreno\"\n\
             source = {{ segments = 1 }}\n",
            if lost == "before" { "loss = [{ drop = { segments = [0] } }]\n" } else { "" },
            if lost == "behind" { "loss = [{ drop = { segments = [0] } }]\n" } else { "" },
        )
    };
    for (lost, waited) in [("before", [true, false, false]), ("behind", [true, true, false])] {
        let run = Run::of(&text(lost), 1).unwrap();
        let found = [0, 1, 2].map(|place| {
            let lifetime = run.recording.lifetime(0, place).unwrap();
            lifetime.of(Limit::Recovery) >= Span::from_secs(1)
        });
        assert_eq!(found, waited, "lost {lost} the middle");
    }
}
