//! Pictures of connections: which ones are drawn, and their second reading, which keeps the events.

use std::path::Path;
use std::sync::Arc;

#[cfg(not(target_family = "wasm"))]
use ackclock_figure::{Figure, Interval, Width};
use ackclock_report::{QlogTrace, write_qlog};
use ackclock_run::{Cancel, WholeFile};
use ackclock_tcp::{Event, Span, Time};
use ackclock_trace::Connection;
use ackclock_trace::Flow;

use crate::error::Error;
use crate::explained::{End, Explained, Found};
use crate::read::{Options, with_events};
use crate::source::Source;
use crate::text::Known;
use crate::{html, xplot};

/// The most packets of connections that are drawn at a time, so that their events do not fill the
/// memory.
const MOST_PACKETS: u64 = 2_000_000;

/// Which pictures, and where they go.
pub struct Pictures<'a> {
    /// The folder of the HTML pages; it is there already.
    pub html: Option<&'a Path>,
    /// The folder of the xplot files, too.
    pub xplot: Option<&'a Path>,
    /// The file of their traces as qlog.
    pub qlog: Option<&'a Path>,
    /// How many connections are drawn at most: those in which most time was lost. 0 for all with
    /// stalls or retransmissions, or that were held up.
    pub top: usize,
}

/// Draws the connections in which most time was lost, and, if there is only one, that one. For HTML
/// it writes an index, too. `cancel` ends it between two connections.
///
/// # Errors
/// [`Error::Write`]; as [`with_events`].
pub fn draw(
    explained: &Explained,
    sources: &[Source],
    options: &Options,
    pictures: &Pictures<'_>,
    cancel: &Cancel,
) -> Result<(), Error> {
    let mut chosen = eventful(explained);
    let all = chosen.len();
    if pictures.top > 0 {
        chosen.truncate(pictures.top);
    }
    let drawn: Vec<usize> = chosen.iter().map(|found| found.number).collect();
    // Those of one capture together, so that it is read once more and not several times.
    chosen.sort_by_key(|found| found.number);
    // Each file is written, whatever becomes of the others.
    let mut written = Ok(());
    let (mut traces, known) = (Vec::new(), Known::of(explained));
    for batch in batches(&chosen) {
        let connections = with_events(sources, batch, options, cancel)?;
        for (found, connection) in batch.iter().zip(connections) {
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let found = with(found, connection);
            written = written.and(one(&found, explained, &known, pictures));
            if pictures.qlog.is_some() {
                traces.extend(qlog(&found));
            }
        }
    }
    if let Some(path) = pictures.qlog {
        let finished = WholeFile::create(path).and_then(|mut out| {
            write_qlog(&mut out, "captures explained", &traces)?;
            out.finish()
        });
        written = written.and(finished.map_err(Error::write(path)));
    }
    if let Some(folder) = pictures.html {
        let index = html::index(explained, &drawn, all - drawn.len());
        written = written.and(write(&folder.join("index.html"), index.as_bytes()));
    }
    written
}

/// The same with the events of its connection.
fn with(found: &Found, connection: Connection) -> Found {
    let (saved, got_through) = (found.saved.clone(), found.got_through.clone());
    let set_ahead = Arc::clone(&found.set_ahead);
    Found { connection: Box::new(connection), set_ahead, saved, got_through, ..*found }
}

/// The picture of a connection as a figure.
///
/// # Errors
/// [`Error::Usage`] if nothing is there in this interval; as [`with_events`].
#[cfg(not(target_family = "wasm"))]
pub fn figure(
    found: &Found,
    sources: &[Source],
    options: &Options,
    (width, interval): (Width, Interval),
    cancel: &Cancel,
) -> Result<Figure, Error> {
    let connection = with_events(sources, &[found], options, cancel)?.into_iter().next();
    let figure = connection
        .ok_or(ackclock_figure::Error::Nothing)
        .and_then(|connection| html::figure(&with(found, connection), width, interval));
    figure.map_err(|error| Error::Usage(error.to_string()))
}

/// The index of the HTML pages, which has links to the pages of the connections `drawn`; `left_out`
/// more would have been worth one.
pub fn index_page(explained: &Explained, drawn: &[usize], left_out: usize) -> String {
    html::index(explained, drawn, left_out)
}

/// The HTML page of a connection. It has a picture if the events of the connection were kept.
pub fn connection_page(explained: &Explained, found: &Found) -> String {
    html::page(found, explained, &Known::of(explained))
}

/// A connection was held up if it was for this part of its time: one tenth.
const HELD_UP: u64 = 10;

/// Connections with stalls or retransmissions, or that were held up, those first in which most time
/// was lost; or the only one there is.
pub fn eventful(explained: &Explained) -> Vec<&Found> {
    let all = &explained.connections;
    let mut found: Vec<_> = all.iter().map(|found| (found, found.counts(), found.held())).collect();
    let held_up = |found: &Found, held: Span| {
        held > Span::ZERO && held.0 >= found.lifetime().whole().0 / HELD_UP
    };
    found.retain(|(found, c, held)| {
        all.len() == 1 || c.stalls > 0 || c.all_retransmissions() > 0 || held_up(found, *held)
    });
    found.sort_by_key(|(_, c, held)| {
        let lost = c.lost_time().max(*held);
        std::cmp::Reverse((lost, c.all_timeouts(), c.all_retransmissions()))
    });
    found.into_iter().map(|(found, ..)| found).collect()
}

/// Parts with few enough packets, or with a single connection.
fn batches<'a, 'b>(mut rest: &'b [&'a Found]) -> impl Iterator<Item = &'b [&'a Found]> {
    std::iter::from_fn(move || {
        let mut packets = 0;
        let fits = rest.iter().take_while(|found| {
            packets += found.connection.packets;
            packets <= MOST_PACKETS
        });
        let (batch, others) = rest.split_at_checked(fits.count().max(1))?;
        rest = others;
        Some(batch)
    })
}

/// The ways of a connection that have data as traces, from the start of the connection on.
fn qlog(found: &Found) -> Vec<QlogTrace> {
    let trace = |(end, flow): (End, &Flow)| {
        let mut trace = QlogTrace::new(&format!("#{} {} sends", found.number, end.name()));
        for event in &flow.events {
            let at = Time(event.at.0.saturating_sub(found.connection.start.0));
            trace.record(&Event { at, ..*event });
        }
        trace
    };
    found.flows().filter(|(_, flow)| flow.bytes > 0).map(trace).collect()
}

fn one(
    found: &Found,
    explained: &Explained,
    known: &Known,
    pictures: &Pictures<'_>,
) -> Result<(), Error> {
    let page = |folder: &Path| {
        let page = html::page(found, explained, known);
        write(&folder.join(html::file_name(found.number)), page.as_bytes())
    };
    let written = pictures.html.map_or(Ok(()), page);
    let Some(folder) = pictures.xplot else { return written };
    let drawn = found.flows().filter(|(_, flow)| flow.bytes > 0 && !flow.events.is_empty());
    let file = |(end, _)| {
        let path = folder.join(xplot::file_name(found.number, end));
        xplot_file(&path, found, end).map_err(Error::write(&path))
    };
    drawn.map(file).fold(written, Result::and)
}

fn xplot_file(path: &Path, found: &Found, end: End) -> std::io::Result<()> {
    let mut out = WholeFile::create(path)?;
    xplot::write(found, end, &mut out)?;
    out.finish()
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    WholeFile::write(path, content).map_err(Error::write(path))
}

#[cfg(test)]
mod tests;
