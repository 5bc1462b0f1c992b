//! The worst schedule of each preset that a search has found, kept.

use ackclock_fates::worst::{Event, Search, Worst};
use ackclock_fates::{Path, worst};
use ackclock_tcp::Registry;

/// `NAME: SECONDS: EVENT, ...`, as `ackclock worst --climbs 96` found them.
const KEPT: &str = include_str!("worst.txt");

/// As far from the oracle as they were. A line that has changed with the engine on purpose is
/// written anew with `ackclock worst --strategy NAME --climbs 96`.
#[test]
fn the_worst_of_each_preset() {
    let registry = Registry::default();
    let (mut path, mut seen) = (Path::default(), Vec::new());
    for line in KEPT.lines() {
        let parts: Vec<&str> = line.split(": ").collect();
        let [name, seconds, ref events @ ..] = parts[..] else { panic!("{line}") };
        let composition = registry.parse(name).unwrap();
        let oracle = registry.parse(&composition.bound("oracle")).unwrap();
        let search = Search { composition: &composition, oracle: &oracle, seed: 1 };
        let events = events.iter().flat_map(|events| events.split(", "));
        let events: Vec<Event> =
            events.filter(|e| !e.is_empty()).map(|e| e.parse().unwrap()).collect();
        let over = search.over(&mut path, &events) as f64 / 1e9;
        assert_eq!(format!("{over:.9}"), seconds, "{name}");
        seen.push(name.to_string());
    }
    let presets: Vec<String> = registry.presets().iter().map(|p| p.name.to_string()).collect();
    assert_eq!(seen, presets);
}

#[test]
fn a_search_depends_on_its_seed_alone() {
    let registry = Registry::default();
    let composition = registry.parse("sack").unwrap();
    let oracle = registry.parse(&composition.bound("oracle")).unwrap();
    let search = |seed| Search { composition: &composition, oracle: &oracle, seed };
    let all = search(7).climbs(0..4, 2).unwrap();
    assert_eq!(all, search(7).climbs(0..4, 1).unwrap());
    // Climbs in pieces come to the same.
    let (a, b) = (search(7).climbs(0..2, 1).unwrap(), search(7).climbs(2..4, 1).unwrap());
    assert_eq!(all, if b.beats(&a) { b } else { a });
    assert_ne!(all, search(8).climbs(0..4, 1).unwrap());
    assert!(all.events.len() <= worst::EVENTS);
}

/// What is left out hardly matters: without any of the events left the distance is below 99 %.
#[test]
fn what_is_found_is_shrunk() {
    let registry = Registry::default();
    let composition = registry.parse("newreno").unwrap();
    let oracle = registry.parse(&composition.bound("oracle")).unwrap();
    let search = Search { composition: &composition, oracle: &oracle, seed: 1 };
    let Worst { events, over } = search.climbs(0..1, 1).unwrap();
    let mut path = Path::default();
    assert_eq!(search.over(&mut path, &events), over);
    for place in 0..events.len() {
        let mut less = events.clone();
        less.remove(place);
        assert!(100 * search.over(&mut path, &less) < 99 * over, "{place} of {events:?}");
    }
}

#[test]
fn events_as_text() {
    for text in
        ["lose 20.1", "late 20.2 50ms", "lose-ack 21", "late-ack 21 50ms", "delay 300ms 50ms 100ms"]
    {
        assert_eq!(text.parse::<Event>().unwrap().to_string(), text);
    }
    for wrong in ["", "lose 20", "lose 20.0", "late 20.1", "late-ack x 1ms", "delay 1ms 1ms"] {
        assert!(wrong.parse::<Event>().is_err(), "{wrong}");
    }
}
