//! `ackclock compare`: one connection over one bottleneck, put together from options.

use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use ackclock_net::scenario::units::{Amount, Duration, Rate, Size};
use ackclock_net::scenario::{
    DelayedAck, DropList, DropTail, FirstRtt, Flow, Link, Loss, Queue, Retransmission, Scenario,
    SegmentRange, Source,
};
use ackclock_run::{FileError, GridCell, Sweep, Swept};
use ackclock_tcp::{Registry, Span};
use clap::{Args, Parser, ValueEnum};

use crate::args::{OutputArgs, RecordFormat, check_strategies, name};
use crate::error::Error;
use crate::execute::{execute, warn_unmet};
use crate::oracle::distances;
use crate::output::{Measured, Shown, after_files, beside, ended, results, write_parquet};
use crate::record::Records;
use crate::wire::cancel_on_signals;

const SEED: u64 = 1;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The strategies to compare. `+` adds a mechanism, as in `sack+lt`.
    #[arg(
        long,
        value_name = "A,B,...",
        value_delimiter = ',',
        value_parser = name,
        required = true
    )]
    pub strategy: Vec<String>,
    /// The segments whose first transmission is lost, counted from 0: numbers and ranges, such as
    /// `14-20`. Each further --drop adds a
    /// connection with losses of its own, on a path of its own.
    #[arg(long, value_name = "K,K,...")]
    pub drop: Vec<Segments>,
    /// The retransmissions that are lost: 14:1 is the first retransmission of segment 14.
    #[arg(long, value_name = "K:N,...", value_delimiter = ',')]
    pub drop_retransmission: Vec<Retransmission>,
    /// How many segments to send.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub segments: u32,
    /// Bytes of payload in a segment.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=65_495)
    )]
    pub mss: u32,
    /// The rate of the bottleneck.
    #[arg(long, value_name = "RATE", default_value = "800kbit")]
    pub rate: Rate,
    /// The propagation delay of the bottleneck, one way.
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub delay: Duration,
    /// How many packets the queue of the bottleneck holds, including the one being sent.
    #[arg(
        long,
        value_name = "PACKETS",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub queue: u32,
    /// The receive window in segments.
    #[arg(
        long,
        value_name = "SEGMENTS",
        default_value_t = 64,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub rwnd: u32,
    /// The lower bound of the retransmission timeout. Linux adds it to the smoothed round trip, and
    /// its default is 200 ms.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub min_rto: Duration,
    /// The initial window in segments.
    #[arg(
        long,
        value_name = "SEGMENTS",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=10)
    )]
    pub initial_window: u32,
    /// Whether ACKs are delayed: `off`, how long an ACK may wait for a second segment, `bsd`,
    /// `linux`, or `ns2:` and how long. With `bsd` it waits for the next tick of a 200 ms timer,
    /// with `linux` as Linux has it; with `ns2:200ms` duplicates of the newest segment wait too.
    #[arg(long, value_name = "off|bsd|linux|ns2:TIME|TIME", default_value = "off")]
    pub delayed_ack: DelayedAck,
    /// The most new segments that one ACK, one write or one timer may release. Default: no limit.
    #[arg(long, value_name = "SEGMENTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_burst: Option<u32>,
    /// What the sender knows of the round trip before the first ACK.
    #[arg(long, value_enum, default_value_t = KnownRtt::Path)]
    pub first_rtt: KnownRtt,
    /// Open the connection with a handshake, which measures the first round trip, and close it with
    /// FINs. Not with an oracle.
    #[arg(long, conflicts_with_all = ["first_rtt", "vs_oracle"])]
    pub handshake: bool,
    /// Use the timestamp option.
    #[arg(long)]
    pub timestamps: bool,
    /// The simulated time after which the run ends, finished or not.
    #[arg(long, alias = "limit", value_name = "TIME", default_value = "600s")]
    pub duration: Duration,
    /// Print these options as a scenario file with the first strategy, and run nothing.
    #[arg(long, conflicts_with_all = [
        "format", "parquet", "recovery", "events", "pcap", "pcap_at", "qlog", "html", "svg",
        "figures", "width", "from", "to", "over", "vs_oracle", "queues", "stats",
    ])]
    pub print_scenario: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `tcp.first_rtt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KnownRtt {
    /// What a handshake measures with nothing else under way.
    Path,
    /// Nothing, as in ns-2: the first timeout is 1 s.
    None,
}

/// Segment numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segments(pub Vec<u64>);

impl FromStr for Segments {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ranges = text.split(',').map(str::parse::<SegmentRange>);
        let ranges = ranges.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        Ok(Segments(ranges.into_iter().flat_map(|range| range.0).collect()))
    }
}

impl fmt::Display for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
    }
}

pub(crate) fn compare(args: &CompareArgs, registry: &Registry) -> Result<String, Error> {
    check_strategies(&args.strategy, registry)?;
    let scenario = scenario(args)?;
    let named = |error| Error::Run(ackclock_run::Error::Scenario(in_options(args, error)));
    let failed = |error| named(FileError { file: "compare".into(), error });
    scenario.check(registry).map_err(failed)?;
    if args.print_scenario {
        return scenario.to_toml().map_err(failed);
    }
    let parameters = parameters(args);
    let cells = [GridCell::of(scenario)];
    let scenario = &cells[0].scenario;
    let sweep = Sweep {
        registry,
        cells: &cells,
        file: "compare",
        text: None,
        strategies: &args.strategy,
        seed: None,
        runs: None,
        until: &[],
        over: &[],
    };
    let OutputArgs { records, pcap_at, vs_oracle, .. } = &args.output;
    let measures = args.output.measures_recovery();
    args.output.check([])?;
    let mut records = Records::new(records, measures, SEED, args.strategy.len())?;
    records.capture_at(pcap_at, scenario)?;
    if let Some(path) = &args.output.queues {
        records.queues.write_to(path)?;
    }
    let cancel = &cancel_on_signals()?;
    let swept = execute(&sweep, None, &mut records, cancel).map_err(|error| match error {
        Error::Run(ackclock_run::Error::Scenario(error)) => named(error),
        error => error,
    });
    let Swept { runs, .. } = swept?;
    let distances = if *vs_oracle && !cancel.is_cancelled() {
        distances(&sweep, &runs, None, cancel)?
    } else {
        Vec::new()
    };
    let written = records.finish(&scenario.name, &parameters);
    warn_unmet(&sweep, &runs, |error| in_options(args, error));
    let measured = Measured { cells: &cells, axes: &[], runs: &runs };
    let shown = Shown::of(&args.output, true, &distances);
    let written = written.and(write_parquet(&measured, &shown));
    let mut text = results(&measured, &shown);
    if args.output.records.format == RecordFormat::Table && args.drop.len() > 1 {
        text.push('\n');
        for (flow, case) in args.drop.iter().enumerate() {
            text.push_str(&format!("flow {flow}: dropped {case}\n"));
        }
    }
    let text = beside(&args.output.records, text)?;
    ended(after_files(text, written)?, cancel.is_cancelled())
}

/// The scenario, as TOML, that `ackclock compare` runs with these options.
///
/// # Errors
/// What is wrong with an option, or with the scenario that they stand for.
pub fn compare_scenario(
    registry: &Registry,
    options: impl IntoIterator<Item = OsString>,
) -> Result<String, Error> {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Options {
        #[command(flatten)]
        args: CompareArgs,
    }
    let args = Options::try_parse_from(options).map_err(|e| {
        // Its first paragraph says what is wrong, those after it how the command is called.
        let text = e.to_string();
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        let line = lines.collect::<Vec<_>>().join(" ");
        Error::Usage(line.trim_start_matches("error: ").into())
    })?;
    compare(&CompareArgs { print_scenario: true, ..args.args }, registry)
}

/// An error of the scenario, with the option in place of its key.
fn in_options(args: &CompareArgs, mut error: FileError) -> FileError {
    let key = error.error.key.clone();
    let has = |part| key.contains(part);
    let option = match () {
        () if has(".loss") && args.drop_retransmission.is_empty() => "--drop",
        () if has(".loss") && args.drop.is_empty() => "--drop-retransmission",
        () if has(".loss") => "--drop, --drop-retransmission",
        () if has(".strategy") => "--strategy",
        () if has(".queue") => "--queue",
        () if has(".rate") => "--rate",
        () if has(".delay") => "--delay",
        () if key == "duration" => "--duration",
        () if has("tcp.min_rto") => {
            // The key that would allow for more has no option.
            if let Some((wrong, _)) = error.error.message.split_once("; ") {
                error.error.message = format!("{wrong}; lower it");
            }
            "--min-rto"
        }
        () => return error,
    };
    error.error.key = option.into();
    error
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The scenario that the options stand for. With more than one strategy its flow has the first one.
fn scenario(args: &CompareArgs) -> Result<Scenario, Error> {
    let segments = args.drop.iter().flat_map(|case| &case.0).map(|s| ("--drop", *s));
    let again = args.drop_retransmission.iter().map(|r| ("--drop-retransmission", r.segment));
    if let Some((option, segment)) =
        segments.chain(again).find(|(_, s)| *s >= u64::from(args.segments))
    {
        let last = args.segments - 1;
        return Err(Error::Usage(format!(
            "{option}: there is no segment {segment}; there are segments 0 to {last}"
        )));
    }
    for (i, case) in args.drop.iter().enumerate() {
        if args.drop[..i].contains(case) {
            return Err(Error::Usage(format!("--drop: `{case}` is there twice")));
        }
    }
    let none = [Segments::default()];
    let cases = if args.drop.is_empty() { &none[..] } else { &args.drop };
    let numbered = cases.len() > 1;
    let mut links = Vec::new();
    let mut flows = Vec::new();
    for (number, dropped) in cases.iter().enumerate() {
        let node = |name: &str| if numbered { format!("{name}{number}") } else { name.to_string() };
        links.extend(path(args, &dropped.0, [node("sender"), node("router"), node("receiver")]));
        let mut flow = Flow::new(node("sender"), node("receiver"));
        flow.name = numbered.then(|| format!("{} lost", dropped.to_string().replace(',', ", ")));
        flow.strategy = args.strategy.first().cloned();
        flow.source = Source::Segments(args.segments.into());
        flows.push(flow);
    }
    let mut scenario = Scenario::new(args.duration);
    scenario.name = title(args);
    scenario.seed = SEED;
    let tcp = &mut scenario.tcp;
    tcp.mss = Some(Size(args.mss.into()));
    tcp.initial_window = Some(args.initial_window);
    tcp.rwnd = Some(Amount::Segments(args.rwnd.into()));
    tcp.delayed_ack = Some(args.delayed_ack);
    tcp.max_burst = args.max_burst;
    tcp.timestamps = args.timestamps.then_some(true);
    tcp.min_rto = Some(args.min_rto);
    tcp.first_rtt = (args.first_rtt == KnownRtt::None).then_some(FirstRtt::None);
    tcp.handshake = args.handshake.then_some(true);
    (scenario.links, scenario.flows) = (links, flows);
    Ok(scenario)
}

/// The two links of a case.
fn path(args: &CompareArgs, dropped: &[u64], [sender, router, receiver]: [String; 3]) -> [Link; 2] {
    let access =
        Link::new(sender, router.clone(), Rate(8_000_000), Duration(Span::from_micros(100)));
    let mut bottleneck = Link::new(router, receiver, args.rate, args.delay);
    bottleneck.queue = Some(Queue::Droptail(DropTail::packets(args.queue)));
    if !dropped.is_empty() || !args.drop_retransmission.is_empty() {
        let mut list = DropList::default();
        list.segments = dropped.to_vec();
        list.retransmissions.clone_from(&args.drop_retransmission);
        bottleneck.loss.push(Loss::Drop(list));
    }
    [access, bottleneck]
}

fn title(args: &CompareArgs) -> String {
    let mut lost = args.drop.iter().map(Segments::to_string).collect::<Vec<_>>();
    lost.extend(args.drop_retransmission.iter().map(|r| format!("retransmission {r}")));
    match lost.as_slice() {
        [] => format!("{} segments, none dropped on purpose", args.segments),
        lost => format!("{} segments, dropped: {}", args.segments, lost.join("; ")),
    }
}

fn parameters(args: &CompareArgs) -> Vec<(String, String)> {
    let first_rtt = match args.first_rtt {
        _ if args.handshake => "handshake",
        KnownRtt::Path => "path",
        KnownRtt::None => "none",
    };
    let mut all = vec![
        ("bottleneck", format!("{}, {}", args.rate, args.delay)),
        ("queue", format!("{} packets", args.queue)),
        ("mss", format!("{} bytes", args.mss)),
        ("rwnd", format!("{} segments", args.rwnd)),
        ("initial window", args.initial_window.to_string()),
        ("min RTO", args.min_rto.to_string()),
        ("delayed ACKs", args.delayed_ack.to_string()),
        ("first round trip", first_rtt.to_string()),
    ];
    if !args.drop.is_empty() {
        let cases: Vec<String> = args.drop.iter().map(Segments::to_string).collect();
        all.push(("dropped", cases.join("; ")));
    }
    if !args.drop_retransmission.is_empty() {
        all.push(("retransmissions dropped", list(&args.drop_retransmission)));
    }
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
