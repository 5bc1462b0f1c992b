//! Single fates: against drop lists, and to the microsecond.

use ackclock_tcp::{Event, EventKind, Registry, Sighting, Time};
use proptest::prelude::*;

use super::{BASE, error};
use crate::scenario::{BuildOptions, Scenario, Simulation};
use crate::{FlowId, Place, Recorder};

fn built(text: &str) -> Simulation {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(text, &registry).unwrap_or_else(|e| panic!("{e}\n{text}"));
    scenario.build(&BuildOptions::new(&registry, 1).events(true)).unwrap()
}

/// Everything that happens.
#[derive(Default, PartialEq, Debug)]
struct Log(Vec<(FlowId, Event)>, Vec<(FlowId, Place, Sighting)>);

impl Recorder for Log {
    fn event(&mut self, flow: FlowId, event: &Event) {
        self.0.push((flow, *event));
    }

    fn packet(&mut self, flow: FlowId, place: Place, seen: &Sighting) {
        self.1.push((flow, place, *seen));
    }
}

fn log(text: &str) -> (Log, Simulation) {
    let mut simulation = built(text);
    let mut log = Log::default();
    simulation.run(&mut log).unwrap();
    (log, simulation)
}

/// Two flows over a link with random losses and jitter, and what else it does.
fn two_flows(more: &str, handshake: bool) -> String {
    format!(
        "duration = \"30s\"\ntcp = {{ handshake = {handshake} }}\n\
         [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"2mbit\"\ndelay = \"10ms\"\njitter = \"2ms\"\n\
         queue = {{ droptail = {{ packets = 8 }} }}\n{more}\n\
         [[flow]]\nname = \"f{{}}\"\nfrom = \"a\"\nto = \"b\"\ncount = 2\nstrategy = \"sack\"\n\
         source = {{ segments = 60 }}\n"
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Fates of transmissions give the run that a drop list of them gives, to the last event, and
    /// with the same random numbers; with lookahead as without it.
    #[test]
    fn fates_that_lose_are_a_drop_list(
        first in prop::collection::btree_set(0_u64..60, 0..6),
        again in prop::collection::btree_set((0_u64..20, 1_u32..3), 0..4),
        flow in prop::option::of(0..2),
        handshake: bool,
    ) {
        prop_assume!(!first.is_empty() || !again.is_empty());
        let random = "{ bernoulli = { p = \"2%\", direction = \"both\" } }";
        let of = flow.map_or(String::new(), |flow| format!(", flow = \"f{flow}\""));
        let segments: Vec<String> = first.iter().map(u64::to_string).collect();
        let retransmissions: Vec<String> =
            again.iter().map(|(segment, nth)| format!("\"{segment}:{nth}\"")).collect();
        let list = format!(
            "drop = {{ segments = [{}], retransmissions = [{}]{of} }}",
            segments.join(", "),
            retransmissions.join(", ")
        );
        let firsts = first.iter().map(|segment| format!("segment = {segment}"));
        let agains = again
            .iter()
            .map(|(segment, nth)| format!("segment = {segment}, transmission = {}", nth + 1));
        let fates: Vec<String> =
            firsts.chain(agains).map(|which| format!("{{ {which}, lose = true{of} }}")).collect();
        // The list comes second, as what a fate takes no model sees. Of none of both, so that the
        // random numbers of the second model have the same name.
        let listed = two_flows(
            &format!("loss = [{{ {list} }}, {random}]"), handshake);
        let never = "{ drop = { segments = [1000000] } }";
        let fated = two_flows(
            &format!("fate = [{}]\nloss = [{never}, {random}]", fates.join(", ")), handshake);
        let (expected, _) = log(&listed);
        let (found, recorded) = log(&fated);
        prop_assert_eq!(&found, &expected);
        let mut ahead = built(&fated);
        ahead.run(&mut ()).unwrap();
        for flow in &recorded.flows {
            let report = |run: &Simulation| run.network.flow_report(flow.id);
            prop_assert_eq!(report(&ahead), report(&recorded));
        }
    }
}

/// When, in microseconds, and which segment it is, or which one an ACK expects.
type Arrival = (u64, u32);

/// What arrived at the receiver and at the sender.
fn arrivals(text: &str) -> (Vec<Arrival>, Vec<Arrival>) {
    let (log, _) = log(text);
    let at = |place: Place, to_receiver: bool| -> Vec<Arrival> {
        let there = |&&(_, p, seen): &&(FlowId, Place, Sighting)| {
            p == place && seen.to_receiver == to_receiver
        };
        let what = |&(_, _, seen): &(FlowId, Place, Sighting)| {
            let Sighting { at, header, .. } = seen;
            let number = if to_receiver { header.seq } else { header.ack };
            (at.0 / 1000, number.0.saturating_sub(1) / 1000)
        };
        log.1.iter().filter(there).map(what).collect()
    };
    (at(Place::Receiver, true), at(Place::Sender, false))
}

/// 8 Mb/s and packets as long as their payload: a segment takes 1 ms, an ACK nothing worth a
/// microsecond at 8 Gb/s.
fn four_segments(fates: &str) -> String {
    format!(
        "duration = \"10s\"\n\
         tcp = {{ mss = 1000, header = 0, count_options = false, delayed_ack = \"off\", \
         initial_window = 4 }}\n\
         [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"8mbit\"\ndelay = \"10ms\"\nduplex = false\n\
         {fates}\n\
         [[link]]\nfrom = \"b\"\nto = \"a\"\nrate = \"8gbit\"\ndelay = \"10ms\"\nduplex = false\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nstrategy = \"newreno\"\nsource = {{ segments = 4 }}\n"
    )
}

#[test]
fn late_segments_are_overtaken() {
    let (segments, acks) = arrivals(&four_segments(""));
    assert_eq!(segments, [(11_000, 0), (12_000, 1), (13_000, 2), (14_000, 3)]);
    assert_eq!(acks, [(21_000, 1), (22_000, 2), (23_000, 3), (24_000, 4)]);
    // Segment 0 after segment 1, which is late as well but not as much.
    let fates = "fate = [{ segment = 0, late = \"2.5ms\" }, { segment = 1, late = \"1.2ms\" }]";
    let (segments, acks) = arrivals(&four_segments(fates));
    assert_eq!(segments, [(13_000, 2), (13_200, 1), (13_500, 0), (14_000, 3)]);
    assert_eq!(acks, [(23_000, 0), (23_200, 0), (23_500, 3), (24_000, 4)]);
}

#[test]
fn acks_are_lost_and_late_by_their_number() {
    let on_the_way_back = |fates: &str| {
        let text = four_segments("");
        text.replace("rate = \"8gbit\"", &format!("{fates}\nrate = \"8gbit\""))
    };
    let (_, acks) = arrivals(&on_the_way_back(
        "fate = [{ ack = 2, lose = true, flow = \"flow0\" }, { ack = 3, late = \"1.5ms\" }]",
    ));
    assert_eq!(acks, [(21_000, 1), (24_000, 4), (24_500, 3)]);
    let (log, _) = log(&on_the_way_back("fate = [{ ack = 2, lose = true }]"));
    let dropped = log.0.iter().find_map(|(_, event)| match event.kind {
        EventKind::AckDropped { ack, why, .. } => Some((event.at, ack, why)),
        _ => None,
    });
    assert_eq!(dropped, Some((Time(12_000_000), 2000, "listed")));
}

/// The SYN/ACK is no ACK of this count, so the first one acknowledges the first segment.
#[test]
fn a_handshake_does_not_shift_the_numbers() {
    for tcp in ["tcp = { ", "tcp = { handshake = true, "] {
        let text = four_segments("").replace("tcp = { ", tcp);
        let fate = "fate = [{ ack = 1, lose = true }]\nrate = \"8gbit\"";
        let (_, acks) = arrivals(&text.replace("rate = \"8gbit\"", fate));
        let data: Vec<u32> = acks.into_iter().map(|(_, segment)| segment).collect();
        // What the SYN/ACK acknowledges is the first segment's beginning.
        let syn: &[u32] = if tcp.contains("handshake") { &[0] } else { &[] };
        assert_eq!(data[..syn.len() + 3], [syn, &[2, 3, 4]].concat(), "{tcp}");
    }
}

/// A fate is met in the one or the other direction of a link, and on one of its copies.
#[test]
fn what_was_not_met_is_told() {
    let fates = "fate = [{ segment = 3, lose = true }, \
                 { segment = 3, transmission = 2, lose = true }, { ack = 2, late = \"1ms\" }, \
                 { segment = 60, lose = true }, { ack = 900, lose = true }]";
    let (_, simulation) = log(&two_flows(fates, false));
    assert_eq!(simulation.unmet_fates(), [(0, 3), (0, 4)]);
    let copies = "duration = \"10s\"\n[[link]]\nfrom = \"a{}\"\nto = \"b\"\ncount = 2\n\
                  rate = \"1mbit\"\ndelay = \"1ms\"\nfate = [\
                  { segment = 1, lose = true, flow = \"flow0\" }, { segment = 9, lose = true, flow = \"flow0\" }]\n\
                  [[flow]]\nfrom = \"a1\"\nto = \"b\"\nsource = { segments = 3 }\n";
    assert_eq!(log(copies).1.unmet_fates(), [(0, 1)]);
}

#[test]
fn fates_that_make_no_sense_are_named_with_their_key() {
    let cases = [
        ("lose = true", ": which packet? `segment = 14` or `ack = 7`"),
        ("segment = 1, ack = 1, lose = true", ": either `segment` or `ack`, not both"),
        (
            "ack = 1, transmission = 2, lose = true",
            ".transmission: an ACK is sent once; leave it out",
        ),
        ("ack = 0, lose = true", ".ack: it counts from 1"),
        ("segment = 0, transmission = 0, lose = true", ".transmission: it counts from 1"),
        ("segment = 1", ": what becomes of it? `lose = true` or `late = \"5ms\"`"),
        ("segment = 1, lose = false", ": what becomes of it? `lose = true` or `late = \"5ms\"`"),
        ("segment = 1, lose = true, late = \"5ms\"", ": either `lose` or `late`, not both"),
        ("segment = 1, late = \"0s\"", ".late: a late packet is late by more than 0s"),
        (
            "segment = 1, lose = true, flow = \"flow1\"",
            ".flow: there is no flow `flow1`; did you mean `flow0`?",
        ),
    ];
    for (fate, expected) in cases {
        let text = BASE.replace("delay", &format!("fate = [{{ {fate} }}]\ndelay"));
        assert_eq!(error(&text), format!("7: link[0].fate[0]{expected}"), "{fate}");
    }
    let text = BASE.replace("delay", "fate = { segment = 1, lose = true }\ndelay");
    let expected = "7: link[0].fate: there may be several of these; write `[[link.fate]]`";
    assert_eq!(error(&text), expected);
}
