//! `ackclock send`.

use std::net::SocketAddr;
use std::path::PathBuf;

use ackclock_net::scenario::units::{Duration, Size};
use ackclock_run::{Job, SweepRun};
use ackclock_tcp::{Composition, Registry};
use clap::Args;

use super::capture::HostCapture;
use super::source::{Source, comes_once};
use super::target::{check_way, resolve};
use super::transfer::{Ended, Plan, Transferred, transfer};
use super::{DEFAULT_STRATEGY, Interrupt, WireArgs, open_host, strategy};
use crate::args::{RecordArgs, name, seconds};
use crate::error::Error;
use crate::output::{Measured, Shown, beside, print, results, width, write_parquet};
use crate::record::Records;

/// What is sent where nothing is said.
const DEFAULT_BYTES: u64 = 10 << 20;

#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The peer. It has to read all data, as `nc -l` and `ackclock recv` do.
    #[arg(value_name = "HOST:PORT")]
    pub peer: String,
    /// The strategies to compare. Each sends all the data over new connections. `+` adds a
    /// mechanism, as in `sack+lt`.
    #[arg(
        long,
        value_name = "A,B,...",
        value_delimiter = ',',
        value_parser = name,
        default_value = DEFAULT_STRATEGY
    )]
    pub strategy: Vec<String>,
    /// How much data to send on each connection. Default: 10mb.
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["seconds", "file"])]
    pub bytes: Option<Size>,
    /// How long to send: a number of seconds, or a time such as `500ms`. Data that is then under
    /// way still arrives.
    #[arg(long, value_name = "N", conflicts_with = "file", value_parser = seconds)]
    pub seconds: Option<Duration>,
    /// Send this file. `-` is standard input; that and a FIFO are read once.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How many connections to open at the same time. Each sends all the data.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=10_000)
    )]
    pub parallel: u16,
    #[command(flatten)]
    pub records: RecordArgs,
    /// Print one line for each connection. Without this option, more than ten connections are
    /// summed up as means.
    #[arg(long)]
    pub per_flow: bool,
    /// Also print the addresses, handshake time and segment size of each connection, the CPU time
    /// and the peak memory.
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub wire: WireArgs,
}

pub(crate) fn send(args: &SendArgs, registry: &Registry) -> Result<String, Error> {
    let mut interrupt = Interrupt::new()?;
    let peer = resolve(&args.peer, &args.wire)?;
    args.check()?;
    let strategies = args.strategy.iter().map(|text| strategy(text, registry));
    let strategies = strategies.collect::<Result<Vec<_>, _>>()?;
    args.records.check(args.file.as_deref())?;
    let mut records = Records::new(&args.records, args.records.recovery, 0, args.strategy.len())?;
    let mut host = open_host(&args.wire)?;
    check_way(peer.ip(), &args.wire)?;
    let capture = HostCapture::begin(&mut host, &mut records)?;

    let (mut runs, mut connections) = (Vec::new(), Vec::new());
    let mut end = Ok(());
    for strategy in &strategies {
        let plan = args.plan(peer, strategy, &records)?;
        let Transferred { outcome, connections: more, ended } =
            match transfer(&mut host, plan, &mut interrupt, &mut records) {
                Ok(transferred) => transferred,
                Err(error) => {
                    end = Err(error);
                    break;
                }
            };
        let job = Job { strategy: Some(strategy.name().into()), seed: 0 };
        runs.push(SweepRun { cell: 0, job, outcome });
        connections.extend(more);
        end = match ended {
            Ended::Whole => continue,
            Ended::Interrupted => Err(Error::Interrupted),
            Ended::Broken(why) => Err(Error::Connection(why)),
        };
        break;
    }
    drop(host);
    let captured = match &args.records.pcap {
        Some(path) => capture.finish().map_err(Error::write(path)),
        None => Ok(()),
    };
    let title = format!("{} to {peer}", args.what());
    let written = captured.and(records.finish(&title, &[("peer".into(), peer.to_string())]));
    let connections = args.stats.then_some(&connections[..]);
    let shown = Shown {
        records: &args.records,
        per_flow: args.per_flow,
        over: &[],
        stats: args.stats,
        distances: None,
        connections,
        width: width(),
    };
    let measured = Measured { cells: &[], axes: &[], runs: &runs };
    let written = written.and(write_parquet(&measured, &shown));
    let text = beside(&args.records, results(&measured, &shown))?;
    match end.and(written) {
        Ok(()) => Ok(text),
        Err(error) if runs.is_empty() => Err(error),
        // What was measured is worth something anyway.
        Err(error) => print(&text).and(Err(error)),
    }
}

impl SendArgs {
    fn check(&self) -> Result<(), Error> {
        let once = self.file.as_deref().filter(|path| comes_once(path));
        match once {
            Some(path) if self.parallel > 1 || self.strategy.len() > 1 => {
                let path = path.display();
                let text = "what it brings comes once, for one connection of one strategy";
                Err(Error::Usage(format!("--file {path}: {text}")))
            }
            _ => Ok(()),
        }
    }

    fn what(&self) -> String {
        match (&self.file, self.seconds, self.bytes) {
            (Some(file), ..) => file.display().to_string(),
            (None, Some(seconds), _) => format!("data for {seconds}"),
            (None, None, bytes) => bytes.unwrap_or(Size(DEFAULT_BYTES)).to_string(),
        }
    }

    fn plan(
        &self,
        peer: SocketAddr,
        strategy: &Composition,
        records: &Records,
    ) -> Result<Plan, Error> {
        let source = || match &self.file {
            Some(path) => {
                Source::open(path).map_err(|error| Error::Read { path: path.clone(), error })
            }
            None if self.seconds.is_some() => Ok(Source::pattern(u64::MAX)),
            None => Ok(Source::pattern(self.bytes.map_or(DEFAULT_BYTES, |size| size.0))),
        };
        let mut tcp = self.wire.tcp(strategy);
        tcp.events = records.wants_events();
        Ok(Plan {
            peer,
            tcp,
            sources: (0..self.parallel).map(|_| source()).collect::<Result<_, _>>()?,
            stop_after: self.seconds.map(|d| d.0),
            file: self.file.clone(),
        })
    }
}
