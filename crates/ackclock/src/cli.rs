//! The options.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use ackclock_net::scenario::units::{Duration, Rate};
use ackclock_net::scenario::{DelayedAck, Retransmission, check_strategy};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::record::SENDER;
use crate::wire::{GatewayArgs, ProxyArgs, RecvArgs, SendArgs, ServeArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a run failed, or a connection
  2  bad usage or bad input (an option, a strategy, a scenario, a damaged capture: what comes before the damage is reported)
  3  a file could not be read or written
  4  the system refused: no permission, no TUN device, no way to the peer
  130  ended by Ctrl-C; what was measured until then is printed";

/// Compares TCP loss recovery strategies: in a simulated network, and on the wire.
#[derive(Debug, Parser)]
#[command(name = "ackclock", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List every mechanism and preset with its axis and its source.
    #[command(after_help = with_example("ackclock strategies --format json"))]
    Strategies(StrategiesArgs),
    /// Run a scenario from a TOML file.
    #[command(after_help = with_example("ackclock run scenarios/first.toml --strategy newreno,sack --html first.html"))]
    Run(RunArgs),
    /// Print the JSON Schema of scenario files.
    #[command(after_help = with_example("ackclock schema > scenario.schema.json"))]
    Schema,
    /// Compare strategies on one connection over one bottleneck, without a file.
    ///
    /// The network: 8 Mb/s and 0.1 ms from the sender to a router, and from there the bottleneck to the receiver.
    #[command(after_help = with_example(
        "ackclock compare --strategy tahoe,reno,newreno,sack --drop 14,26,28 --html compare.html"
    ))]
    Compare(CompareArgs),
    /// Run the experiments of published papers: the paper's number beside ours, and a verdict for each claim.
    #[command(subcommand)]
    Papers(PapersVerb),
    /// Send to a plain TCP sink with our sender, strategy by strategy, and compare them (root).
    ///
    /// Our stack is a host of its own behind a TUN device: the kernel of this machine is its neighbour, and what lies beyond is
    /// reached if the kernel forwards and translates addresses.
    #[command(after_help = with_example("ackclock send 10.77.0.1:5001 --strategy newreno,linux --bytes 100mb"))]
    Send(SendArgs),
    /// Receive with our stack, and check what comes (root).
    #[command(after_help = with_example("ackclock recv --listen 5001 --once"))]
    Recv(RecvArgs),
    /// Run an experiment on the wire: senders of ours and the kernel's over the same gateway, in namespaces (root).
    ///
    /// Where the lab asks for it, the same scenario is simulated as well, and the two are compared. Everything that it makes in the
    /// system is gone with the process, however that ends.
    #[command(after_help = with_example("ackclock lab lin-kung-table3 --quick --html lab.html"))]
    Lab(LabArgs),
    /// Serve the files of a directory over HTTP, with our stack (root).
    #[command(after_help = with_example("ackclock serve public --addr 10.77.0.2/24 --strategy prr"))]
    Serve(ServeArgs),
    /// Take clients' connections with our stack, and forward them over the kernel's TCP (root).
    ///
    /// In front of a lossy last mile: the clients get our sender, and the backend need not know.
    #[command(after_help = with_example(
        "ackclock proxy --listen 10.77.0.2:80 --to 127.0.0.1:8080 --metrics 127.0.0.1:9100"
    ))]
    Proxy(ProxyArgs),
    /// Put the links of a scenario between network namespaces, in real time (root).
    ///
    /// Rates, delays, queues and losses are those of the simulated network, for whatever the kernels there send.
    #[command(after_help = with_example(
        "ackclock gateway scenarios/gateway-lossy.toml --attach a=10.80.0.1/16 --attach b=10.80.1.1/16@right"
    ))]
    Gateway(GatewayArgs),
    /// Say why the TCP connections in captures stalled, and what would have saved them.
    ///
    /// For every retransmission its kind, for every timeout its class, for every stall its cause. What cannot be known is said to
    /// be unknown.
    #[command(after_help = with_example(
        "ackclock explain slow.pcapng\n  tcpdump -w - port 443 | ackclock explain - --format json"
    ))]
    Explain(ExplainArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PapersVerb {
    /// List the experiments.
    #[command(after_help = with_example("ackclock papers list"))]
    List,
    /// Run one experiment, those of a paper, or all. A claim that does not hold is a result and no error.
    #[command(after_help = with_example("ackclock papers run lin-kung --quick --html out/papers"))]
    Run(PapersRunArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PapersRunArgs {
    /// `all`, a paper such as `lin-kung`, or an experiment such as `lin-kung/tables-1-2`.
    #[arg(value_name = "ID")]
    pub id: String,
    /// How to print the results. JSON is an array with one object per experiment.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write an index and a page for each experiment, with its figures, into this folder.
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
    /// Fewer runs, for a first look: the intervals are wider.
    #[arg(long)]
    pub quick: bool,
    /// How many runs at the same time. It does not change any result. Default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Captures: pcap or pcapng, plain or compressed with gzip or zstd; folders, for all captures below them; `-` for standard
    /// input, of which the results come at its end.
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<PathBuf>,
    /// How to print the results. JSON is one object with `captures`, `connections` and `overall`.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Look only at the packets that this expression lets through, in the language of tcpdump (which has to be there): `port 443`.
    #[arg(long, value_name = "EXPR")]
    pub filter: Option<String>,
    /// Show one connection alone, by its number in the table, with all that happened to it.
    #[arg(long, value_name = "N")]
    pub connection: Option<usize>,
    /// How many entries lists in tables have at most, and how many connections are drawn; 0 for all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Write an index and a page for each connection in which time was lost, with its time-sequence graph, into this folder.
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
    /// Write the time-sequence graphs of these connections as files for xplot into this folder.
    #[arg(long, value_name = "DIR")]
    pub xplot: Option<PathBuf>,
    /// Write `connections.parquet`, `retransmissions.parquet`, `timeouts.parquet` and `stalls.parquet` into this folder.
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// Copy the capture as pcapng, with a comment on each retransmission that says what it is, and on each packet that ends a
    /// stall. Takes one file.
    #[arg(long, value_name = "OUT.pcapng")]
    pub annotate: Option<PathBuf>,
    /// How many captures to read at the same time. It does not change any result. Default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// `list`, a lab, or the file of one (`labs/README.md` has the format).
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Shorter and fewer runs, for a first look.
    #[arg(long)]
    pub quick: bool,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the results with a chart as one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// The rows to run. What they are held against has to be among them. Default: all.
    #[arg(long, value_name = "ROW,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How long each run lasts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: Option<u32>,
    /// How many runs at the same time, each in namespaces of its own. Default: what the lab has.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
}

pub(crate) fn with_example(example: &str) -> String {
    format!("Example:\n  {example}\n\n{EXIT_CODES}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned text.
    Table,
    /// JSON.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct StrategiesArgs {
    /// How to print the list.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What to print and to write of runs, wherever they ran.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// How to print the results. JSON is an array with one object per flow; with what --stats, --recovery or
    /// --vs-oracle add it is an object that holds this array as `flows`.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Also print the statistics of recovery as the tables of the PRR paper have them, over all flows and runs of each
    /// strategy.
    #[arg(long)]
    pub recovery: bool,
    /// Write the events of the first run of each strategy, one JSON object per line.
    #[arg(long, value_name = "FILE.jsonl")]
    pub events: Option<PathBuf>,
    /// Write the packets of the first run of each strategy as captured at the senders, each commented with its cause;
    /// as pcap without comments if the name ends in `.pcap`.
    #[arg(long, value_name = "FILE.pcapng")]
    pub pcap: Option<PathBuf>,
    /// Write time-sequence graphs of the first run of each strategy as one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Write time-sequence graphs of the first run of each strategy as SVG.
    #[arg(long, value_name = "FILE.svg")]
    pub svg: Option<PathBuf>,
}

/// What to print and to write of simulated runs.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub records: RecordArgs,
    /// Where --pcap is taken: at each flow's `sender` or `receiver`, or at a node of the scenario, of what gets there.
    #[arg(long, value_name = "PLACE", requires = "pcap", default_value = SENDER)]
    pub pcap_at: String,
    /// Also run each scenario and seed with the oracles that bound each strategy, `oracle` and `oracle-drop` with its window law,
    /// and print how far from them it is.
    #[arg(long)]
    pub vs_oracle: bool,
    /// Also print the packets through each queue, the seconds of CPU and the peak memory.
    #[arg(long)]
    pub stats: bool,
}

impl OutputArgs {
    /// Whether each run gets statistics of recovery, which the distance to the oracle is computed from.
    pub fn measures_recovery(&self) -> bool {
        self.records.recovery || self.vs_oracle
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The scenario.
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// The strategies to run, each one in a run of its own and for all flows; without it, flows have those of the
    /// scenario. `+` joins mechanisms: `sack+lt`.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = strategy)]
    pub strategy: Vec<String>,
    /// Seed of the first run; further runs have the seeds after it. Default: the scenario's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How many runs of each strategy, each with its own seed. Default: the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// How many runs at the same time. It does not change any result. Default: one per processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one line per flow and run where a mean over them is the default: with several runs or more than ten flows.
    #[arg(long)]
    pub per_flow: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The strategies; `+` joins mechanisms: `sack+lt`.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = strategy, required = true)]
    pub strategy: Vec<String>,
    /// Segments, counted from 0, whose first transmission is lost. Each further --drop is a case of its own: one more
    /// connection, on its own path.
    #[arg(long, value_name = "K,K,...")]
    pub drop: Vec<Segments>,
    /// Retransmissions that are lost: 14:1 is the first retransmission of segment 14.
    #[arg(long, value_name = "K:N,...", value_delimiter = ',')]
    pub drop_retransmission: Vec<Retransmission>,
    /// How many segments the sender has to send.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub segments: u32,
    /// Payload bytes of a segment.
    #[arg(long, value_name = "BYTES", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=65_495))]
    pub mss: u32,
    /// Rate of the bottleneck.
    #[arg(long, value_name = "RATE", default_value = "800kbit")]
    pub rate: Rate,
    /// Propagation delay of the bottleneck, one way.
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub delay: Duration,
    /// Packets that the queue of the bottleneck holds, the one in transmission included.
    #[arg(long, value_name = "PACKETS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub queue: u32,
    /// The receive window in segments.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub rwnd: u32,
    /// Lower bound of the retransmission timeout.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub min_rto: Duration,
    /// The initial window in segments.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub initial_window: u32,
    /// `off`, or how long an ACK may wait for a second segment, or `bsd`: until the next tick of a timer of 200 ms.
    #[arg(long, value_name = "off|bsd|TIME", default_value = "off")]
    pub delayed_ack: DelayedAck,
    /// Most segments that one ACK may release. Default: no limit.
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_burst: Option<u32>,
    /// Negotiate timestamps.
    #[arg(long)]
    pub timestamps: bool,
    /// End of the run in simulated time, finished or not.
    #[arg(long, alias = "limit", value_name = "TIME", default_value = "600s")]
    pub duration: Duration,
    /// Print the scenario file that these options stand for, and do not run it.
    #[arg(long)]
    pub print_scenario: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Segment numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments(pub Vec<u64>);

impl FromStr for Segments {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse().map_err(|_| format!("`{part}` is not a segment number"));
        text.split(',').map(number).collect::<Result<_, _>>().map(Segments)
    }
}

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
    }
}

fn strategy(text: &str) -> Result<String, String> {
    check_strategy(text).map(|()| text.to_string())
}
