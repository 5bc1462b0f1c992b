//! What the index and the pages have in common.

use std::collections::BTreeMap;
use std::fmt::Write;

use ackclock_report::{Tone, escape};
use ackclock_tcp::Span;
use ackclock_trace::{Stall, StallCause};

use super::findings::tone;
use super::table::Cell;
use super::words::list;
use crate::explained::{End, Found};
use crate::{names, text};

pub(super) const SORT: &str = include_str!("../../assets/sort.js");

/// The name of a connection's page.
pub(crate) fn file_name(number: usize) -> String {
    format!("connection-{number}.html")
}

/// Client and server.
pub(super) fn ends(found: &Found) -> String {
    format!("{} → {}", found.connection.client, found.connection.server)
}

/// What shows the packets of a stall in Wireshark.
pub(super) fn filter(found: &Found, from: End, stall: &Stall) -> Cell {
    Cell::html(format!("<code>{}</code>", escape(&names::display_filter(found, from, stall))))
}

/// What to change, under a heading of this kind if there is anything.
pub(super) fn to_change(html: &mut String, heading: &str, advice: &[String]) {
    if advice.is_empty() {
        return;
    }
    let _ = writeln!(html, "<{heading}>What to change</{heading}>\n<ul>");
    for line in advice {
        let _ = writeln!(html, "<li>{}</li>", escape(line));
    }
    html.push_str("</ul>\n");
}

/// The class of a colour.
pub(super) fn class(cause: StallCause) -> &'static str {
    match tone(cause) {
        Tone::Loss => "loss",
        Tone::Window => "window",
        Tone::Other => "other",
    }
}

/// By cause how long and how often time was lost, the longest first; as HTML. Empty if none was.
pub(super) fn causes<'a>(all: impl Iterator<Item = &'a Found>) -> String {
    let mut sums: BTreeMap<String, (Span, usize, &str)> = BTreeMap::new();
    let stalls = all.flat_map(|found| found.stalled().map(move |stall| (found, stall)));
    let lost = |(_, (_, stall, _)): &(_, (_, &Stall, _))| stall.cause != StallCause::Application;
    for (found, (end, stall, lasted)) in stalls.filter(lost) {
        let sum = sums.entry(names::verdict(found, end, stall));
        let (long, count, _) = sum.or_insert((Span::ZERO, 0, class(stall.cause)));
        *long = *long + lasted;
        *count += 1;
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (long, ..))| std::cmp::Reverse(*long));
    let part = |(cause, (long, count, class)): (String, (Span, usize, &str))| {
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        format!("<b class=\"{class}\">{}</b> {}{times}", list(&cause), text::time(long))
    };
    sums.into_iter().map(part).collect::<Vec<_>>().join("; ")
}
