//! Connections by client, by network or by service.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ackclock_report::align_results;
use ackclock_tcp::Span;
use ackclock_trace::Limit;
use serde::Serialize;

use crate::explained::{Explained, Found};
use crate::json::{CaptureJson, SummaryJson};
use crate::names;
use crate::summary::Summary;
use crate::text::{bounded, captures, counted_again};

/// What connections are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The client's address.
    Host,
    /// Its network: the first 24 bits of an IPv4 address, or 64 of an IPv6 one.
    Prefix,
    /// The server's port.
    Port,
}

impl By {
    /// The name used in every output.
    pub const fn name(self) -> &'static str {
        match self {
            By::Host => "host",
            By::Prefix => "prefix",
            By::Port => "port",
        }
    }

    fn of(self, found: &Found) -> Group {
        let client = found.connection.client.ip();
        match self {
            By::Host => Group::Host(client),
            By::Prefix => Group::Prefix(network(client)),
            By::Port => Group::Port(found.connection.server.port()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Host(IpAddr),
    Prefix(IpAddr),
    Port(u16),
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Group::Host(host) => write!(f, "{host}"),
            Group::Prefix(network) => {
                write!(f, "{network}/{}", if network.is_ipv4() { 24 } else { 64 })
            }
            Group::Port(port) => write!(f, "{port}"),
        }
    }
}

fn network(host: IpAddr) -> IpAddr {
    match host {
        IpAddr::V4(host) => Ipv4Addr::from_bits(host.to_bits() & !0xff).into(),
        IpAddr::V6(host) => Ipv6Addr::from_bits(host.to_bits() >> 64 << 64).into(),
    }
}

/// First the group whose connections were held up for longest.
fn groups(explained: &Explained, by: By) -> Vec<(Group, Summary)> {
    let mut groups: BTreeMap<Group, Summary> = BTreeMap::new();
    for found in explained.counted() {
        groups.entry(by.of(found)).or_default().add(found);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, sum)| Reverse(sum.held));
    groups
}

/// The headings of the sums that stay longest in a narrow terminal.
const RESULTS: [&str; 3] = ["timeouts", "lost in stalls (s)", "held up (s)"];

/// A table of groups, at most `top` of them; 0 for all. What does not fit into `width` columns is
/// left out and named ([`align_results`]); `None` leaves nothing out.
pub fn grouped(explained: &Explained, by: By, top: usize, width: Option<usize>) -> String {
    let groups = groups(explained, by);
    let heading = [by.name(), "connections", "bytes", "retransmitted (%)", "timeouts"];
    let heading = heading.into_iter().chain(["lost in stalls (s)", "held up (s)", "of (s)"]);
    let limits = Limit::ALL.map(|limit| format!("{} (%)", names::limit(limit)));
    let mut rows: Vec<Vec<String>> = vec![heading.map(String::from).chain(limits).collect()];
    let (shown, more) = bounded(groups.len(), top);
    rows.extend(groups[..shown].iter().map(row));
    let table = align_results(&rows, 1, &RESULTS, width);
    let note: String = counted_again(explained).map(|note| note + "\n").collect();
    format!("{}{note}\n{table}{more}", captures(explained, top))
}

fn row((group, sum): &(Group, Summary)) -> Vec<String> {
    let seconds = |span: Span| format!("{:.3}", span.secs_f64());
    let percent = |part: f64| format!("{:.1}", 100.0 * part);
    let whole = sum.lifetime.whole();
    let mut row = vec![
        group.to_string(),
        sum.connections.to_string(),
        sum.counts.bytes.to_string(),
        sum.retransmitted().map_or("-".into(), percent),
    ];
    let times = [sum.counts.lost_time(), sum.held, whole].map(seconds);
    let known = [sum.counts.all_timeouts().to_string()].into_iter().chain(times);
    // Of no time, as where one direction was captured, nothing is known.
    row.extend(known.map(|text| if whole == Span::ZERO { "-".into() } else { text }));
    row.extend(Limit::ALL.map(|limit| {
        let part = sum.lifetime.of(limit).secs_f64() / whole.secs_f64();
        if part.is_finite() { percent(part) } else { "-".into() }
    }));
    row
}

#[derive(Serialize)]
struct GroupsJson<'a> {
    captures: Vec<CaptureJson<'a>>,
    by: &'static str,
    groups: Vec<GroupJson>,
}

#[derive(Serialize)]
struct GroupJson {
    group: String,
    #[serde(flatten)]
    sum: SummaryJson,
}

/// Writes all groups as one JSON object: `captures`, `by` and `groups`.
///
/// # Errors
/// What writing returns.
pub fn write_grouped(explained: &Explained, by: By, mut out: impl Write) -> io::Result<()> {
    let group = |(group, sum): &(Group, Summary)| GroupJson {
        group: group.to_string(),
        sum: SummaryJson::of(sum),
    };
    let document = GroupsJson {
        captures: explained.captures.iter().map(CaptureJson::of).collect(),
        by: by.name(),
        groups: groups(explained, by).iter().map(group).collect(),
    };
    serde_json::to_writer(&mut out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}
