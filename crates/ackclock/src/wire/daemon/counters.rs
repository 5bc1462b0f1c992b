//! The metrics that all services have.

use ackclock_tcp::Stats;

use super::super::metrics::Exposition;
use super::memory::resident;
use super::net::{Arm, Net};
use super::service::Service;
use super::sources::TooMany;

/// The metrics.
pub(super) fn text(net: &mut Net, service: &impl Service) -> String {
    let mut arms = net.arms.clone();
    let mut open = vec![0; arms.len()];
    for socket in service.sockets() {
        let stack = net.host.stack();
        if let (Ok(status), Ok(sender)) = (stack.status(socket), stack.sender(socket)) {
            arms[status.strategy].add(&status, sender.stats());
            open[status.strategy] += 1;
        }
    }
    let names: Vec<String> = arms.iter().map(|arm| arm.strategy.name().to_string()).collect();
    let of: Vec<(&str, (Arm, u64))> =
        names.iter().map(String::as_str).zip(arms.into_iter().zip(open)).collect();
    // What is not of single connections carries the strategy of most of them.
    let mut to = Exposition::new(&names[0]);
    to.each(&of, |to, (_, open)| {
        to.gauge("ackclock_connections_open", "Client connections that are open.", *open);
    });
    to.each(&of, |to, (arm, _)| {
        to.counter("ackclock_connections_total", "Client connections taken.", arm.accepted);
    });
    to.counters(
        "ackclock_connections_refused_total",
        "Clients reset because their address had too many connections, or opened them too fast.",
        "limit",
        &[0, 1].map(|i| (TooMany::NAMES[i].0, net.sources.refused[i])),
    );
    to.gauge(
        "ackclock_connections_waiting",
        "Clients that are connected and wait for others to end.",
        net.host.stack().waiting() as u64,
    );
    to.each(&of, |to, (arm, _)| {
        to.counters(
            "ackclock_bytes_total",
            "Payload read from clients and written for them.",
            "direction",
            &[("received", arm.bytes[0]), ("sent", arm.bytes[1])],
        );
    });
    let senders: Vec<(&str, Stats)> = of.iter().map(|(name, (arm, _))| (*name, arm.gone)).collect();
    to.senders(&senders);
    to.each(&of, |to, (arm, _)| {
        let help = "Of the client connections taken, those with ECN.";
        to.counter("ackclock_ecn_connections_total", help, arm.with_ecn);
    });
    to.each(&of, |to, (arm, _)| {
        let help = "Segments with data that came marked with CE.";
        to.counter("ackclock_ecn_marks_total", help, arm.marks);
    });
    to.each(&of, |to, (arm, _)| {
        let help = "How long connections lasted that are over.";
        to.histogram("ackclock_connection_duration_seconds", help, &arm.durations);
    });
    to.each(&of, |to, (arm, _)| {
        let help = "Their smoothed round trips at the end.";
        to.histogram("ackclock_connection_rtt_seconds", help, &arm.round_trips);
    });
    let stack = net.host.stack();
    let stats = *stack.stats();
    to.gauge(
        "ackclock_half_open_connections",
        "Connections whose handshake is not done.",
        stack.half_open() as u64,
    );
    to.counter(
        "ackclock_accept_queue_drops_total",
        "Handshakes held up because too many clients wait.",
        stats.queue_full,
    );
    to.counter("ackclock_syn_cookies_total", "SYNs answered by a cookie.", stats.cookies_sent);
    to.counter(
        "ackclock_syn_cookies_accepted_total",
        "Connections made by a cookie.",
        stats.cookies_accepted,
    );
    to.counter("ackclock_malformed_packets_total", "Packets that were none.", stats.malformed);
    to.counter(
        "ackclock_bad_checksums_total",
        "Segments with a wrong checksum.",
        stats.bad_checksums,
    );
    to.counter(
        "ackclock_resets_sent_total",
        "Resets sent for segments of no connection.",
        stats.resets_out,
    );
    to.counter(
        "ackclock_device_refusals_total",
        "Packets that the device did not take, as while it is down.",
        net.host.unsent(),
    );
    if let Ok(drops) = net.host.tun().drops() {
        to.counters(
            "ackclock_device_drops_total",
            "Packets that the kernel dropped at the device, on their way to our stack or from it.",
            "direction",
            &[("received", drops.to_us), ("sent", drops.from_us)],
        );
    }
    to.gauge(
        "ackclock_buffer_bytes",
        "Memory of all connections: buffers, what is outstanding, TIME-WAIT.",
        net.host.stack().memory() as u64,
    );
    to.gauge("ackclock_memory_budget_bytes", "What --memory allows.", net.budget.all as u64);
    to.gauge(
        "ackclock_connections_most",
        "Connections for which there is room.",
        net.budget.connections as u64,
    );
    if let Some(bytes) = resident() {
        to.gauge("ackclock_resident_bytes", "Memory that the process has.", bytes);
    }
    service.metrics(&mut to);
    to.finish()
}
