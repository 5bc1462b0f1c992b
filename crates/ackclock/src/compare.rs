//! `ackclock compare`: one connection over one bottleneck, put together from options.

use ackclock_net::scenario::units::{Amount, Duration, Rate, Size};
use ackclock_net::scenario::{DropList, DropTail, Flow, Link, Loss, Queue, Scenario, Source, Tcp};
use ackclock_run::{Input, Job};
use ackclock_tcp::Span;

use crate::cli::{CompareArgs, Format, Segments};
use crate::error::Error;
use crate::execute::execute;
use crate::oracle::distances;
use crate::output::{Shown, results};
use crate::record::Records;

const SEED: u64 = 1;

pub(crate) fn compare(args: &CompareArgs) -> Result<String, Error> {
    let scenario = scenario(args)?;
    let failed = |error| Error::Run(ackclock_run::Error::Scenario { file: "compare".into(), error });
    scenario.check().map_err(failed)?;
    if args.print_scenario {
        return scenario.to_toml().map_err(failed);
    }
    let jobs: Vec<Job> = args.strategy.iter().map(|s| Job { strategy: Some(s.clone()), seed: SEED }).collect();
    let mut records = Records::new(&args.output.records, args.output.measures_recovery(), SEED, args.strategy.len())?;
    records.capture_at(&args.output.pcap_at, &scenario)?;
    let input = Input { scenario: &scenario, file: "compare".into(), text: None };
    let outcomes = execute(&input, &jobs, None, &mut records)?;
    let distances = if args.output.vs_oracle { distances(&input, &jobs, &outcomes, None)? } else { Vec::new() };
    records.finish(&scenario.name, &parameters(args))?;
    let mut text = results(&jobs, &outcomes, &Shown::of(&args.output, true, &distances));
    if args.output.records.format == Format::Table && args.drop.len() > 1 {
        text.push('\n');
        for (flow, case) in args.drop.iter().enumerate() {
            text.push_str(&format!("flow {flow}: dropped {case}\n"));
        }
    }
    Ok(text)
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The scenario that the options stand for. With more than one strategy its flow has the first one.
fn scenario(args: &CompareArgs) -> Result<Scenario, Error> {
    let segments = args.drop.iter().flat_map(|case| &case.0).map(|s| ("--drop", *s));
    let again = args.drop_retransmission.iter().map(|r| ("--drop-retransmission", r.segment));
    if let Some((option, segment)) = segments.chain(again).find(|(_, s)| *s >= u64::from(args.segments)) {
        let last = args.segments - 1;
        return Err(Error::Usage(format!("{option}: there is no segment {segment}; there are segments 0 to {last}")));
    }
    let none = [Segments::default()];
    let cases = if args.drop.is_empty() { &none[..] } else { &args.drop };
    let numbered = cases.len() > 1;
    let mut links = Vec::new();
    let mut flows = Vec::new();
    for (number, dropped) in cases.iter().enumerate() {
        let node = |name: &str| if numbered { format!("{name}{number}") } else { name.to_string() };
        links.extend(path(args, &dropped.0, [node("sender"), node("router"), node("receiver")]));
        flows.push(Flow {
            name: numbered.then(|| format!("dropped {dropped}")),
            from: node("sender"),
            to: node("receiver"),
            strategy: args.strategy.first().cloned(),
            count: 1,
            start: Duration::default(),
            start_step: Duration::default(),
            arrivals: None,
            start_spread: Duration::default(),
            stop: None,
            source: Source::Segments(args.segments.into()),
            tcp: Tcp::default(),
        });
    }
    let tcp = Tcp {
        mss: Some(Size(args.mss.into())),
        initial_window: Some(args.initial_window),
        rwnd: Some(Amount::Segments(args.rwnd.into())),
        delayed_ack: Some(args.delayed_ack),
        max_burst: args.max_burst,
        timestamps: args.timestamps.then_some(true),
        min_rto: Some(args.min_rto),
        ..Tcp::default()
    };
    Ok(Scenario {
        name: title(args),
        description: String::new(),
        duration: args.duration,
        seed: SEED,
        runs: 1,
        tcp,
        nodes: Vec::new(),
        links,
        flows,
        cbrs: Vec::new(),
    })
}

/// The two links of a case.
fn path(args: &CompareArgs, dropped: &[u64], [sender, router, receiver]: [String; 3]) -> [Link; 2] {
    let loss = (!dropped.is_empty() || !args.drop_retransmission.is_empty()).then(|| {
        Loss::Drop(DropList {
            segments: dropped.to_vec(),
            retransmissions: args.drop_retransmission.clone(),
            flow: None,
        })
    });
    let link = |from: String, to: String, rate, delay| Link {
        from,
        to,
        rate,
        delay,
        delay_to: None,
        duplex: true,
        count: 1,
        queue: None,
        loss: Vec::new(),
        spikes: Vec::new(),
        jitter: None,
        reorder: None,
        duplicate: None,
        corrupt: None,
    };
    let access = link(sender, router.clone(), Rate(8_000_000), Duration(Span::from_micros(100)));
    let bottleneck = Link {
        queue: Some(Queue::Droptail(DropTail { packets: Some(args.queue), bytes: None })),
        loss: loss.into_iter().collect(),
        ..link(router, receiver, args.rate, args.delay)
    };
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
    let mut all = vec![
        ("bottleneck", format!("{}, {}", args.rate, args.delay)),
        ("queue", format!("{} packets", args.queue)),
        ("mss", format!("{} bytes", args.mss)),
        ("rwnd", format!("{} segments", args.rwnd)),
        ("initial window", args.initial_window.to_string()),
        ("min RTO", args.min_rto.to_string()),
        ("delayed ACKs", args.delayed_ack.to_string()),
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
