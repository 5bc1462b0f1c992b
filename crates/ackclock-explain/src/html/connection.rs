//! The page of a connection: the picture, and everything that happened as tables.

use std::fmt::Write;

#[cfg(not(target_family = "wasm"))]
use ackclock_figure::{Figure, Interval, Width};
use ackclock_report::{Findings, Panel, Picture, escape};
use ackclock_tcp::wire::Options;
use ackclock_tcp::{Span, Time, TimeoutClass};
use ackclock_trace::{Ecn, Flow, Kind, Retransmission, Stall, StallCause};

use super::charts::{Way, charts};
use super::findings::Drawn;
use super::parts::{SORT, causes, class, ends, filter, to_change};
use super::table::{Cell, table};
use super::words::{LOST, glossary, list, word};
use crate::explained::{End, Explained, Found};
use crate::text::Known;
use crate::{names, text};

/// The most rows of a table; beyond it the first ones.
const MOST_ROWS: usize = 1000;

/// A way of a connection that is drawn.
struct Shown {
    end: End,
    name: String,
    note: String,
    drawn: Drawn,
}

/// The page of a connection whose events are there.
pub(crate) fn page(found: &Found, explained: &Explained, known: &Known) -> String {
    let title = format!("#{} {}", found.number, ends(found));
    let facts = facts(found, explained);
    let shown = shown(found);
    let panels = panels(found, &shown);
    let picture = Picture { title: &title, parameters: &facts, ..picture(&panels) };
    picture.to_html_with(&intro(found, &shown, known), &below(found))
}

/// The picture of a connection whose events are there, as a figure.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn figure(
    found: &Found,
    width: Width,
    interval: Interval,
) -> Result<Figure, ackclock_figure::Error> {
    let shown = shown(found);
    Figure::of_picture(&picture(&panels(found, &shown)), width, interval)
}

/// A way with no more segments and no trouble is not drawn beside the other one: a request, say.
const IDLE: u64 = 10;

fn is_idle(flow: &Flow) -> bool {
    let lost = |stall: &&Stall| stall.cause != StallCause::Application;
    let troubles = flow.stalls.iter().filter(lost).count() + flow.retransmissions.len();
    flow.segments <= IDLE && troubles == 0
}

/// The ways that are drawn: those that have data to show, without what is idle beside another.
fn shown(found: &Found) -> Vec<Shown> {
    let has_data = |flow: &Flow| flow.bytes > 0 && !flow.events.is_empty();
    let busy = found.flows().any(|(_, flow)| has_data(flow) && !is_idle(flow));
    let drawn = found.flows().filter(|(_, flow)| has_data(flow) && !(busy && is_idle(flow)));
    let shown = |(end, _)| Shown {
        end,
        name: panel_name(found, end),
        note: note(found, end),
        drawn: Drawn::new(found, end),
    };
    drawn.map(shown).collect()
}

fn panels<'a>(found: &'a Found, shown: &'a [Shown]) -> Vec<Panel<'a>> {
    let panel = |Shown { end, name, note, drawn }: &'a Shown| Panel {
        name,
        mss: found.flow(*end).mss,
        events: &drawn.events,
        note,
        findings: Findings { stalls: &drawn.stalls, fates: &drawn.fates, classes: &drawn.classes },
        ..Panel::default()
    };
    shown.iter().map(panel).collect()
}

fn picture<'a>(panels: &'a [Panel<'a>]) -> Picture<'a> {
    Picture { panels, own_scales: true, ..Picture::default() }
}

fn panel_name(found: &Found, end: End) -> String {
    let c = &found.connection;
    match end {
        End::Client => format!("client {} sends", c.client),
        End::Server => format!("server {} sends", c.server),
    }
}

/// The verdict, and what the picture does not show.
fn intro(found: &Found, shown: &[Shown], known: &Known) -> String {
    let mut html = format!("<p><a href=\"index.html\">All connections</a></p>\n{}", verdict(found));
    to_change(&mut html, "h2", &text::advice_on(found, known));
    for (end, flow) in found.flows() {
        for doubt in &flow.doubts {
            let _ = writeln!(
                html,
                "<p class=\"doubt\">Not known of the {}: {}</p>",
                end.name(),
                escape(doubt)
            );
        }
    }
    if shown.is_empty() {
        html.push_str(
            "<p class=\"doubt\">No data were seen, or their events were not kept, so that nothing \
             is drawn.</p>\n",
        );
    }
    for (end, flow) in found.flows() {
        if !shown.is_empty() && flow.bytes > 0 && shown.iter().all(|other| other.end != end) {
            let _ = writeln!(
                html,
                "<p class=\"soft\">The {} sent {} in {} without trouble, which is not drawn.</p>",
                end.name(),
                text::count(flow.bytes, "byte"),
                text::count(flow.segments, "segment")
            );
        }
    }
    for Shown { end, drawn, .. } in shown {
        let (kept, all) = (drawn.events.len(), found.flow(*end).events.len());
        if kept < all {
            let _ = writeln!(
                html,
                "<p class=\"soft\">What the {} sent is thinned: {kept} marks stand for {all} \
                 events. What shares a pixel is one mark; \
                 around retransmissions everything is there as far as there is room.</p>",
                end.name()
            );
        }
        let (shaded, all) = (drawn.stalls.len(), found.flow(*end).stalls.len());
        if shaded < all {
            let _ = writeln!(
                html,
                "<p class=\"soft\">Of {all} stalls of the {}, {shaded} are shaded: the longest of \
                 each thousandth of the time, and the application's longest pause in it.</p>",
                end.name()
            );
        }
    }
    html
}

/// What held the connection up, at first sight.
fn verdict(found: &Found) -> String {
    let (counts, c) = (found.counts(), &found.connection);
    let held = causes(std::iter::once(found));
    let why = text::why(found);
    let mut html = format!("<p class=\"verdict\">{}.</p>\n", escape(&why));
    if c.one_way || c.unanswered || c.whole_seconds {
        return html;
    }
    let _ = writeln!(html, "<p>Its time went into: {}.</p>", list(&text::shares(found.lifetime())));
    if let Some(marks) = text::marks(found) {
        let _ = writeln!(html, "<p>It met marks: {}.</p>", escape(&marks));
    }
    let path = [text::losses(found), text::queueing(found)].into_iter().flatten();
    for text in text::shorter(found).into_iter().chain(path) {
        let _ = writeln!(html, "<p>On its path: {}.</p>", escape(&text));
    }
    html += &match held.is_empty() {
        true => format!(
            "<p class=\"verdict\">No stall; {}.</p>\n",
            text::count(counts.all_retransmissions(), "retransmission")
        ),
        false => format!(
            "<p class=\"verdict\">{} {} of {}: {held}.</p>\n",
            word(LOST),
            text::time(counts.lost_time()),
            text::time(c.end.since(c.start))
        ),
    };
    if counts.application > Span::ZERO {
        let lost_before = |(from, stall): &(End, &Stall)| {
            stall.cause == StallCause::Application && !found.is_proven(*from)
        };
        let what = match found.stalls().iter().any(lost_before) {
            true => "No data came",
            false => "The application had nothing to send",
        };
        let _ = writeln!(
            html,
            "<p class=\"soft\">{what} for {}, which is not counted as lost.</p>",
            text::time(counts.application)
        );
    }
    html
}

/// Name and value of what is known of the whole connection.
fn facts(found: &Found, explained: &Explained) -> Vec<(String, String)> {
    let c = &found.connection;
    let capture = explained.captures.get(found.capture).map_or("", |capture| capture.path.as_str());
    let mut facts = vec![
        ("capture".to_string(), capture.to_string()),
        ("began".into(), text::date(c.start)),
        ("lasted".into(), text::time(c.end.since(c.start))),
        ("packets".into(), c.packets.to_string()),
        ("beginning".into(), if c.begun { "seen" } else { "not seen" }.into()),
        ("end".into(), text::ended(c.ended).into()),
        ("captured".into(), text::position(&c.position)),
    ];
    for (end, flow) in found.flows() {
        facts.push((
            format!("{} offered", end.name()),
            flow.offered.as_ref().map_or("SYN not seen".into(), offered),
        ));
    }
    for (end, flow) in found.flows().filter(|(_, flow)| flow.bytes > 0) {
        let ways = text::ways(flow, found.flow(end.other())).into_iter();
        let seen = ways.skip(2).filter(|(_, value)| value != "not seen");
        facts.extend(seen.map(|(name, value)| (format!("{}: {name}", end.name()), value)));
    }
    for (end, flow) in found.flows().filter(|(_, flow)| flow.ecn.negotiated == Some(true)) {
        facts.push((format!("{} sent with ECN", end.name()), marks(&flow.ecn)));
    }
    facts
}

/// What was marked, and what followed from it.
fn marks(ecn: &Ecn) -> String {
    let times = ecn.reductions.len() as u64;
    let segments = text::count(ecn.capable, "segment");
    let seen = format!("{segments} ECN-capable, {} marked before the capture", ecn.marked);
    if ecn.accurate {
        return seen + "; accurate ECN";
    }
    format!(
        "{seen}; {} with ECN-Echo; window lowered {} for it",
        text::count(ecn.echoes, "ACK"),
        text::count(times, "time")
    )
}

/// The options of a SYN.
fn offered(options: &Options) -> String {
    let mut parts = Vec::new();
    parts.extend(options.mss.map(|mss| format!("MSS {mss}")));
    parts.extend(options.wscale.map(|scale| format!("window scale {scale}")));
    parts.extend(options.sack_permitted.then(|| "SACK".to_string()));
    parts.extend(options.timestamps.map(|_| "timestamps".to_string()));
    if parts.is_empty() { "no options".into() } else { parts.join(", ") }
}

/// The line below the name of a panel.
fn note(found: &Found, end: End) -> String {
    let flow = found.flow(end);
    let mut parts = vec![
        text::count(flow.bytes, "byte"),
        text::count(flow.segments, "segment"),
        text::count(flow.retransmissions.len() as u64, "retransmission"),
        text::count(flow.timeouts.len() as u64, "timeout"),
    ];
    let either = flow.retransmissions.iter().filter(|r| r.kind == Kind::ProbeOrTimeout).count();
    parts.extend((either > 0).then(|| format!("{either} undecided (tail loss probe or timeout)")));
    parts.push(format!("MSS {}", flow.mss));
    parts.extend(text::round_trip(found, end));
    parts.push("cwnd estimated".into());
    parts.extend(
        (flow.unseen > 0).then(|| format!("{} never seen", text::count(flow.unseen, "byte"))),
    );
    parts.join(" · ")
}

/// The tables.
fn below(found: &Found) -> String {
    let mut html = String::from("<div class=\"below\">\n");
    over_time(&mut html, found);
    stalls(&mut html, found);
    timeouts(&mut html, found);
    recoveries(&mut html, found);
    retransmissions(&mut html, found);
    glossary(&mut html);
    let _ = write!(html, "</div>\n<script>\n{SORT}</script>\n");
    html
}

/// Throughput and round trips of the ways that are drawn.
fn over_time(html: &mut String, found: &Found) {
    let c = &found.connection;
    let way = |Shown { end, .. }: Shown| {
        let flow = found.flow(end);
        Way::new(end.name(), c, &flow.events, flow.rtt.map(|rtt| rtt.median))
    };
    let ways: Vec<Way> = shown(found).into_iter().map(way).collect();
    let charts = charts(&ways);
    if !charts.is_empty() {
        html.push_str("<h2>Over time</h2>\n");
    }
    charts.iter().for_each(|chart| html.push_str(&chart.to_html()));
}

/// A heading with the number of rows, and the note that a table is cut.
fn heading(html: &mut String, what: &str, rows: usize) {
    heading_of(html, what, rows, &format!("The first {MOST_ROWS}"));
}

fn heading_of(html: &mut String, what: &str, rows: usize, shown: &str) {
    let _ = writeln!(html, "<h2>{what} ({rows})</h2>");
    if rows > MOST_ROWS {
        let _ = writeln!(html, "<p class=\"soft\">{shown}; the JSON has all.</p>");
    }
}

/// The time, and a button that shows it in the picture with some room on either side.
fn moment(found: &Found, from: Time, to: Time) -> Cell {
    let since = |at: Time| at.since(found.connection.start).secs_f64();
    let (t0, t1) = (since(from), since(to));
    let html =
        format!("{t0:.6} <button class=\"show\" data-t0=\"{t0}\" data-t1=\"{t1}\">show</button>");
    Cell::html(html).sorted_by(t0)
}

/// What one of them is about: half a second, or as much as it took.
fn at(found: &Found, at: Time) -> Cell {
    let around = found.flows().filter_map(|(_, flow)| flow.rtt).map(|rtt| rtt.mean).max();
    let around = around.unwrap_or(Span::from_millis(100));
    let before = Time(at.0.saturating_sub(around.0));
    let since = |at: Time| at.0.saturating_sub(found.connection.start.0) as f64 / 1e9;
    let html = format!(
        "{:.6} <button class=\"show\" data-t0=\"{}\" data-t1=\"{}\">show</button>",
        since(at),
        since(before),
        since(at + around)
    );
    Cell::html(html).sorted_by(since(at))
}

fn stalls(html: &mut String, found: &Found) {
    let mut all = found.stalls();
    if all.is_empty() {
        return;
    }
    let shown = format!("{MOST_ROWS} of them, pauses of the application last");
    heading_of(html, "Stalls", all.len(), &shown);
    // What is cut off is no time lost, as far as there is room.
    all.sort_by_key(|(_, stall)| stall.cause == StallCause::Application);
    all.truncate(MOST_ROWS);
    all.sort_by_key(|(_, stall)| stall.start);
    let rows = all.iter().map(|(end, stall)| {
        let long = stall.end.since(stall.start);
        vec![
            moment(found, stall.start, stall.end),
            Cell::from(text::time(long)).sorted_by(long.secs_f64()),
            Cell::from(names::verdict(found, *end, stall)).class(class(stall.cause)),
            Cell::from(text::stall(found, *end, stall)),
            end.name().into(),
            frame(stall.frame),
            filter(found, *end, stall),
        ]
    });
    let headings =
        ["began (s)", "long", "<cause", "*why", "<from", "ended by frame", "<in Wireshark"];
    table(html, &headings, rows);
}

fn frame(number: u64) -> Cell {
    if number == 0 { "".into() } else { number.into() }
}

fn timeouts(html: &mut String, found: &Found) {
    let all = found.timeouts();
    if all.is_empty() {
        return;
    }
    heading(html, "Timeouts", all.len());
    html.push_str(
        "<p class=\"soft\">What would have avoided them is an estimate: the same transmissions are \
         lost again whatever is sent in between, \
         and no others.</p>\n",
    );
    let rows = all.iter().take(MOST_ROWS).map(|(end, place, t)| {
        let flow = found.flow(*end);
        let segments = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(flow.mss.max(1)));
        vec![
            at(found, t.at),
            end.name().into(),
            u64::from(t.seq.0).into(),
            Cell::from(names::class_text(t.class)).class("loss"),
            t.state.name().into(),
            segments(t.flight).into(),
            segments(t.cwnd).into(),
            Cell::from(text::time(t.waited)).sorted_by(t.waited.secs_f64()),
            t.spurious.map_or("", names::spurious_text).into(),
            Cell::from(rescued(found, *end, *place, t.class)),
        ]
    });
    let headings = [
        "at (s)",
        "<from",
        "seq",
        "<class",
        "<state before",
        "flight (segments)",
        "cwnd (segments)",
        "waited",
        "<spurious",
        "*what would have avoided it",
    ];
    table(html, &headings, rows);
}

/// What would have avoided a timeout, what saves most first.
fn rescued(found: &Found, end: End, place: usize, class: TimeoutClass) -> String {
    let Some(saved) = found.saved.iter().find(|s| (s.from, s.timeout) == (end, place)) else {
        return match class {
            TimeoutClass::BackedOff => "not replayed: part of the timeout before it".into(),
            _ => "not replayed: what was outstanding was seen only in part, or others took longer"
                .into(),
        };
    };
    let mut helps: Vec<_> = saved.by.iter().filter(|r| r.avoided && r.saved_s > 0.0).collect();
    helps.sort_by(|a, b| b.saved_s.total_cmp(&a.saved_s));
    let (saving, perhaps): (Vec<_>, Vec<_>) = helps.into_iter().partition(|r| r.saves());
    let saving = saving.iter().map(|r| format!("{}: {}", r.mechanism, text::seconds_saved(r)));
    let perhaps = perhaps.iter().map(|r| format!("perhaps {}", r.mechanism));
    let parts: Vec<String> = saving.chain(perhaps).collect();
    match (saved.by.len(), parts.is_empty()) {
        (0, _) => "cannot be told: a replay of the sender does not do as the sender did".into(),
        (tried, true) => format!("none of the {tried} strategies tried"),
        (_, false) => parts.join(", "),
    }
}

fn recoveries(html: &mut String, found: &Found) {
    let all = found.recoveries();
    if all.is_empty() {
        return;
    }
    heading(html, "Recoveries", all.len());
    let rows = all.iter().take(MOST_ROWS).map(|(end, r)| {
        vec![
            moment(found, r.start, r.end.unwrap_or(found.connection.end)),
            end.name().into(),
            Cell::from(text::recovered(r)),
        ]
    });
    table(html, &["began (s)", "<from", "*what"], rows);
}

/// Why it was sent. Where hypotheses say so, their probability is shown for it.
fn kind(found: &Found, from: End, r: &Retransmission) -> Cell {
    let said = escape(&names::kind_said(found, from, r));
    Cell::html(match r.probability {
        Some(probability) => {
            format!("<span title=\"probability {:.0} %\">{said}</span>", 100.0 * probability)
        }
        None => said,
    })
}

fn retransmissions(html: &mut String, found: &Found) {
    let all = found.retransmissions();
    if all.is_empty() {
        return;
    }
    heading(html, "Retransmissions", all.len());
    let rows = all.iter().take(MOST_ROWS).map(|(end, r)| {
        let spurious = match (r.spurious, r.known) {
            (Some(by), _) => names::spurious_text(by),
            (None, true) => "no",
            (None, false) => "unknown",
        };
        let lost = match r.lost {
            Some(true) => "lost",
            Some(false) => "no",
            None => "unknown",
        };
        vec![
            at(found, r.at),
            frame(r.frame),
            end.name().into(),
            u64::from(r.seq.0).into(),
            u64::from(r.len).into(),
            u64::from(r.transmission).into(),
            kind(found, *end, r),
            spurious.into(),
            lost.into(),
        ]
    });
    let headings =
        ["at (s)", "frame", "<from", "seq", "bytes", "transmission", "<kind", "<spurious", "<lost"];
    table(html, &headings, rows);
}
