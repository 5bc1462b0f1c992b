//! The small path against the general simulator: the same segments at the same times.

use ackclock_fates::{Connection, Path, Schedule, Spike};
use ackclock_net::scenario::BuildOptions;
use ackclock_net::{FlowId, Recorder};
use ackclock_tcp::{Event, EventKind, Registry, Span, Time};

/// The sender's own events.
#[derive(Default)]
struct Own(Vec<Event>);

impl Recorder for Own {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        use EventKind::{AckDropped, Arrived, Dropped};
        if !matches!(event.kind, Arrived { .. } | Dropped { .. } | AckDropped { .. }) {
            self.0.push(*event);
        }
    }
}

/// Runs both, and compares every event of the sender.
fn same(connection: Connection, strategy: &str, schedule: &Schedule) {
    let registry = Registry::default();
    let scenario = connection.scenario(strategy, &registry, schedule);
    let options = BuildOptions::new(&registry, scenario.seed).events(true);
    let mut simulation = scenario.build(&options).unwrap();
    let mut own = Own::default();
    simulation.run(&mut own).unwrap();
    let report = simulation.network.flow_report(simulation.flows[0].id).unwrap();

    let mut path = Path::default();
    let composition = registry.parse(strategy).unwrap();
    let outcome = path.run(connection, &composition, schedule, true);
    let of = format!("{strategy}, {connection:?}, {schedule:?}");
    for (a, b) in own.0.iter().zip(&path.events) {
        assert_eq!(a, b, "{of}");
    }
    // The path ends with the last acknowledgment.
    assert!(own.0.len() >= path.events.len(), "{of}");
    let later = &own.0[path.events.len()..];
    assert!(later.iter().all(|e| Some(e.at) >= outcome.completed), "{of}: {later:?}");
    assert_eq!(report.completed, outcome.completed, "{of}");
    assert!(report.spurious_retransmissions >= outcome.spurious.into(), "{of}");
}

fn presets() -> Vec<String> {
    let registry = Registry::default();
    registry.presets().iter().map(|preset| preset.name.to_string()).collect()
}

/// Numbers that look random, the same in each run.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn a_transfer_without_events() {
    for strategy in presets() {
        for window in [1, 2, 6, 12] {
            same(Connection::tail(window), &strategy, &Schedule::default());
            same(Connection::followed(window), &strategy, &Schedule::default());
        }
    }
}

#[test]
fn losses() {
    let mut state = 1;
    for strategy in presets() {
        for case in 0..40 {
            let mut schedule = Schedule::default();
            for segment in 20..32 {
                let times = draw(&mut state, 3);
                (1..=times as u32).for_each(|n| schedule.lose(segment, n));
            }
            let whole = Connection::followed(12);
            same(if case % 2 == 0 { whole } else { Connection::tail(12) }, &strategy, &schedule);
        }
    }
}

#[test]
fn lateness_lost_acks_and_spikes() {
    let mut state = 2;
    for strategy in presets() {
        for _ in 0..40 {
            let mut schedule = Schedule::default();
            for _ in 0..6 {
                let (segment, by) =
                    (20 + draw(&mut state, 20), Span::from_millis(1 + draw(&mut state, 200)));
                match draw(&mut state, 5) {
                    0 => schedule.lose(segment, 1 + draw(&mut state, 2) as u32),
                    1 => schedule.delay(segment, 1 + draw(&mut state, 2) as u32, by),
                    2 => schedule.lose_ack(segment),
                    3 => schedule.delay_ack(segment, by),
                    _ => schedule.spike(Spike {
                        at: Time::ZERO + Span::from_millis(300 + 20 * draw(&mut state, 30)),
                        lasts: by,
                        delay: Span::from_millis(1 + draw(&mut state, 500)),
                    }),
                }
            }
            same(Connection::followed(6), &strategy, &schedule);
        }
    }
}
