//! Metrics in the text format of Prometheus (exposition format 0.0.4), named as those of
//! `ackclock serve` and `proxy` where they are the same.
//!
//! Names of proxies and conditions need no escapes: letters, digits, `.`, `_` and `-`.

use std::fmt::{Display, Write};

use super::managed::Managed;
use crate::{LinkCounts, ProxyReport};

/// A metric of each proxy: its name, type and help, and its value.
type OfProxy = (&'static str, &'static str, &'static str, fn(&ProxyReport) -> u64);
const OF_PROXIES: [OfProxy; 9] = [
    ("ackclock_connections_open", "gauge", "Client connections that are open.", |r| r.open),
    ("ackclock_connections_total", "counter", "Client connections taken.", |r| r.accepted),
    (
        "ackclock_connections_reset_total",
        "counter",
        "Client connections that ended with a reset, of either side.",
        |r| r.reset,
    ),
    (
        "ackclock_connections_refused_total",
        "counter",
        "Clients reset because the server did not take them, or not in time.",
        |r| r.unreachable,
    ),
    ("ackclock_packets_total", "counter", "Packets that the two hosts sent.", |r| r.passed.packets),
    ("ackclock_packets_lost_total", "counter", "Of those, the ones that did not arrive.", |r| {
        r.passed.lost
    }),
    ("ackclock_segments_sent_total", "counter", "Packets with data sent.", |r| r.passed.segments),
    ("ackclock_retransmissions_total", "counter", "Retransmissions of data and of FINs.", |r| {
        r.passed.retransmissions
    }),
    (
        "ackclock_timeouts_total",
        "counter",
        "Retransmission timeouts, but for those of SYNs.",
        |r| r.passed.timeouts,
    ),
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
    let all: Vec<(&Managed, ProxyReport)> = proxies.map(|one| (one, one.counts())).collect();
    let conditions = || {
        all.iter().flat_map(|(managed, report)| {
            managed.conditions.iter().map(move |one| (*managed, one, report))
        })
    };
    let mut text = String::new();
    let build = "ackclock_build_info";
    family(&mut text, build, "gauge", "1, with the version of the command.");
    let _ = writeln!(text, "{build}{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    for (name, kind, help, value) in OF_PROXIES {
        family(&mut text, name, kind, help);
        for (managed, report) in &all {
            sample(&mut text, name, managed, "", value(report));
        }
    }
    let name = "ackclock_bytes_total";
    family(&mut text, name, "counter", "Bytes that clients sent, and that the server sent.");
    for (managed, report) in &all {
        for (direction, bytes) in ["up", "down"].into_iter().zip(report.bytes) {
            sample(&mut text, name, managed, &format!(",direction=\"{direction}\""), bytes);
        }
    }
    let name = "ackclock_packet_delay_seconds";
    family(&mut text, name, "summary", "How long packets that arrived were under way.");
    for (managed, report) in &all {
        let (sum, count) = (report.passed.delay.secs_f64(), report.passed.delivered);
        sample(&mut text, &format!("{name}_sum"), managed, "", sum);
        sample(&mut text, &format!("{name}_count"), managed, "", count);
    }
    let name = "ackclock_link_packets_total";
    let help = "Packets that came to the links of a condition, since it is in force.";
    family(&mut text, name, "counter", help);
    for (managed, one, report) in conditions() {
        let packets: u64 = one.links_of(report).map(|link| link.counts.packets).sum();
        sample(&mut text, name, managed, &format!(",condition=\"{}\"", one.name), packets);
    }
    let name = "ackclock_link_drops_total";
    let help = "Packets that the links of a condition have dropped, since it is in force.";
    family(&mut text, name, "counter", help);
    for (managed, one, report) in conditions() {
        for (reason, count) in REASONS {
            let labels = format!(",condition=\"{}\",reason=\"{reason}\"", one.name);
            let drops: u64 = one.links_of(report).map(count).sum();
            sample(&mut text, name, managed, &labels, drops);
        }
    }
    text
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

/// `labels` follow that of the proxy.
fn sample(text: &mut String, name: &str, of: &Managed, labels: &str, value: impl Display) {
    let _ = writeln!(text, "{name}{{proxy=\"{}\"{labels}}} {value}", of.made.name);
}
