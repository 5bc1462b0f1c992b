//! `ackclock explain`.

use std::fs;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ackclock_explain::{
    By, Capture, Explained, Filter, Options, Pictures, Source, TOP, WORST, annotatable, annotate,
    captures_at, compare, compared, draw, grouped, one_connection, read, save, short, table, terms,
    write_compared, write_grouped, write_json, write_parquet,
};
use ackclock_report::{counted, printable};
use ackclock_run::Cancel;
use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};

use crate::args::{Format, file, own_address};
use crate::error::Error;
use crate::figure::FigureArgs;
use crate::output::{print_with, width};
use crate::overwrite;
use crate::wire::{Interrupt, Watch, cancel_on_signals, heed_signals, watch};

/// What only connections one by one have.
const DETAILS: [&str; 8] =
    ["tables", "connection", "html", "xplot", "qlog", "parquet", "annotate", "figures"];

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Captures to read: pcap or pcapng, also compressed with gzip or zstd. A directory stands for
    /// all captures below it. `-` is standard input, which is read to its end first.
    #[arg(value_name = "CAPTURE", required_unless_present_any = ["terms", "interface"])]
    pub captures: Vec<PathBuf>,
    /// How to print the results. JSON is one object with `captures`, `connections` and `overall`.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Read only the packets that match this tcpdump expression, such as `port 443`. This takes an
    /// installed tcpdump.
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// Show tables: all connections with their counts, all stalls, what would have avoided
    /// timeouts, and the tables of the papers.
    #[arg(long)]
    pub tables: bool,
    /// Compare two captures: their totals side by side, whether connections take longer in the
    /// second one, and, of connections that are in both, what was lost, delayed and put out of
    /// order between them.
    #[arg(long, conflicts_with_all = DETAILS)]
    pub compare: bool,
    /// Read all captures as one, joined by time: the files of a ring buffer (`tcpdump -C`), or of
    /// taps that have one direction each.
    #[arg(long, conflicts_with_all = ["compare", "interface", "annotate"])]
    pub join: bool,
    /// Add up connections by the client's address, by its network (24 bits of IPv4, 64 of IPv6) or
    /// by the server's port. The group that was held up for longest comes first.
    #[arg(long, value_enum, conflicts_with = "compare", conflicts_with_all = DETAILS)]
    pub by: Option<ByArg>,
    /// Watch this interface by tcpdump until Ctrl-C: print a line on each connection that has ended
    /// and in which time was lost in stalls, or an answer took a second or longer. One that lasts
    /// is reported after an hour. `--filter` says which packets tcpdump takes.
    #[arg(long, value_name = "NAME", conflicts_with_all = DETAILS)]
    #[arg(conflicts_with_all = ["captures", "by", "compare", "top", "jobs"])]
    pub interface: Option<String>,
    /// Serve the totals for Prometheus at this address, under `/metrics`. Anyone who reaches the
    /// address can read them: prefer a loopback address.
    #[arg(long, value_name = "ADDR:PORT", value_parser = own_address)]
    pub metrics: Option<SocketAddr>,
    /// Print what the words of the results mean, and nothing else.
    #[arg(long)]
    pub terms: bool,
    /// Show one connection in full. N is its number in the table.
    #[arg(long, value_name = "N")]
    pub connection: Option<usize>,
    /// Show at most N entries of each list, and draw at most N connections. 0 means all. Default:
    /// 20, and 3 connections in the short text.
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// Write HTML into this directory: an index, and pages with a time-sequence graph. A connection
    /// gets a page if it stalled, retransmitted, or was held up for a tenth of its time; at most
    /// --top get one, those first in which most time was lost.
    #[arg(long, value_name = "DIR", value_parser = file())]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub figure: FigureArgs,
    /// Write the time-sequence graphs of the connections that --html draws into this directory, for
    /// xplot.
    #[arg(long, value_name = "DIR", value_parser = file())]
    pub xplot: Option<PathBuf>,
    /// Write the connections that --html draws to this file as qlog 0.3, for qvis and other tools
    /// for QUIC. Each way of a connection with data is a trace.
    #[arg(long, value_name = "FILE.qlog", value_parser = file())]
    pub qlog: Option<PathBuf>,
    /// Write `connections.parquet`, `retransmissions.parquet`, `timeouts.parquet` and
    /// `stalls.parquet` into this directory.
    #[arg(long, value_name = "DIR", value_parser = file())]
    pub parquet: Option<PathBuf>,
    /// Copy the capture to this file, with a comment on each retransmission and on each packet
    /// that ends a stall. This takes exactly one capture.
    #[arg(long, value_name = "OUT.pcapng", value_parser = file())]
    pub annotate: Option<PathBuf>,
    /// How many captures to read at the same time. The results do not depend on it. Default: one
    /// per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ByArg {
    Host,
    Prefix,
    Port,
}

impl From<ByArg> for By {
    fn from(by: ByArg) -> By {
        match by {
            ByArg::Host => By::Host,
            ByArg::Prefix => By::Prefix,
            ByArg::Port => By::Port,
        }
    }
}

/// How many skipped files are named.
const NAMED: usize = 5;

/// How many events of standard input are kept for pictures: about 400 MB.
const EVENTS_OF_STREAMS: usize = 2_000_000;

pub(crate) fn explain(args: &ExplainArgs) -> Result<String, Error> {
    if args.terms {
        return Ok(terms());
    }
    if let Some(interface) = &args.interface {
        let json = matches!(args.format, Format::Json);
        let filter = args.filter.as_deref();
        return watch(&Watch { interface, filter, metrics: args.metrics, json });
    }
    if args.metrics.is_some() {
        return Err(Error::Usage("--metrics: this takes --interface".into()));
    }
    // Standard input heeds the signals by itself until it has ended.
    let stream = args.captures.iter().any(|path| path == Path::new("-"));
    let cancel = if stream { Cancel::default() } else { cancel_on_signals()? };
    let mut sources = sources(&args.captures, &cancel)?;
    if args.join {
        sources = vec![joined(&sources)?];
    }
    check_outputs(args, &sources)?;
    let draws = pictures(args).is_some() || !args.figure.figures.is_empty();
    let options = Options {
        jobs: args.jobs.unwrap_or(0),
        filter: args.filter.as_deref().map(Filter::new),
        events_of_streams: if draws { EVENTS_OF_STREAMS } else { 0 },
    };
    let mut explained = read(&sources, &options, &cancel)?;
    warn(&explained, args.compare);
    if args.compare {
        let comparison = compare(&sources, &explained, &options, &cancel)?;
        let json = |out: &mut dyn Write| write_compared(&explained, &comparison, out);
        print_as(args, json, |top| compared(&explained, &comparison, top))?;
    } else if let Some(by) = args.by {
        let by = by.into();
        let json = |out: &mut dyn Write| write_grouped(&explained, by, out);
        print_as(args, json, |top| grouped(&explained, by, top, width()))?;
    } else {
        keep_what_is_asked_for(args, &mut explained)?;
        let written = write_outputs(args, &sources, &options, &mut explained, &cancel);
        // What is read is not lost with a file.
        print_with(|out| print(&explained, args, out))?;
        written?;
    }
    worst(&explained).map_or(Ok(String::new()), Err)
}

/// Finds out before the reading what cannot be written.
fn check_outputs(args: &ExplainArgs, sources: &[Source]) -> Result<(), Error> {
    if let Some(path) = &args.annotate {
        annotatable(sources, path)?;
    }
    args.figure.check()?;
    let inputs = sources.iter().flat_map(Source::files);
    let outputs = args.qlog.iter().chain(&args.annotate).chain(&args.figure.figures);
    overwrite::check(inputs, outputs)?;
    for folder in [&args.parquet, &args.html, &args.xplot].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(Error::write(folder))?;
    }
    Ok(())
}

/// What is drawn from the events of connections, if anything is.
fn pictures(args: &ExplainArgs) -> Option<Pictures<'_>> {
    let pictures = Pictures {
        html: args.html.as_deref(),
        xplot: args.xplot.as_deref(),
        qlog: args.qlog.as_deref(),
        top: args.top.unwrap_or(TOP),
    };
    pictures.html.or(pictures.xplot).or(pictures.qlog).is_some().then_some(pictures)
}

/// Prints JSON, or a text with the first of each list.
fn print_as(
    args: &ExplainArgs,
    json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    text: impl FnOnce(usize) -> String,
) -> Result<(), Error> {
    print_with(|out| match args.format {
        Format::Json => json(out),
        Format::Table => out.write_all(text(args.top.unwrap_or(TOP)).as_bytes()),
    })
}

/// Keeps the one connection that is asked for. A figure needs one.
fn keep_what_is_asked_for(args: &ExplainArgs, explained: &mut Explained) -> Result<(), Error> {
    let connections = explained.connections.len();
    if let Some(number) = args.connection.filter(|number| !explained.keep(*number)) {
        let there =
            if connections == 0 { "none".into() } else { format!("0 to {}", connections - 1) };
        return Err(Error::Usage(format!(
            "--connection: there is no connection {number}; there are {there}"
        )));
    }
    if !args.figure.figures.is_empty() && explained.connections.len() != 1 {
        return Err(Error::Usage(format!(
            "--figure: this takes one connection of {connections}: add --connection N"
        )));
    }
    Ok(())
}

/// Finds out what would have avoided timeouts, and writes the files: each, whatever becomes of the
/// others.
fn write_outputs(
    args: &ExplainArgs,
    sources: &[Source],
    options: &Options,
    explained: &mut Explained,
    cancel: &Cancel,
) -> Result<(), Error> {
    save(explained, options.jobs)?;
    let explained = &*explained;
    let figure = || {
        let ([found], false) = (&explained.connections[..], args.figure.figures.is_empty()) else {
            return Ok(());
        };
        let shown = (args.figure.width(), args.figure.interval());
        let drawn = ackclock_explain::figure(found, sources, options, shown, cancel);
        let wrong = |error| match Error::from(error) {
            Error::Interrupted => Error::Interrupted,
            error => Error::Usage(format!("--figure: {error}")),
        };
        args.figure.write(&[drawn.map_err(wrong)?])
    };
    let table = |folder: &PathBuf| write_parquet(explained, folder);
    let copy = |path: &PathBuf| annotate(explained, sources, path);
    let drawn = |pictures| draw(explained, sources, options, &pictures, cancel);
    let written = [
        figure(),
        args.parquet.as_ref().map_or(Ok(()), table).map_err(Error::from),
        args.annotate.as_ref().map_or(Ok(()), copy).map_err(Error::from),
        pictures(args).map_or(Ok(()), drawn).map_err(Error::from),
    ];
    written.into_iter().collect()
}

fn print(explained: &Explained, args: &ExplainArgs, out: &mut dyn Write) -> io::Result<()> {
    let text = match (args.format, args.connection) {
        (Format::Json, _) => return write_json(explained, out),
        (Format::Table, Some(_)) => one_connection(explained, args.top.unwrap_or(TOP)),
        (Format::Table, None) if args.tables => table(explained, args.top.unwrap_or(TOP), width()),
        (Format::Table, None) => short(explained, args.top.unwrap_or(WORST)),
    };
    out.write_all(text.as_bytes())
}

/// What the arguments stand for. What is no capture in a folder is skipped with a note.
fn sources(paths: &[PathBuf], cancel: &Cancel) -> Result<Vec<Source>, Error> {
    let (mut sources, mut skipped, mut streams) = (Vec::new(), Vec::new(), 0);
    for path in paths {
        if path == Path::new("-") {
            sources.push(Source::stream(Stdin::new(cancel)?));
            streams += 1;
        } else {
            sources.extend(captures_at(path, &mut skipped)?);
        }
    }
    if streams > 1 {
        return Err(Error::Usage("standard input (`-`) can be read only once".into()));
    }
    let mut err = io::stderr();
    for path in skipped.iter().take(NAMED) {
        let _ = writeln!(err, "note: {}: skipped, this is no capture", printable(path.display()));
    }
    if skipped.len() > NAMED {
        let more = counted((skipped.len() - NAMED) as u64, "more file");
        let _ = writeln!(err, "note: {more} skipped");
    }
    if sources.is_empty() {
        return Err(Error::Capture("there is no capture in what was given".into()));
    }
    Ok(sources)
}

/// All of them as one.
fn joined(sources: &[Source]) -> Result<Source, Error> {
    if sources.iter().any(Source::is_stream) {
        return Err(Error::Usage("--join: this takes files, and no standard input".into()));
    }
    Ok(Source::Joined(sources.iter().flat_map(Source::files).map(Path::to_path_buf).collect()))
}

/// Says what of the captures is missing.
fn warn(explained: &Explained, compares: bool) {
    explained.captures.iter().for_each(warn_of);
    let parted = explained.parted();
    if parted > 0 && !compares {
        let parts = counted(parted as u64, "connection");
        let _ = writeln!(
            io::stderr(),
            "note: {parts} in parts, in several files: --join reads them as one capture"
        );
    }
    let left = explained.captures.iter().filter(|c| c.interrupted && c.packets == 0).count();
    if left > 0 {
        let all = explained.captures.len();
        let _ =
            writeln!(io::stderr(), "warning: interrupted: {left} of {all} captures were not read");
    }
}

fn warn_of(capture: &Capture) {
    let Capture { path, damage, failed, interrupted, .. } = capture;
    let path = printable(path);
    let mut err = io::stderr();
    if let Some(damage) = damage {
        let before = if capture.packets > 0 { "; what comes before is reported" } else { "" };
        let what = printable(&damage.what);
        let _ = writeln!(err, "warning: {path}: byte {}: {what}{before}", damage.offset);
    }
    if let Some(failed) = failed {
        let _ = writeln!(err, "warning: {path}: cannot be read: {}", printable(failed));
    }
    if *interrupted && capture.packets > 0 {
        let packets = counted(capture.packets, "packet");
        let _ = writeln!(err, "warning: {path}: interrupted after {packets}");
    }
}

/// What decides the exit code: of what went wrong with captures, the worst.
fn worst(explained: &Explained) -> Option<Error> {
    let all = explained.captures.len();
    let count =
        |wrong: fn(&Capture) -> bool| explained.captures.iter().filter(|c| wrong(c)).count();
    if count(|c| c.interrupted) > 0 {
        return Some(Error::Interrupted);
    }
    let first = explained.captures.iter().find(|c| c.failed.is_some());
    if let Some(Capture { path, failed: Some(failed), .. }) = first {
        return Some(Error::Read { path: path.into(), error: io::Error::other(failed.clone()) });
    }
    let damaged = count(|c| c.damage.is_some());
    (damaged > 0).then(|| Error::Capture(format!("damaged captures: {damaged} of {all}")))
}

/// Standard input. Ctrl-C reaches both ends of a pipe, so the first one leaves it to the other end
/// to finish what it writes; the second one ends the input here. Once the input has ended, signals
/// set `cancel`.
struct Stdin {
    interrupt: Interrupt,
    cancel: Cancel,
}

impl Stdin {
    fn new(cancel: &Cancel) -> Result<Stdin, Error> {
        Ok(Stdin { interrupt: Interrupt::new()?, cancel: cancel.clone() })
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        heed_signals(self.cancel.clone());
    }
}

impl Read for Stdin {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let input = io::stdin();
        loop {
            let mut fds =
                [PollFd::new(&input, PollFlags::IN), PollFd::new(&self.interrupt, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result?,
            };
            let ready = !fds[0].revents().is_empty();
            if self.interrupt.taken() > 1 {
                return Ok(0);
            }
            if ready {
                return Ok(rustix::io::read(&input, into)?);
            }
        }
    }
}
