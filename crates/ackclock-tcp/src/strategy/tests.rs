//! The registry: what it lists, what it parses, and what it refuses.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::path::Path;

use super::{Axis, Refused, Registry, UnknownName};
use crate::recovery::ambiguity::{Ambiguity, NoBugfix};
use crate::recovery::detect::{Detect, DupackCount, EarlyRetransmit};
use crate::recovery::fill::Fill;
use crate::recovery::probe::Probe;
use crate::recovery::retransmission::DetectRetransmission;
use crate::recovery::undo::Undo;
use crate::recovery::{Row, WithoutSack};

fn dupack(name: &'static str) -> Row<dyn Detect> {
    Row::<dyn Detect>::new(name, || Box::new(DupackCount))
}

#[test]
fn each_mechanism_is_described() {
    for m in Registry::default().mechanisms() {
        assert!(!m.source.is_empty(), "{}: no source", m.name);
        assert!(!m.summary.is_empty(), "{}: no summary", m.name);
        let words = m.sentence.split_whitespace().count();
        assert!((1..=30).contains(&words), "{}: a sentence of {words} words", m.name);
    }
}

#[test]
fn a_quotation_is_closed() {
    for m in Registry::default().mechanisms() {
        let marks = m.sentence.matches('"').count();
        let around = m.sentence.starts_with('"') && m.sentence.ends_with('"');
        assert!(marks == 0 || (marks == 2 && around), "{}: {}", m.name, m.sentence);
    }
}

/// Mechanisms whose names say nothing of their file: variants of the one that the file is named
/// after.
const VARIANTS: [(&str, &str); 5] = [
    ("careful-timer", "rfc6298-timer"),
    ("linux-lost-first", "lost-first"),
    ("marks-sack", "lrxt"),
    ("marks-ts", "lrxt"),
    ("slow-but-steady", "partial-ack"),
];

#[test]
fn each_mechanism_is_in_a_file_of_its_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut variants = Vec::new();
    for m in Registry::default().mechanisms() {
        let file = Path::new(&*m.file);
        assert!(root.join(file).is_file(), "{}: no file {}", m.name, m.file);
        let part = |p: &Path| p.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        let (stem, folder) = (part(file), part(file.parent().unwrap()));
        // The families that span axes name their mechanisms after the folder, too.
        let base = match &*folder {
            "ff96" | "ns2" => format!("{folder}-{stem}"),
            axis => {
                assert_eq!(axis, m.axis.name(), "{}", m.name);
                stem
            }
        };
        if *m.name != base && !m.name.starts_with(&format!("{base}-")) {
            variants.push((m.name.to_string(), base));
        }
    }
    variants.sort();
    assert_eq!(variants, VARIANTS.map(|(name, base)| (name.to_string(), base.to_string())));
}

/// Events say by their names which mechanism judged, selected and undid.
#[test]
fn each_mechanism_calls_itself_as_the_registry_does() {
    let registry = Registry::default();
    for m in registry.mechanisms() {
        let strategy = registry.parse(&m.name).unwrap().build();
        let name = match m.axis {
            Axis::Detect => strategy.detect.name(),
            Axis::Retransmission => strategy.retransmission.as_ref().unwrap().name(),
            Axis::Select => strategy.select.name(),
            Axis::Undo => match strategy.undo.first() {
                Some(undo) => undo.name(),
                // It wraps another.
                None => continue,
            },
            _ => continue,
        };
        let listed = |n: &&super::Mechanism| n.axis == m.axis && n.name == name;
        assert!(registry.mechanisms().iter().any(|n| listed(&n)), "{}: {name:?}", m.name);
    }
}

#[test]
fn names_are_unique() {
    let registry = Registry::default();
    let mechanisms: BTreeSet<_> = registry.mechanisms().iter().map(|m| &m.name).collect();
    let presets: BTreeSet<_> = registry.presets().iter().map(|p| &p.name).collect();
    assert_eq!(mechanisms.len(), registry.mechanisms().len());
    assert_eq!(presets.len(), registry.presets().len());
}

#[test]
fn mechanisms_stand_by_axis() {
    let registry = Registry::default();
    let mut axes: Vec<Axis> = registry.mechanisms().iter().map(|m| m.axis).collect();
    axes.dedup();
    assert_eq!(axes, Axis::ALL);
}

#[test]
fn a_preset_parses_to_what_it_lists() {
    let registry = Registry::default();
    for preset in registry.presets() {
        let parsed = registry.parse(&preset.name).unwrap();
        let names: Vec<&str> = parsed.mechanisms().iter().map(|m| &*m.name).collect();
        assert_eq!(names, preset.mechanisms, "{}", preset.name);
        assert!(!names.is_empty() && !preset.source.is_empty(), "{}", preset.name);
    }
}

#[test]
fn a_name_that_is_a_mechanism_and_a_preset_is_the_preset_in_first_place() {
    let registry = Registry::default();
    let names = |text: &str| -> Vec<String> {
        let parsed = registry.parse(text).unwrap();
        parsed.mechanisms().iter().map(|m| m.name.to_string()).collect()
    };
    assert_eq!(names("prr"), ["is-lost", "recovery-point", "next-seg", "prr"]);
    assert_eq!(names("head+prr"), ["head", "prr"]);
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let mut registry = Registry::default();
    let taken = |name: &str| Err(Refused::NameTaken(name.to_string()));
    assert_eq!(registry.add(dupack("rack")), taken("rack"));
    // A mechanism may not have the name of a preset either, which would hide it.
    assert_eq!(registry.add(dupack("newreno")), taken("newreno"));
    assert_eq!(registry.add_preset("newreno", "head", "own"), taken("newreno"));
    // A preset may have the name of a mechanism.
    assert_eq!(registry.add_preset("head", "head+inflate", "own"), Ok(()));
    assert_eq!(registry.add_preset("head", "head+inflate", "own"), taken("head"));
}

#[test]
fn what_no_composition_could_name_is_refused() {
    let mut registry = Registry::default();
    for name in ["", "a+b", "a b", "a/b", "\u{e9}"] {
        let refused = Err(Refused::NotAName(name.to_string()));
        assert_eq!(registry.add(dupack(name)), refused);
        assert_eq!(registry.add_preset(name, "newreno", "own"), refused);
    }
}

#[test]
fn a_preset_of_an_unknown_name_is_refused() {
    let mut registry = Registry::default();
    let unknown = UnknownName { name: "nobody".to_string() };
    assert_eq!(registry.parse("newreno+nobody+nothing").unwrap_err(), unknown);
    let refused = Err(Refused::Unknown(unknown));
    assert_eq!(registry.add_preset("mine", "newreno+nobody", "own"), refused);
    assert!(registry.preset("mine").is_none());
}

#[test]
fn a_name_is_missing_beside_a_plus() {
    for text in ["sack+lt+", "+sack", "sack++lt", ""] {
        let error = Registry::default().parse(text).unwrap_err();
        assert_eq!(error.to_string(), "a name is missing, as beside a `+`", "{text}");
    }
}

#[test]
fn what_was_added_parses() {
    let mut registry = Registry::default();
    registry
        .add(dupack("my-dupack").needs_sack().source("own", "A sentence.").file("x.rs"))
        .unwrap();
    registry.add_preset("mine", "newreno+my-dupack", "own").unwrap();
    let names = |text: &str| -> Vec<String> {
        let parsed = registry.parse(text).unwrap();
        parsed.mechanisms().iter().map(|m| m.name.to_string()).collect()
    };
    assert_eq!(names("mine"), ["partial-ack", "inflate", "bugfix", "my-dupack"]);
    assert_eq!(names("sack+my-dupack").last().unwrap(), "my-dupack");
    assert!(registry.parse("mine").unwrap().build().uses_sack);
    let added = registry.mechanism("my-dupack").unwrap();
    assert_eq!(added.axis, Axis::Detect);
    assert_eq!((&*added.source, &*added.sentence, &*added.file), ("own", "A sentence.", "x.rs"));
    assert!(registry.names().any(|name| name == "mine"));
    assert_eq!(registry.presets().last().unwrap().name, "mine");
}

#[test]
fn around_wraps_what_was_named_before_it() {
    let registry = Registry::default();
    // Reno's detection is what it wraps where none was named.
    assert_eq!(registry.parse("er").unwrap().build().detect.inner().unwrap().name(), "dupack");
    let mut registry = registry;
    registry
        .add(Row::<dyn Detect>::around("mine", |d| Box::new(EarlyRetransmit::naive(d))))
        .unwrap();
    registry.add(Row::<dyn Ambiguity>::around("nothing-new", |_| Box::new(NoBugfix))).unwrap();
    let strategy = registry.parse("sack+mine+nothing-new").unwrap().build();
    assert_eq!(strategy.detect.inner().unwrap().name(), "is-lost");
}

#[test]
fn around_leaves_nothing_where_there_is_nothing_to_wrap() {
    let mut registry = Registry::default();
    registry.add(Row::<dyn Fill>::around("my-fill", |inner| inner)).unwrap();
    registry.add(Row::<dyn Probe>::around("my-probe", |inner| inner)).unwrap();
    registry.add(Row::<dyn Undo>::around("my-undo", |inner| inner)).unwrap();
    registry.add(Row::<dyn DetectRetransmission>::around("my-lrx", |inner| inner)).unwrap();
    let around = "+my-fill+my-probe+my-undo+my-lrx";
    let without = registry.parse(&format!("reno{around}")).unwrap().build();
    assert!(without.fill.is_none() && without.retransmission.is_none());
    assert!(without.probes.is_empty() && without.undo.is_empty());
    let with = registry.parse(&format!("reno+resend+lt+eifel+lrx{around}")).unwrap().build();
    assert!(with.fill.is_some() && with.retransmission.is_some());
    assert_eq!((with.probes.len(), with.undo.len()), (1, 1));
}

#[test]
fn what_takes_a_place_without_sack_is_of_the_same_axis_and_needs_none() {
    let registry = Registry::default();
    for m in registry.mechanisms() {
        if let WithoutSack::Becomes(name) = &m.without_sack {
            let other = registry.mechanism(name).unwrap();
            assert_eq!(other.axis, m.axis, "{}", m.name);
            assert!(!other.needs_sack && other.without_sack == WithoutSack::Stays, "{}", m.name);
        }
    }
}

#[test]
fn what_is_left_of_a_composition_without_sack() {
    let registry = Registry::default();
    let names = |text: &str| -> Option<Vec<String>> {
        let parsed = registry.parse(text).unwrap();
        Some(parsed.without_sack()?.iter().map(|m| m.name.to_string()).collect())
    };
    for (text, left) in [
        ("sack", "dupack+bugfix+partial-ack+inflate"),
        ("sack+er-2+lt+tlp+f-rto", "dupack+bugfix+partial-ack+inflate+er-2+lt+f-rto"),
        ("rack-tlp", "dupack+bugfix+partial-ack+prr-ssrb"),
        ("sack-lrx", "dupack+bugfix+partial-ack+inflate+lrx+response-1"),
        ("marks-sack", "lrxt"),
        ("reno+dsack-undo+dyn-dupthresh", "head+inflate-to-ssthresh"),
        (
            "ns2-sack",
            "dupack+bugfix+partial-ack+ns2-inflate-limited+ns2-release-two+ns2-window+ns2-timer",
        ),
    ] {
        assert_eq!(names(text).map(|names| names.join("+")).as_deref(), Some(left), "{text}");
    }
    // Nothing that needs SACK; and notices, which need no ACK to be read.
    for text in ["newreno", "newreno+pipe+recovery-point", "oracle", "oracle-drop+sack+notified"] {
        assert_eq!(names(text), None, "{text}");
    }
    // What stands before a composition stands before what is left of it, too.
    let timer = registry.mechanism("bsd-timer").unwrap();
    let sack = registry.parse("sack").unwrap().or(timer);
    assert_eq!(sack.without_sack().unwrap()[0].name, "bsd-timer");
    let strategy = sack.build().without_sack.unwrap();
    assert_eq!((strategy.detect.name(), strategy.uses_sack), ("dupack", false));
}

#[test]
fn what_takes_a_place_without_sack_has_to_be_registered() {
    let mut registry = Registry::default();
    let unknown = Refused::Unknown(UnknownName { name: "nobody".into() });
    for (other, refused) in [("nobody", unknown), ("head", Refused::OtherAxis("head".into()))] {
        assert_eq!(registry.add(dupack("mine").needs_sack().without_sack(other)), Err(refused));
    }
    registry.add(dupack("mine").needs_sack().without_sack("dupack")).unwrap();
    assert!(registry.parse("mine").unwrap().without_sack().is_some());
}

#[test]
fn a_name_is_read_without_its_mechanisms() {
    let mut registry = Registry::default();
    let broken = Row::<dyn Detect>::new("broken", || panic!("it cannot be built"));
    registry.add(broken.needs_sack()).unwrap();
    for text in ["sack+broken", "rack-tlp+broken", "prr+broken"] {
        assert_eq!(registry.parse(text).unwrap().name(), text);
    }
    // One that is notified of losses stays without SACK.
    assert!(registry.parse("sack+notified").unwrap().without_sack().is_none());
    assert!(registry.parse("sack+notified").unwrap().build().without_sack.is_none());
}
