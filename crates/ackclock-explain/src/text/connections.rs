//! The table of connections.

use std::cmp::Reverse;

use ackclock_report::{align_results, wrap};
use ackclock_tcp::TimeoutClass;
use ackclock_trace::Kind;

use super::words::bounded;
use crate::explained::{Counts, Explained, Found};

const HEADING: [&str; 21] = [
    "#",
    "client",
    "server",
    "time (s)",
    "bytes",
    "rtt (ms)",
    "rexmit",
    "fast",
    "recov",
    "slow",
    "tlp",
    "?",
    "rto",
    "n-t",
    "m-l",
    "l-r",
    "b-o",
    "h-s",
    "spurious",
    "lost",
    "stalled (s)",
];

/// What stays longest in a narrow terminal.
const RESULTS: [&str; 6] = ["time (s)", "bytes", "rexmit", "rto", "stalled (s)", "capture"];

const LEGEND: &str = "\
rexmit: retransmissions; of these fast: fast retransmits, recov: later in the recovery, slow: in \
slow start after a timeout,
tlp: tail loss probes, with those of new data, ?: of unknown cause, or probe or timeout. rto: \
timeouts; of these n-t: nothing had been retransmitted before,
m-l: another segment had, l-r: this segment had, b-o: the timer was backed off, h-s: of a SYN, \
SYN/ACK or FIN;
those of unknown class have no column. spurious: proved so; lost: retransmissions that were lost
";

/// Those first in which most time was lost.
pub(super) fn table(explained: &Explained, top: usize, width: Option<usize>) -> String {
    let mut all: Vec<(&Found, Counts)> =
        explained.connections.iter().map(|found| (found, found.counts())).collect();
    all.sort_by_key(|(found, c)| {
        Reverse((c.lost_time(), c.all_retransmissions(), c.bytes, Reverse(found.number)))
    });
    let (shown, more) = bounded(all.len(), top);
    if shown == 0 {
        return "No TCP connection was found.\n".into();
    }
    let mut rows = vec![HEADING.map(String::from).to_vec()];
    rows.extend(all[..shown].iter().map(|(found, counts)| row(found, counts)));
    if let [_, _, ..] = &explained.captures[..] {
        let captures =
            all[..shown].iter().filter_map(|(found, _)| explained.captures.get(found.capture));
        let names = std::iter::once("capture").chain(captures.map(|c| c.path.as_str()));
        rows.iter_mut().zip(names).for_each(|(row, name)| row.push(name.into()));
    }
    align_results(&rows, 1, &RESULTS, width) + &more + &wrap(LEGEND, width)
}

fn row(found: &Found, c: &Counts) -> Vec<String> {
    let connection = &found.connection;
    let rtt = found.median_round_trip();
    let rtt = rtt.map_or("-".into(), |rtt| format!("{:.1}", 1000.0 * rtt.secs_f64()));
    let mut cells = vec![
        found.number.to_string(),
        connection.client.to_string(),
        connection.server.to_string(),
        format!("{:.3}", connection.end.since(connection.start).secs_f64()),
        c.bytes.to_string(),
        rtt,
    ];
    let counted = [
        c.all_retransmissions(),
        c.of(Kind::FastRetransmit),
        c.of(Kind::Recovery),
        c.of(Kind::SlowStart),
        c.tail_loss_probes(),
        c.of(Kind::Unknown) + c.of(Kind::ProbeOrTimeout),
        c.all_timeouts(),
        c.timeouts_of(TimeoutClass::NonTrigger),
        c.timeouts_of(TimeoutClass::MultipleLosses),
        c.timeouts_of(TimeoutClass::LostRetransmission),
        c.timeouts_of(TimeoutClass::BackedOff),
        c.timeouts_of(TimeoutClass::Handshake),
        c.spurious,
        c.lost,
    ];
    cells.extend(counted.map(|n| n.to_string()));
    cells.push(format!("{:.3}", c.lost_time().secs_f64()));
    cells
}
