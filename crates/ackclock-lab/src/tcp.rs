//! The TCP settings of a scenario on the wire.

use ackclock_net::scenario::units::Size;
use ackclock_net::scenario::{Scenario, Tcp};
use ackclock_stack::TcpConfig;
use ackclock_tcp::strategy::UnknownName;
use ackclock_tcp::wire::TIMESTAMPS_LEN;
use ackclock_tcp::{DelayedAck, Registry, Span};

/// IPv4 and TCP without options.
const HEADERS: u16 = 40;

fn of(scenario: &Scenario) -> Tcp {
    scenario.flows[0].tcp.or(&scenario.tcp)
}

/// Payload of a full segment, in bytes.
pub(crate) fn mss(scenario: &Scenario) -> u16 {
    of(scenario).mss.map_or(1460, |Size(n)| n.min(u64::from(u16::MAX)) as u16)
}

/// Whether timestamps are negotiated.
pub(crate) fn timestamps(scenario: &Scenario) -> bool {
    of(scenario).timestamps.unwrap_or(false)
}

/// The MTU that leaves room for that payload.
pub(crate) fn mtu(scenario: &Scenario) -> u16 {
    mss(scenario).saturating_add(HEADERS + if timestamps(scenario) { TIMESTAMPS_LEN } else { 0 })
}

/// What a row's strategy has on the wire beside it. The receiving half of these connections
/// receives nothing.
pub(crate) fn config(
    scenario: &Scenario,
    strategy: &str,
    sack: Option<bool>,
    registry: &Registry,
) -> Result<TcpConfig, UnknownName> {
    let tcp = of(scenario);
    // As in the simulation: a timer that the strategy names replaces it.
    let timer = tcp.timer.unwrap_or_default().mechanism();
    let mut strategy = registry.parse(strategy)?;
    if let Some(timer) = registry.mechanism(timer) {
        strategy = strategy.or(timer);
    }
    let uses_sack = strategy.build().uses_sack;
    Ok(TcpConfig {
        strategy,
        send_buffer: 4 << 20,
        receive_buffer: 64 << 10,
        sack: sack.or(tcp.sack).unwrap_or(uses_sack),
        timestamps: tcp.timestamps.unwrap_or(false),
        // The kernel beside it does not ask for ECN either, and looks for no black holes.
        ecn: ackclock_stack::EcnUse::Off,
        find_black_holes: false,
        window_scaling: true,
        mss: None,
        initial_window: tcp.initial_window,
        min_rto: tcp.min_rto.map(|d| d.0),
        delayed_ack: DelayedAck::After(Span::from_millis(40)),
        nagle: tcp.nagle.unwrap_or(false),
        keep_alive: None,
        user_timeout: None,
        time_wait: Span::from_secs(1),
        events: false,
    })
}
