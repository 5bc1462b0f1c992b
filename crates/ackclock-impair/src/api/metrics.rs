//! What proxies counted, as metrics. They are named as those of `ackclock serve` and `proxy` where
//! they are the same.

use super::managed::{InForce, Managed};
use crate::exposition::Exposition;
use crate::{LinkCounts, ProxyReport};

/// What is counted of each proxy: metric and help, and what a proxy has counted.
type Row = (&'static str, &'static str, fn(&ProxyReport) -> u64);
const CLIENTS: [Row; 3] = [
    ("ackclock_connections_total", "Client connections taken.", |r| r.accepted),
    (
        "ackclock_connections_reset_total",
        "Client connections that ended with a reset, of either side.",
        |r| r.reset,
    ),
    (
        "ackclock_connections_refused_total",
        "Clients reset because the server did not take them, or not in time.",
        |r| r.unreachable,
    ),
];
const HOSTS: [Row; 4] = [
    ("ackclock_packets_total", "Packets that the two hosts sent.", |r| r.passed.packets),
    ("ackclock_packets_lost_total", "Of those, the ones that did not arrive.", |r| r.passed.lost),
    ("ackclock_segments_sent_total", "Packets with data sent.", |r| r.passed.segments),
    ("ackclock_retransmissions_total", "Retransmissions of data and of FINs.", |r| {
        r.passed.retransmissions
    }),
];

/// A reason for which links drop packets, and how many they have dropped for it.
type Reason = (&'static str, fn(&LinkCounts) -> u64);
const REASONS: [Reason; 3] = [
    ("loss", |link| link.counts.dropped_loss),
    ("queue", |link| link.counts.dropped_queue),
    ("early", |link| link.counts.dropped_early),
];

/// The metrics of these proxies.
pub(super) fn text<'a>(proxies: impl Iterator<Item = &'a Managed>) -> String {
    // Each is asked once, so that all its values are of the same moment.
    let counted = Managed::counted(proxies);
    let of: Vec<(&str, (&Managed, ProxyReport))> =
        counted.map(|(one, counts)| (one.made.name.as_str(), (one, counts))).collect();
    let mut to = Exposition::plain();
    let rows = |to: &mut Exposition, rows: &[Row]| {
        for (name, help, count) in rows {
            to.each("proxy", &of, |to, (_, report)| to.counter(name, help, count(report)));
        }
    };
    to.each("proxy", &of, |to, (_, report)| {
        to.gauge("ackclock_connections_open", "Client connections that are open.", report.open);
    });
    rows(&mut to, &CLIENTS);
    rows(&mut to, &HOSTS);
    to.each("proxy", &of, |to, (_, report)| {
        to.timeouts("Retransmission timeouts of both hosts by class.", &report.timeouts);
    });
    to.each("proxy", &of, |to, (_, report)| {
        let [up, down] = report.bytes;
        let help = "Bytes that clients sent, and that the server sent.";
        to.counters("ackclock_bytes_total", help, "direction", &[("up", up), ("down", down)]);
    });
    to.each("proxy", &of, |to, (_, report)| {
        let help = "How long packets that arrived were under way.";
        let (count, sum) = (report.passed.delivered, report.passed.delay.secs_f64());
        to.seconds("ackclock_packet_delay_seconds", help, count, sum);
    });
    to.each("proxy", &of, |to, (managed, report)| {
        to.each("condition", &conditions(managed), |to, one| {
            let help = "Packets that came to the links of a condition, since it is in force.";
            let packets: u64 = one.links_of(report).map(|link| link.counts.packets).sum();
            to.counter("ackclock_link_packets_total", help, packets);
        });
    });
    to.each("proxy", &of, |to, (managed, report)| {
        to.each("condition", &conditions(managed), |to, one| {
            let help = "Packets that the links of a condition have dropped, since it is in force.";
            let drops = REASONS
                .map(|(reason, count)| (reason, one.links_of(report).map(count).sum::<u64>()));
            to.counters("ackclock_link_drops_total", help, "reason", &drops);
        });
    });
    to.finish()
}

/// The conditions of a proxy, by name.
fn conditions(of: &Managed) -> Vec<(&str, &InForce)> {
    of.conditions.iter().map(|one| (one.name.as_str(), one)).collect()
}
