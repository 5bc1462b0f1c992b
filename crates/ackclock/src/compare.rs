//! `ackclock compare`: one connection over one bottleneck, put together from options.

use ackclock_net::scenario::units::{Amount, Duration, Rate, Size};
use ackclock_net::scenario::{DropList, DropTail, Flow, Link, Loss, Queue, Scenario, Source, Tcp};
use ackclock_tcp::Span;

use crate::cli::CompareArgs;
use crate::error::Error;
use crate::execute::{Input, Job, execute};
use crate::output::results;
use crate::record::Records;

const SEED: u64 = 1;

pub(crate) fn compare(args: &CompareArgs) -> Result<String, Error> {
    let scenario = scenario(args)?;
    let failed = |error| Error::Scenario { file: "compare".into(), error };
    scenario.check().map_err(failed)?;
    if args.print_scenario {
        return scenario.to_toml().map_err(failed);
    }
    let jobs: Vec<Job> = args.strategy.iter().map(|s| Job { strategy: Some(s.clone()), seed: SEED }).collect();
    let mut records = Records::new(&args.output, SEED)?;
    let input = Input { scenario: &scenario, file: "compare".into(), text: None };
    let outcomes = execute(&input, &jobs, None, &mut records)?;
    records.finish(&scenario.name, &parameters(args))?;
    Ok(results(&jobs, &outcomes, args.output.format, true, args.output.stats))
}

fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// The scenario that the options stand for. With more than one strategy its flow has the first one.
fn scenario(args: &CompareArgs) -> Result<Scenario, Error> {
    let segments = args.drop.iter().map(|s| ("--drop", *s));
    let again = args.drop_retransmission.iter().map(|r| ("--drop-retransmission", r.segment));
    if let Some((option, segment)) = segments.chain(again).find(|(_, s)| *s >= u64::from(args.segments)) {
        let last = args.segments - 1;
        return Err(Error::Usage(format!("{option}: there is no segment {segment}; there are segments 0 to {last}")));
    }
    let loss = (!args.drop.is_empty() || !args.drop_retransmission.is_empty()).then(|| {
        Loss::Drop(DropList {
            segments: args.drop.clone(),
            retransmissions: args.drop_retransmission.clone(),
            flow: None,
        })
    });
    let link = |from: &str, to: &str, rate, delay| Link {
        from: from.into(),
        to: to.into(),
        rate,
        delay,
        delay_to: None,
        duplex: true,
        count: 1,
        queue: None,
        loss: Vec::new(),
        jitter: None,
        reorder: None,
        duplicate: None,
    };
    let access = link("sender", "router", Rate(8_000_000), Duration(Span::from_micros(100)));
    let bottleneck = Link {
        queue: Some(Queue::Droptail(DropTail { packets: Some(args.queue), bytes: None })),
        loss: loss.into_iter().collect(),
        ..link("router", "receiver", args.rate, args.delay)
    };
    let flow = Flow {
        name: None,
        from: "sender".into(),
        to: "receiver".into(),
        strategy: args.strategy.first().cloned(),
        count: 1,
        start: Duration::default(),
        start_step: Duration::default(),
        start_spread: Duration::default(),
        stop: None,
        source: Source::Segments(args.segments.into()),
        tcp: Tcp::default(),
    };
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
        links: vec![access, bottleneck],
        flows: vec![flow],
        cbrs: Vec::new(),
    })
}

fn title(args: &CompareArgs) -> String {
    let mut lost = args.drop.iter().map(u64::to_string).collect::<Vec<_>>();
    lost.extend(args.drop_retransmission.iter().map(|r| format!("retransmission {r}")));
    match lost.as_slice() {
        [] => format!("{} segments, none dropped on purpose", args.segments),
        lost => format!("{} segments, dropped: {}", args.segments, lost.join(", ")),
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
        all.push(("dropped", list(&args.drop)));
    }
    if !args.drop_retransmission.is_empty() {
        all.push(("retransmissions dropped", list(&args.drop_retransmission)));
    }
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}
