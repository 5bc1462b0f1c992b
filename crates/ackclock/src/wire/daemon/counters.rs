//! The metrics that all services have.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use ackclock_impair::exposition::Exposition;
use ackclock_live::DeviceDrops;
use ackclock_stack::StackStats;
use ackclock_tcp::{Stats, TimeoutClass};

use super::Shared;
use super::net::Arm;
use super::service::{Counts, Service};
use super::sources::TooMany;
use super::worker::Worker;
use crate::proc::{STATUS, bytes_of};

/// What a queue has counted.
#[derive(Clone)]
pub(super) struct Counters {
    /// By strategy, with those that are open.
    arms: Vec<(Arm, u64)>,
    stats: StackStats,
    waiting: u64,
    half_open: u64,
    unsent: u64,
    memory: u64,
    handed_over: u64,
    displaced: u64,
    /// Timeouts of SYN/ACKs, of those that nobody answered, too.
    handshake_timeouts: u64,
    drops: Option<DeviceDrops>,
}

impl Counters {
    /// As it is now.
    pub fn of<S: Service>(worker: &mut Worker<S>) -> Counters {
        let (queue, handed_over) = (worker.queue(), worker.handed_over);
        let Worker { net, service, .. } = worker;
        let mut arms: Vec<(Arm, u64)> = net.arms.iter().map(|arm| (arm.clone(), 0)).collect();
        for socket in service.sockets() {
            let stack = net.host.stack();
            if let (Ok(status), Ok(stats)) = (stack.status(socket), stack.counted(socket)) {
                arms[status.strategy].0.add(&status, &stats);
                arms[status.strategy].1 += 1;
            }
        }
        let stack = net.host.stack();
        Counters {
            arms,
            stats: *stack.stats(),
            waiting: stack.waiting() as u64,
            half_open: stack.half_open() as u64,
            memory: stack.memory() as u64,
            handed_over,
            displaced: net.displaced,
            handshake_timeouts: stack.timeouts()[TimeoutClass::Handshake as usize],
            unsent: net.host.unsent(),
            // They are of the device, not of a queue.
            drops: (queue == 0).then(|| net.host.tun().drops().ok()).flatten(),
        }
    }
}

/// What is added up over the queues: metric, help, and what a queue has counted.
type Row = (&'static str, &'static str, fn(&Counters) -> u64);
const SUMS: [Row; 12] = [
    (
        "ackclock_connections_displaced_total",
        "Connections reset since nothing had moved for 100 s, and other clients waited.",
        |q| q.displaced,
    ),
    (
        "ackclock_accept_queue_drops_total",
        "Handshakes held up because too many clients wait.",
        |q| q.stats.queue_full,
    ),
    ("ackclock_syn_cookies_total", "SYNs answered by a cookie.", |q| q.stats.cookies_sent),
    ("ackclock_syn_cookies_accepted_total", "Connections made by a cookie.", |q| {
        q.stats.cookies_accepted
    }),
    (
        "ackclock_handshake_timeouts_total",
        "Timeouts of SYN/ACKs, those that nobody answered included.",
        |q| q.handshake_timeouts,
    ),
    ("ackclock_malformed_packets_total", "Packets that were none.", |q| q.stats.malformed),
    ("ackclock_ip_fragments_total", "IP fragments, which are not put together.", |q| {
        q.stats.fragments
    }),
    (
        "ackclock_black_holes_total",
        "Connections on whose path large packets vanish and no ICMP tells of it.",
        |q| q.stats.black_holes,
    ),
    (
        "ackclock_ignored_packets_total",
        "Packets for other addresses or of other protocols, as kernels send by themselves.",
        |q| q.stats.ignored,
    ),
    ("ackclock_bad_checksums_total", "Segments with a wrong checksum.", |q| q.stats.bad_checksums),
    ("ackclock_resets_sent_total", "Resets sent for segments of no connection.", |q| {
        q.stats.resets_out
    }),
    (
        "ackclock_device_refusals_total",
        "Packets that the device did not take, as while it is down.",
        |q| q.unsent,
    ),
];

/// A strategy by its name, with what became of its connections and those that are open.
type Strategy<'a> = (&'a str, (Arm, u64));

/// The metrics of all queues.
pub(super) fn text<C: Counts>(queues: &[Counters], services: &[C], shared: &Shared) -> String {
    let Some((first, others)) = queues.split_first() else { return String::new() };
    let mut arms = first.arms.clone();
    for other in others {
        for ((arm, open), (theirs, more)) in arms.iter_mut().zip(&other.arms) {
            arm.join(theirs);
            *open += more;
        }
    }
    let names: Vec<String> = arms.iter().map(|(arm, _)| arm.strategy.name().to_string()).collect();
    let of: Vec<Strategy> = names.iter().map(String::as_str).zip(arms).collect();
    // What is not of single connections has no strategy.
    let mut to = Exposition::plain();
    write_clients(&mut to, &of, queues, shared);
    write_senders(&mut to, &of);
    write_connections(&mut to, &of);
    write_host(&mut to, queues, shared);
    write_queues(&mut to, queues);
    let mut counted = C::default();
    services.iter().for_each(|other| counted.add(other));
    counted.write(&mut to, &names);
    to.finish()
}

fn sum(queues: &[Counters], count: fn(&Counters) -> u64) -> u64 {
    queues.iter().map(count).sum()
}

/// Who came and was taken, refused, or waits, and the bytes of those taken.
fn write_clients(to: &mut Exposition, of: &[Strategy], queues: &[Counters], shared: &Shared) {
    let refused = shared.sources.lock().unwrap_or_else(PoisonError::into_inner).refused;
    to.each("strategy", of, |to, (_, open)| {
        to.gauge("ackclock_connections_open", "Client connections that are open.", *open);
    });
    to.each("strategy", of, |to, (arm, _)| {
        to.counter("ackclock_connections_total", "Client connections taken.", arm.accepted);
    });
    to.counters(
        "ackclock_connections_refused_total",
        "Clients reset because their address had too many connections, or opened them too fast.",
        "limit",
        &[0, 1].map(|i| (TooMany::NAMES[i].0, refused[i])),
    );
    if let Some(log) = &shared.log {
        let help = "Lines of the access log that could not be written.";
        to.counter("ackclock_access_log_lost_lines_total", help, log.lost());
    }
    to.gauge(
        "ackclock_connections_waiting",
        "Clients that are connected and wait for others to end.",
        sum(queues, |q| q.waiting),
    );
    to.each("strategy", of, |to, (arm, _)| {
        to.counters(
            "ackclock_bytes_total",
            "Payload read from clients, and sent and acknowledged by them.",
            "direction",
            &[("received", arm.bytes[0]), ("sent", arm.bytes[1])],
        );
    });
}

/// What is counted of the senders of each strategy: metric, help, and what they have counted.
type OfSenders = (&'static str, &'static str, fn(&Stats) -> u64);
const SEGMENTS: [OfSenders; 3] = [
    ("ackclock_segments_sent_total", "Segments with payload sent.", |s| s.segments_sent),
    ("ackclock_retransmissions_total", "Of those, retransmissions.", |s| s.retransmissions),
    (
        "ackclock_fast_retransmissions_total",
        "Of the retransmissions, those that began a recovery.",
        |s| s.fast_retransmissions,
    ),
];
const REACTIONS: [OfSenders; 3] = [
    ("ackclock_recoveries_total", "Recoveries, begun by an ACK or by the timer of RACK.", |s| {
        s.recoveries
    }),
    ("ackclock_ecn_echoes_total", "ACKs with ECN-Echo.", |s| s.ecn_echoes),
    ("ackclock_ecn_reductions_total", "Reductions of the window that ECN-Echo began.", |s| {
        s.ecn_reductions
    }),
];

/// What the senders of each strategy counted.
fn write_senders(to: &mut Exposition, of: &[Strategy]) {
    let rows = |to: &mut Exposition, rows: &[OfSenders]| {
        for (name, help, count) in rows {
            to.each("strategy", of, |to, (arm, _)| to.counter(name, help, count(&arm.gone)));
        }
    };
    rows(to, &SEGMENTS);
    to.each("strategy", of, |to, (arm, _)| {
        to.timeouts("Retransmission timeouts by class.", &arm.gone.timeouts_by_class);
    });
    rows(to, &REACTIONS);
    to.each("strategy", of, |to, (arm, _)| {
        let (count, sum) = (arm.gone.rtt_samples, arm.gone.rtt_sum.secs_f64());
        to.seconds("ackclock_rtt_seconds", "Round trips measured.", count, sum);
    });
}

/// Connections with ECN, and how long connections and their round trips took.
fn write_connections(to: &mut Exposition, of: &[Strategy]) {
    to.each("strategy", of, |to, (arm, _)| {
        let help = "Of the client connections taken, those with ECN.";
        to.counter("ackclock_ecn_connections_total", help, arm.with_ecn);
    });
    to.each("strategy", of, |to, (arm, _)| {
        let help = "Segments with data that came marked with CE.";
        to.counter("ackclock_ecn_marks_total", help, arm.marks);
    });
    to.each("strategy", of, |to, (arm, _)| {
        let help = "How long connections lasted that are over.";
        arm.durations.write(to, "ackclock_connection_duration_seconds", help);
    });
    to.each("strategy", of, |to, (arm, _)| {
        let help = "Their smoothed round trips at the end.";
        arm.round_trips.write(to, "ackclock_connection_rtt_seconds", help);
    });
}

/// What the stacks, the device and the process have.
fn write_host(to: &mut Exposition, queues: &[Counters], shared: &Shared) {
    to.gauge(
        "ackclock_half_open_connections",
        "Connections whose handshake is not done.",
        sum(queues, |q| q.half_open),
    );
    for (name, help, count) in SUMS {
        to.counter(name, help, sum(queues, count));
    }
    if let Some(drops) = queues.first().and_then(|first| first.drops) {
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
        sum(queues, |q| q.memory),
    );
    to.gauge("ackclock_memory_budget_bytes", "What --memory allows.", shared.budget.all as u64);
    to.gauge(
        "ackclock_connections_most",
        "Connections for which there is room, at most: fewer where their buffers hold much.",
        shared.budget.connections as u64,
    );
    to.gauge(
        "ackclock_config_last_reload_successful",
        "1 if what SIGHUP last had read could be read, or none has come.",
        u64::from(shared.reloaded.load(Ordering::Relaxed)),
    );
    if let Some(bytes) = bytes_of(STATUS, "VmRSS:") {
        to.gauge("ackclock_resident_bytes", "Memory that the process has.", bytes);
    }
}

/// How evenly the queues of the device are loaded.
fn write_queues(to: &mut Exposition, queues: &[Counters]) {
    let numbers: Vec<String> = (0..queues.len()).map(|n| n.to_string()).collect();
    let by_queue = |count: fn(&Counters) -> u64| -> Vec<(&str, u64)> {
        numbers.iter().map(String::as_str).zip(queues.iter().map(count)).collect()
    };
    to.counters(
        "ackclock_queue_connections_total",
        "Client connections taken by the queue of the device (--queues) that they came to.",
        "queue",
        &by_queue(|q| q.arms.iter().map(|(arm, _)| arm.accepted).sum()),
    );
    to.counters(
        "ackclock_queue_packets_total",
        "Packets taken by the stack of each queue.",
        "queue",
        &by_queue(|q| q.stats.packets_in),
    );
    to.counter(
        "ackclock_handed_over_packets_total",
        "Of those, packets that came to another queue.",
        sum(queues, |q| q.handed_over),
    );
}
