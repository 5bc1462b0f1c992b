//! The metrics that all services have.

use super::super::metrics::{Exposition, add};
use super::memory::resident;
use super::net::Net;
use super::service::Service;

/// The metrics.
pub(super) fn text(net: &mut Net, service: &impl Service) -> String {
    let mut to = Exposition::new(&net.strategy);
    let mut senders = net.gone;
    for socket in service.sockets() {
        if let Ok(sender) = net.host.stack().sender(socket) {
            add(&mut senders, sender.stats());
        }
    }
    to.gauge(
        "ackclock_connections_open",
        "Client connections that are open.",
        service.open() as u64,
    );
    to.counter("ackclock_connections_total", "Client connections taken.", net.accepted);
    to.counter(
        "ackclock_connections_refused_total",
        "Clients reset because their address had too many connections.",
        net.refused,
    );
    to.gauge(
        "ackclock_connections_waiting",
        "Clients that are connected and wait for others to end.",
        net.host.stack().waiting() as u64,
    );
    to.counters(
        "ackclock_bytes_total",
        "Payload read from clients and written for them.",
        "direction",
        &[("received", net.bytes[0]), ("sent", net.bytes[1])],
    );
    to.senders(&senders);
    to.histogram(
        "ackclock_connection_duration_seconds",
        "How long connections lasted that are over.",
        &net.durations,
    );
    to.histogram(
        "ackclock_connection_rtt_seconds",
        "Their smoothed round trips at the end.",
        &net.round_trips,
    );
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
        "Memory of the buffers of all connections.",
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
