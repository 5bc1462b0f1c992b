//! The index: what the time went into, the connections that were held up for longest and what to
//! change; folded up below it all stalls, all connections, and all of them together beside the
//! papers.

use std::fmt::Write;

use ackclock_report::{Chart, Curve, Line, Plot, Point, escape, page};
use ackclock_tcp::{Span, Time};
use ackclock_trace::{Stall, StallCause};

use super::parts::{SORT, causes, class, ends, file_name, filter, to_change};
use super::table::{Cell, table};
use super::words::{LOST, glossary, list, word};
use crate::explained::{Capture, Counts, End, Explained, Found};
use crate::names;
use crate::overall::{FIGURE_1, Overall, PaperTable};
use crate::text;

const TITLE: &str = "Captures explained";

/// The most rows of the tables of connections and of captures, and of that of stalls.
const MOST_ROWS: usize = 2000;
const MOST_STALLS: usize = 50;

/// The most entries of the lists of the short text.
const WORST: usize = 10;

/// The index. Of the connections `drawn` there are pages; `left_out` more would have been worth
/// one.
pub(crate) fn index(explained: &Explained, drawn: &[usize], left_out: usize) -> String {
    let all = Overall::of(explained);
    let mut html = format!("<main class=\"report\">\n<h1>{TITLE}</h1>\n");
    incomplete(&mut html, explained);
    if explained.connections.is_empty() {
        html.push_str("<p class=\"verdict\">No TCP connection was found.</p>\n");
        captures(&mut html, explained);
        let _ = write!(html, "</main>\n<script>\n{SORT}</script>\n");
        return page(TITLE, &html);
    }
    verdict(&mut html, explained, &all);
    worst(&mut html, explained, drawn);
    advice(&mut html, explained);
    stalls(&mut html, explained, drawn);
    connections(&mut html, explained, drawn, left_out);
    rescues(&mut html, explained, &all);
    papers(&mut html, &all);
    captures(&mut html, explained);
    glossary(&mut html);
    let _ = write!(html, "</main>\n<script>\n{SORT}</script>\n");
    page(TITLE, &html)
}

/// A connection's number, as a link to a place on its page where it has one.
fn anchor(number: usize, drawn: &[usize], place: &str) -> String {
    match drawn.contains(&number) {
        true => format!("<a href=\"{}{place}\">#{number}</a>", file_name(number)),
        false => format!("#{number}"),
    }
}

fn link(number: usize, drawn: &[usize], place: &str) -> Cell {
    Cell::html(anchor(number, drawn, place)).sorted_by(number)
}

/// Client and server, and in which of several captures they are.
fn placed(explained: &Explained, found: &Found) -> String {
    let capture = explained.capture_of(found);
    ends(found) + &capture.map_or(String::new(), |path| format!(" in {path}"))
}

/// Where the picture of a connection shows a stall.
fn moment(found: &Found, stall: &Stall) -> String {
    let since = |at: Time| at.since(found.connection.start).secs_f64();
    format!("#t={},{}", since(stall.start), since(stall.end))
}

fn verdict(html: &mut String, explained: &Explained, all: &Overall) {
    let lost = causes(explained.counted());
    let counts = &all.counts;
    let lifetime = explained.summary().lifetime;
    let known = lifetime.whole() > Span::ZERO;
    let _ = match known {
        true => writeln!(
            html,
            "<p class=\"verdict\">The time of all connections, {}, went into: {}.</p>",
            text::time(lifetime.whole()),
            list(&text::shares(&lifetime))
        ),
        false => {
            writeln!(html, "<p class=\"verdict\">What the connections waited for is not known.</p>")
        }
    };
    if let Some(rest) = text::without_application(&lifetime) {
        let shares = list(&text::shares(&rest));
        let _ = writeln!(html, "<p>Without the application's: {shares}.</p>");
    }
    let _ = match lost.is_empty() {
        true if known => writeln!(html, "<p class=\"verdict\">No stall.</p>"),
        true => Ok(()),
        false => writeln!(
            html,
            "<p class=\"verdict\">{} {}: {lost}.</p>",
            word(LOST),
            text::time(counts.lost_time())
        ),
    };
    let _ = writeln!(
        html,
        "<p>{}, {} in {}; {}, {} of them proved spurious; {}. Explained by ackclock {}.</p>",
        text::count(all.connections, "connection"),
        text::count(counts.bytes, "byte"),
        text::count(counts.segments, "segment"),
        text::count(counts.all_retransmissions(), "retransmission"),
        counts.spurious,
        if known { list(&text::timeouts(counts)) } else { "timeouts not known".into() },
        env!("CARGO_PKG_VERSION"),
    );
    for note in text::notes(explained) {
        let _ = writeln!(html, "<p>{}.</p>", escape(&note));
    }
}

/// What holds for these connections, one sentence each.
fn worst(html: &mut String, explained: &Explained, drawn: &[usize]) {
    let worst = text::worst(explained);
    if worst.is_empty() {
        return;
    }
    html.push_str("<h2>Held up for longest</h2>\n<ul>\n");
    for found in &worst[..worst.len().min(WORST)] {
        let number = anchor(found.number, drawn, "");
        let why = escape(&text::why(found));
        let _ = write!(html, "<li>{number} {}: {why}", escape(&placed(explained, found)));
        for line in text::below(found) {
            let _ = write!(html, "<br>\n{}", escape(&line));
        }
        html.push_str("</li>\n");
    }
    html.push_str("</ul>\n");
    more(html, worst.len());
}

/// That a list of the short text is cut.
fn more(html: &mut String, all: usize) {
    if let Some(more) = all.checked_sub(WORST).filter(|more| *more > 0) {
        let _ = writeln!(
            html,
            "<p class=\"soft\">And {more} more: the text has all with <code>--top 0</code>.</p>"
        );
    }
}

fn advice(html: &mut String, explained: &Explained) {
    let advice = text::advice(explained);
    to_change(html, "h2", &advice[..advice.len().min(WORST)]);
    more(html, advice.len());
}

/// Begins what is folded up, under a heading.
fn fold(html: &mut String, heading: &str) {
    let _ = writeln!(html, "<details class=\"fold\">\n<summary>{heading}</summary>");
}

fn unfold(html: &mut String) {
    html.push_str("</details>\n");
}

fn captures(html: &mut String, explained: &Explained) {
    fold(html, &format!("Captures ({})", explained.captures.len()));
    cut(html, explained.captures.len(), MOST_ROWS);
    let mut connections = vec![0_u64; explained.captures.len()];
    for found in &explained.connections {
        if let Some(n) = connections.get_mut(found.capture) {
            *n += 1;
        }
    }
    let rows = explained.captures.iter().zip(&connections).take(MOST_ROWS).map(
        |(capture, connections)| {
            vec![
                Cell::from(capture.path.as_str()),
                capture.packets.into(),
                capture.segments.into(),
                (*connections).into(),
                Cell::from(remarks(capture)),
            ]
        },
    );
    table(html, &["capture", "packets", "with TCP", "connections", "*remarks"], rows);
    unfold(html);
}

/// Why a capture is not explained to its end.
fn broken_off(capture: &Capture) -> Vec<String> {
    let mut why = Vec::new();
    why.extend(
        capture.damage.as_ref().map(|d| format!("damaged at byte {}: {}", d.offset, d.what)),
    );
    why.extend(capture.failed.as_ref().map(|why| format!("could not be read to its end: {why}")));
    why.extend(capture.interrupted.then(|| "reading it was interrupted".to_string()));
    why
}

/// The captures of which only the beginning is explained: all that follows is to be read with that
/// in mind.
fn incomplete(html: &mut String, explained: &Explained) {
    let line = |capture: &Capture| {
        let why = broken_off(capture);
        let text = || format!("<li>{}: {}</li>\n", escape(&capture.path), escape(&why.join("; ")));
        (!why.is_empty()).then(text)
    };
    let lines: Vec<String> = explained.captures.iter().filter_map(line).collect();
    if lines.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"doubt\">\n<p>Not the whole of the captures is explained. What follows \
         breaks off:</p>\n<ul>\n",
    );
    html.extend(lines.iter().take(WORST).map(String::as_str));
    html.push_str("</ul>\n");
    if lines.len() > WORST {
        let _ = writeln!(html, "<p class=\"soft\">And {} more.</p>", lines.len() - WORST);
    }
    html.push_str("</div>\n");
}

/// What is wrong with a capture, and what of it was left out.
fn remarks(capture: &Capture) -> String {
    let mut remarks = broken_off(capture);
    remarks.extend((capture.dropped_by_capture > 0).then(|| {
        format!("says that it missed {}", text::count(capture.dropped_by_capture, "packet"))
    }));
    remarks.extend(text::order(capture));
    remarks.extend(
        (capture.filtered > 0).then(|| format!("{} held back by the filter", capture.filtered)),
    );
    remarks.extend(names::left_out(capture));
    remarks.join("; ")
}

fn cut(html: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(html, "<p class=\"soft\">{most} of {all}; the JSON has all.</p>");
    }
}

fn stalls(html: &mut String, explained: &Explained, drawn: &[usize]) {
    let all = explained.stalls();
    if all.is_empty() {
        return;
    }
    fold(html, &format!("Where most time was lost ({})", text::count(all.len() as u64, "stall")));
    cut(html, all.len(), MOST_STALLS);
    let rows = all.iter().take(MOST_STALLS).map(|(found, end, stall)| {
        let long = stall.end.since(stall.start);
        vec![
            link(found.number, drawn, &moment(found, stall)),
            Cell::from(text::time(long)).sorted_by(long.secs_f64()),
            Cell::from(names::verdict(found, *end, stall)).class(class(stall.cause)),
            Cell::from(text::stall(found, *end, stall)),
            placed(explained, found).into(),
            filter(found, *end, stall),
        ]
    });
    table(html, &["", "time lost", "<cause", "*why", "<connection", "<in Wireshark"], rows);
    unfold(html);
}

fn rescues(html: &mut String, explained: &Explained, all: &Overall) {
    if all.rescues.is_empty() {
        return;
    }
    fold(html, "What would have avoided timeouts");
    let of = match (explained.replayable, explained.replayed) {
        (all, some) if all > some => format!("the {some} of {all} timeouts that waited longest"),
        (all, _) => text::count(all as u64, "timeout"),
    };
    let untold = match explained.untold() {
        0 => String::new(),
        n => format!(" Of {} nothing can be told.", text::count(n as u64, "timeout")),
    };
    let _ = writeln!(
        html,
        "<p class=\"soft\">An estimate from {of}, each replayed under every strategy: the same \
         transmissions are lost again whatever is \
         sent in between, and no others.{untold}</p>"
    );
    if all.helpful().next().is_none() {
        html.push_str("<p>What was tried would have avoided none of them.</p>\n");
        unfold(html);
        return;
    }
    let rows = all.helpful().map(|sum| {
        vec![
            Cell::from(sum.mechanism),
            Cell::html(format!("<code>{}</code>", escape(sum.strategy))),
            sum.avoided.into(),
            sum.replayed.into(),
            Cell::from(format!("{:.3}", sum.saved_s)),
        ]
    });
    table(html, &["mechanism", "<strategy", "timeouts avoided", "of", "saved (s)"], rows);
    unfold(html);
}

fn connections(html: &mut String, explained: &Explained, drawn: &[usize], left_out: usize) {
    let mut all: Vec<(&Found, Counts)> =
        explained.connections.iter().map(|found| (found, found.counts())).collect();
    all.sort_by_key(|(_, c)| std::cmp::Reverse((c.lost_time(), c.all_retransmissions(), c.bytes)));
    fold(html, &format!("All connections ({})", all.len()));
    if left_out > 0 {
        let _ = writeln!(
            html,
            "<p class=\"soft\">{} that were held up have a page; {left_out} more are left out, \
             in which less time was lost: \
             <code>--top</code> draws more, <code>--connection</code> draws one.</p>",
            drawn.len()
        );
    }
    cut(html, all.len(), MOST_ROWS);
    let mut headings = vec![
        "",
        "lost (s)",
        "<client",
        "<server",
        "<limited by",
        "lasted (s)",
        "bytes",
        "rtt (ms)",
        "stalls",
        "rexmit",
        "timeouts",
        "probes",
        "spurious",
        "lost",
    ];
    headings.extend((explained.captures.len() > 1).then_some("<capture"));
    let is_lost = |(_, stall): &&(End, &Stall)| stall.cause != StallCause::Application;
    let rows = all.iter().take(MOST_ROWS).map(|(found, c)| {
        let connection = &found.connection;
        let rtt = found.median_round_trip();
        let is_known = found.main().is_some();
        let known = |cell: Cell| if is_known { cell } else { "-".into() };
        let seconds = |s: f64| Cell::from(format!("{s:.3}"));
        let lost = seconds(c.lost_time().secs_f64());
        let mut row = vec![
            link(found.number, drawn, ""),
            if c.lost_time().0 > 0 { lost.class("loss") } else { known(lost) },
            connection.client.to_string().into(),
            connection.server.to_string().into(),
            Cell::from(found.main().map_or("", names::limit)),
            seconds(connection.end.since(connection.start).secs_f64()),
            c.bytes.into(),
            rtt.map_or("".into(), |rtt| format!("{:.1}", 1000.0 * rtt.secs_f64()).into()),
            known((found.stalls().iter().filter(is_lost).count() as u64).into()),
            c.all_retransmissions().into(),
            known(c.all_timeouts().into()),
            known(c.tail_loss_probes().into()),
            known(c.spurious.into()),
            known(c.lost.into()),
        ];
        row.extend(explained.capture_of(found).map(Cell::from));
        row
    });
    table(html, &headings, rows);
    unfold(html);
}

/// All together, beside the papers.
fn papers(html: &mut String, all: &Overall) {
    if all.counts.all_retransmissions() == 0 {
        return;
    }
    fold(html, "All together, beside the papers");
    figure_1(html, all);
    all.prr_tables().iter().for_each(|t| paper_table(html, t));
    unfold(html);
}

/// Figure 1 of Lin & Kung.
fn figure_1(html: &mut String, all: &Overall) {
    let points = all.figure_1();
    if points.is_empty() {
        return;
    }
    let curve = |name: &str, paper: Option<f64>, share: fn(&crate::overall::Point) -> f64| Curve {
        name: name.into(),
        line: Line::Steps,
        points: points.iter().map(|p| Point::from((p.window as f64, share(p)))).collect(),
        paper: paper.map(|share| (1.0, share)).into_iter().collect(),
    };
    let [non_trigger, multiple_losses, lost_retransmission] = FIGURE_1.map(Some);
    let mut curves = vec![
        curve("all timeouts", None, |p| p.all),
        curve("non-trigger", non_trigger, |p| p.non_trigger),
        curve("multiple losses", multiple_losses, |p| p.multiple_losses),
        curve("lost retransmission", lost_retransmission, |p| p.lost_retransmission),
        curve("backed off", None, |p| p.backed_off),
        curve("handshake", None, |p| p.handshake),
        curve("class unknown", None, |p| p.unknown),
    ];
    curves.retain(|c| !c.paper.is_empty() || c.points.iter().any(|p| p.y.mean > 0.0));
    let chart = Chart {
        title: "Timeouts by class and window (Lin & Kung 1998, figure 1)".into(),
        x: "estimated window of at least (segments)".into(),
        y: "share of all timeouts (%)".into(),
        plot: Plot::Curves { curves, log_x: false },
    };
    let _ = writeln!(html, "<div class=\"figure\">{}</div>", chart.to_svg());
}

fn paper_table(html: &mut String, of: &PaperTable) {
    if of.found().next().is_none() {
        return;
    }
    let _ = writeln!(html, "<h3>{} (Dukkipati et al. 2011)</h3>", escape(of.title));
    let headings: Vec<&str> =
        ["", "unit", "here"].into_iter().chain(of.columns.iter().copied()).collect();
    let rows = of.found().map(|row| {
        let decimals = if row.unit.is_empty() { 2 } else { 1 };
        let number =
            |n: Option<f64>| Cell::from(n.map_or("-".into(), |n| format!("{n:.decimals$}")));
        let mut cells = vec![Cell::from(row.name), row.unit.into(), number(row.here)];
        cells.extend((0..of.columns.len()).map(|c| number(row.paper.get(c).copied())));
        cells
    });
    table(html, &headings, rows);
}
