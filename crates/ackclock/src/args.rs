//! Options that several commands share.

use std::convert::Infallible;
use std::net::{AddrParseError, SocketAddr};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::units::{Duration, UnitError};
use ackclock_net::scenario::{ScenarioError, check_strategy};
use ackclock_report::Over;
use ackclock_tcp::{Registry, Span};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::figure::FigureArgs;
use crate::overwrite;

/// The hosts at either end of each flow, as places of a capture.
pub(crate) const SENDER: &str = "sender";
pub(crate) const RECEIVER: &str = "receiver";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text.
    Table,
    /// JSON.
    Json,
}

/// How to print flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// Aligned text.
    Table,
    /// JSON.
    Json,
    /// CSV.
    Csv,
}

/// What to print and to write of runs, wherever they ran. Of the files one may be `-`, standard
/// output. The results then go to standard error.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArgs {
    /// How to print the results. JSON is an array with one object per flow. With an option that
    /// adds statistics, such as --stats or --recovery, it is an object that contains this array as
    /// `flows`. CSV has a line per flow, and nothing else.
    #[arg(long, value_enum, default_value_t = RecordFormat::Table)]
    pub format: RecordFormat,
    /// Write a row for each flow to this Parquet file. The columns are those of `--format csv`.
    #[arg(long, value_name = "FILE.parquet", value_parser = out())]
    pub parquet: Option<PathBuf>,
    /// Also print statistics of loss recovery for each strategy, over all its flows. They are
    /// those of the paper on Proportional Rate Reduction (PRR).
    #[arg(long)]
    pub recovery: bool,
    /// Write the events of each strategy to this file, one JSON object per line.
    #[arg(long, value_name = "FILE.jsonl", value_parser = out())]
    pub events: Option<PathBuf>,
    /// Write the packets of each strategy to this file, as captured at the senders. A comment on
    /// each packet says why it was sent. A file whose name ends in `.pcap` has the older format,
    /// without comments.
    #[arg(long, value_name = "FILE.pcapng", value_parser = out())]
    pub pcap: Option<PathBuf>,
    /// Write the events of each strategy to this file as qlog 0.3, for qvis and other tools for
    /// QUIC. Each flow is a trace. The number of a packet counts the transmissions of its flow.
    #[arg(long, value_name = "FILE.qlog", value_parser = out())]
    pub qlog: Option<PathBuf>,
    /// Draw time-sequence graphs of each strategy in one HTML file.
    #[arg(long, value_name = "FILE.html", value_parser = out())]
    pub html: Option<PathBuf>,
    /// Draw time-sequence graphs of each strategy in one SVG file.
    #[arg(long, value_name = "FILE.svg", value_parser = out())]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub figure: FigureArgs,
}

/// Standard output as a file.
const STDOUT: &str = "/dev/stdout";

/// The file of an option; `-` is standard output.
fn out() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| if path.as_os_str() == "-" { STDOUT.into() } else { path })
}

/// The file of an option that has no use for standard output.
pub(crate) fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str() == "-" {
        true => Err("standard output has the results; name a file or a folder"),
        false => Ok(path),
    })
}

/// Endings of names that stand for a format.
const FORMATS: [&str; 11] =
    ["csv", "htm", "html", "json", "jsonl", "parquet", "pcap", "pcapng", "png", "qlog", "svg"];

/// Whether a file that has one of these formats may be called so: another format's ending would
/// mislead whoever opens it.
pub(crate) fn check_ending(option: &str, path: &Path, formats: &[&str]) -> Result<(), Error> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let is = |list: &[&str]| ending.as_deref().is_some_and(|ending| list.contains(&ending));
    if !is(&FORMATS) || is(formats) {
        return Ok(());
    }
    let right = formats.join("`, `.");
    let path = path.display();
    Err(Error::Usage(format!("{option}: {path}: this option writes `.{right}`")))
}

impl RecordArgs {
    /// Whether the files are called by what they are.
    pub fn check_endings(&self) -> Result<(), Error> {
        let files: [(_, _, &[&str]); 6] = [
            ("--parquet", &self.parquet, &["parquet"]),
            ("--events", &self.events, &["jsonl", "json"]),
            ("--pcap", &self.pcap, &["pcapng", "pcap"]),
            ("--qlog", &self.qlog, &["qlog", "json"]),
            ("--html", &self.html, &["html", "htm"]),
            ("--svg", &self.svg, &["svg"]),
        ];
        let given = |(option, path, formats): (_, &Option<PathBuf>, _)| {
            path.as_ref().map_or(Ok(()), |path| check_ending(option, path, formats))
        };
        files.into_iter().try_for_each(given)
    }

    /// The files that record a run, with their options.
    pub fn recordings(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let files = [
            ("--events", &self.events),
            ("--pcap", &self.pcap),
            ("--qlog", &self.qlog),
            ("--html", &self.html),
            ("--svg", &self.svg),
        ];
        let given = files.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        given.chain(self.figure.figures.iter().map(|path| ("--figure", path)))
    }

    /// The files to write.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.parquet.iter().chain(self.recordings().map(|(_, path)| path))
    }

    /// Whether these files can be written while `inputs` are read.
    pub fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
        overwrite::check(inputs, self.files())
    }

    /// Whether standard output gets a file, so that the results go to standard error.
    pub fn takes_stdout(&self) -> Result<bool, Error> {
        match self.files().filter(|path| path.as_path() == Path::new(STDOUT)).count() {
            count @ (0 | 1) => Ok(count == 1),
            _ => Err(Error::Usage("only one file can be `-`, standard output".into())),
        }
    }
}

/// What to print and to write of simulated runs.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub records: RecordArgs,
    /// Where --pcap captures: at the `sender` or the `receiver` of each flow, or at a node of the
    /// scenario. A node sees the packets that reach it, and those that begin there.
    #[arg(long, value_name = "PLACE", requires = "pcap", default_value = SENDER)]
    pub pcap_at: String,
    /// Sum up the flows of each run by their mean, min, median, max or a percentile such as p99,
    /// and show these instead of the flows: `completion` by `max` is the longest time from the
    /// start of a flow to its completion. JSON, CSV and Parquet have a row for each run, strategy
    /// and one of these. A percentile is the smallest value that so many percent of the flows do
    /// not exceed.
    #[arg(long, value_name = "mean,p99,max,...", value_delimiter = ',')]
    pub over: Vec<Over>,
    /// Also run the oracles, and print how much later each strategy is done. An oracle is notified
    /// of every loss: `oracle` one round trip after the segment was sent, `oracle-drop` at once.
    /// Where fixed segments are lost, hardly any sender of an RFC with the same window growth is
    /// faster; Linux may be, since it lowers its window less often. Behind a policer, or a queue
    /// that drops, any may be faster: what is lost depends on what each of them sends.
    #[arg(long)]
    pub vs_oracle: bool,
    /// Write what each packet finds at the queue of each link to this file, one JSON object per
    /// line: packets and bytes that wait or are in transmission, and how long it waits. A file
    /// whose name ends in `.csv` gets CSV.
    #[arg(long, value_name = "FILE.jsonl", value_parser = file())]
    pub queues: Option<PathBuf>,
    /// Also print the packets that passed each queue, the CPU time and the peak memory.
    #[arg(long)]
    pub stats: bool,
}

impl OutputArgs {
    /// Whether the files can be written while `inputs` are read.
    pub fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
        self.records.takes_stdout()?;
        for (i, over) in self.over.iter().enumerate() {
            if self.over[..i].contains(over) {
                return Err(Error::Usage(format!("--over: `{over}` is there twice")));
            }
        }
        overwrite::check(inputs, self.records.files().chain(&self.queues))
    }

    /// Whether each run gets statistics of recovery, which the distance to the oracle is computed
    /// from.
    pub fn measures_recovery(&self) -> bool {
        self.records.recovery || self.vs_oracle
    }
}

/// A number of seconds, or a time with its unit.
pub(crate) fn seconds(text: &str) -> Result<Duration, UnitError> {
    text.parse().map(|n: u32| Duration(Span::from_secs(n.into()))).or_else(|_| text.parse())
}

/// An address and a port. What is wrong with one is said as in files.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|error: AddrParseError| ScenarioError::from_serde("", &error.to_string()).message)
}

/// An address of this machine, with a port.
pub(crate) fn own_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_: AddrParseError| {
        "an address of this machine and a port are expected, such as `127.0.0.1:9100`".into()
    })
}

/// A name in a list of them, which may have spaces around it.
pub(crate) fn name(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().into())
}

/// Whether all of `--strategy` is registered.
pub(crate) fn check_strategies(strategies: &[String], registry: &Registry) -> Result<(), Error> {
    for (i, text) in strategies.iter().enumerate() {
        if strategies[..i].contains(text) {
            return Err(Error::Usage(format!("--strategy: `{text}` is there twice")));
        }
    }
    strategies.iter().try_for_each(|text| {
        check_strategy(text, registry).map_err(|e| Error::Usage(format!("--strategy: {e}")))
    })
}
