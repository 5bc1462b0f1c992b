//! The senders that a hypothesis may take: presets of the engine, and what is added to them.

use std::sync::OnceLock;

use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{Composition, Registry, Span};

/// What Linux has and may be switched off (`tcp_early_retrans`, `tcp_frto`).
const SWITCHED_OFF: [&str; 2] = ["linux-tlp", "linux-f-rto"];

/// Compositions beside the presets: limited transmit and early retransmit are in wide use.
const MORE: [&str; 6] =
    ["reno+lt", "newreno+lt", "newreno+smallwnd+lrxt+b2b", "sack+lt", "sack+prr+lt", "sack+er"];

/// What a strategy has that names no timer of its own.
const TIMERS: [&str; 3] = ["linux-timer-alone", "rfc6298-timer", "bsd-timer"];

/// What sends tail loss probes.
const PROBES: [&str; 5] = ["tlp", "tlp-fin", "linux-tlp", "linux-tlp-fin", "recovery-probe"];

/// Two ticks of the engine's Linux (`HZ` is 250). The phase of the ticks moves an expiry by up to
/// one. What a timer waits counts whole ticks (`usecs_to_jiffies`), so that a round trip that is
/// known to a millisecond moves it by another.
const TWO_TICKS: Span = Span::from_millis(8);

/// A sender.
pub(super) struct Candidate {
    pub composition: Composition,
    pub least: Least,
    /// It has tail loss probes.
    pub probes: bool,
    /// Its timers may expire by so much sooner or later: those of Linux count ticks.
    pub ticks: Span,
}

/// What the least interval of its timer says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Least {
    /// How long it waits at least (RFC 6298 section 2.4).
    Whole,
    /// How long it waits at least beside the round trip (Linux's `tcp_rto_min`).
    BesideTrip,
    /// Nothing: the timer expires with ticks of a clock, whose phase is not known.
    Ticks,
}

/// Those that use SACK, or those that may do without, the commonest first.
pub(super) fn candidates(sack: bool) -> &'static [Candidate] {
    static ALL: OnceLock<[Vec<Candidate>; 2]> = OnceLock::new();
    &ALL.get_or_init(|| [false, true].map(build))[usize::from(sack)]
}

fn build(sack: bool) -> Vec<Candidate> {
    let registry = Registry::default();
    let linux =
        registry.parse("linux").map(|linux| linux.mechanisms().to_vec()).unwrap_or_default();
    let without = SWITCHED_OFF.map(|off| {
        let left = linux.iter().map(|m| &*m.name).filter(|name| *name != off);
        left.collect::<Vec<_>>().join("+")
    });
    let presets = registry.presets().iter().map(|preset| &*preset.name);
    // The oracles need a network that notifies them.
    let presets = presets.filter(|name| !name.starts_with("oracle"));
    let first =
        ["linux", &without[0], &without[1], "linux+linux-reno", "rack-tlp", "sack", "newreno"];
    let names = first.into_iter().chain(presets).chain(MORE);
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for name in names {
        let Ok(composition) = registry.parse(name) else { continue };
        let fits = composition.build().uses_sack == sack || name.starts_with("linux");
        if !fits || seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let has_timer = composition.mechanisms().iter().any(|m| m.axis == Axis::Timer);
        let of = |timer: &str| Some(composition.clone().or(registry.mechanism(timer)?));
        let timed = if has_timer {
            vec![composition.clone()]
        } else {
            TIMERS.into_iter().filter_map(of).collect()
        };
        for composition in timed {
            let mut timers = composition.mechanisms().iter().filter(|m| m.axis == Axis::Timer);
            let least = match timers.next().map(|timer| &*timer.name) {
                Some("bsd-timer") => Least::Ticks,
                Some(name) if name.starts_with("linux") => Least::BesideTrip,
                _ => Least::Whole,
            };
            let ticks = if least == Least::BesideTrip { TWO_TICKS } else { Span::ZERO };
            let probes = composition.mechanisms().iter().any(|m| PROBES.contains(&&*m.name));
            all.push(Candidate { composition, least, probes, ticks });
        }
    }
    all
}
