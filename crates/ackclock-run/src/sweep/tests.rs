use ackclock_report::Estimate;

use super::*;

const SCENARIO: &str = "duration = \"5s\"\nseed = 7\n\
    link = [{ from = \"a\", to = \"b\", rate = \"1mbit\", delay = \"1ms\" }]\n\
    flow = [{ from = \"a\", to = \"b\", source = { segments = 20 } }]\n";

fn cells(sets: &[&str]) -> Result<Vec<GridCell>, String> {
    let axes = sets.iter().map(|set| axis(set)).collect::<Result<Vec<_>, _>>()?;
    sweep(("s.toml", SCENARIO), &axes, &Registry::default()).map_err(|error| error.to_string())
}

#[test]
fn values_are_toml_or_text_and_lists_are_quoted() {
    let axis = axis("tcp.x = 5, 1.5, 200ms,true,\"[1, '2-3']\",'\"a,b\"'").unwrap();
    assert_eq!((axis.key.as_str(), axis.name.as_str()), ("tcp.x", "tcp.x"));
    let list = vec![Value::Integer(1), Value::String("2-3".into())];
    let expected = [
        Value::Integer(5),
        Value::Float(1.5),
        Value::String("200ms".into()),
        Value::Boolean(true),
        Value::Array(list),
        Value::String("a,b".into()),
    ];
    assert_eq!(axis.values, expected);
    assert_eq!(axis.labels, ["5", "1.5", "200ms", "true", "[1, '2-3']", "\"a,b\""]);
    let name = super::axis("flow[0].name=flow{},x[0]").unwrap();
    assert_eq!(name.labels, ["flow{}", "x[0]"]);
}

#[test]
fn what_is_wrong_names_the_key_and_what_is_near() {
    for (set, expected) in [
        ("rate", "`rate` is not KEY=VALUE,..."),
        ("rate=", "`rate=` is not KEY=VALUE,..."),
        ("link[0].rate=1mbit,,2mbit", "`1mbit,,2mbit`: a value between commas is empty"),
        (
            "link[0].loss=[1,2],[3]",
            "`[1,2],[3]`: a value that is a list or a table is quoted: `\"[1,2]\"`",
        ),
        (
            "link[0].queue={codel={}}",
            "`{codel={}}`: a value that is a list or a table is quoted: `\"{codel={}}\"`",
        ),
        (
            "link[0].queue={droptail={bytes=\"1kb\"}}",
            "`{droptail={bytes=\"1kb\"}}`: a value that is a list or a table is quoted: \
             `'{droptail={bytes=\"1kb\"}}'`",
        ),
        ("link[0].rate=\"1mbit", "`\"1mbit`: a quote is not closed"),
        (
            "link[0].rat=1mbit",
            "--set: link[0].rat: there is no key `rat` here; did you mean `rate`?",
        ),
        (
            "lnk[0].rate=1mbit",
            "--set: lnk[0].rate: there is no `lnk[0]`; there are `flow[...]`, `link[...]`",
        ),
        ("link[1].rate=1mbit", "--set: link[1].rate: there is no `link[1]`; there are 1"),
        ("link[0].rate=1mbps", "--set: link[0].rate: `1mbps` has two readings"),
        ("seed=1,2", "`seed` is an option: --seed"),
        ("runs=3", "`runs` is an option: --runs"),
        ("tcp.mss=500,600,500", "--set: tcp.mss: `500` is there twice"),
        ("tpc.mss=500", "--set: tpc: there is no key `tpc` here; did you mean `tcp`?"),
    ] {
        let error = cells(&[set]).unwrap_err();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let twice = cells(&["tcp.mss=500", "tcp.mss=600"]).unwrap_err();
    assert_eq!(twice, "--set: tcp.mss: `tcp.mss` is varied already; one list may have all values");
}

/// 20 segments at 1 and 2 Mb/s: the rows have each cell, strategy and seed in order.
#[test]
fn runs_come_by_cell_strategy_and_seed() {
    let registry = Registry::default();
    let axes = [axis("link[0].rate=1mbit,2mbit").unwrap()];
    let cells = sweep(("s.toml", SCENARIO), &axes, &registry).unwrap();
    let strategies = ["reno".to_string(), "sack".to_string()];
    let sweep = Sweep {
        registry: &registry,
        cells: &cells,
        strategies: &strategies,
        runs: Some(2),
        ..plain(&registry)
    };
    let runs = sweep.run(2, &Cancel::default()).unwrap().runs;
    let places: Vec<(usize, &str, u64)> =
        runs.iter().map(|r| (r.cell, r.job.strategy.as_deref().unwrap(), r.job.seed)).collect();
    let of = |cell| [(cell, "reno", 7), (cell, "reno", 8), (cell, "sack", 7), (cell, "sack", 8)];
    assert_eq!(places, [of(0), of(1)].concat());
    let rows = runs.iter().map(|run| (Some(&cells[run.cell]), &run.outcome.flows[0]));
    let csv = flow_columns(&axes).to_csv(rows);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].starts_with("link[0].rate,strategy,seed,flow,name,bytes_acked,"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("1mbit,reno,7,0,flow0,"), "{}", lines[1]);
    assert!(lines[8].starts_with("2mbit,sack,8,0,"), "{}", lines[8]);
    let completion = |i: usize| runs[i].outcome.flows[0].completion_s.unwrap();
    assert!(completion(0) > completion(4));
}

fn plain(registry: &Registry) -> Sweep<'_> {
    Sweep {
        registry,
        cells: &[],
        file: "s.toml",
        text: None,
        strategies: &[],
        seed: None,
        runs: None,
        until: &[],
        over: &[],
    }
}

#[test]
fn nothing_runs_once_it_is_cancelled() {
    let registry = Registry::default();
    let cells = sweep(("s.toml", SCENARIO), &[], &registry).unwrap();
    let sweep = Sweep { cells: &cells, runs: Some(3), ..plain(&registry) };
    let cancel = Cancel::default();
    assert_eq!(sweep.run(1, &cancel).unwrap().runs.len(), 3);
    cancel.cancel();
    assert_eq!(sweep.run(1, &cancel).unwrap().runs.len(), 0);
    let until = ["goodput=2%".parse().unwrap()];
    let swept = Sweep { until: &until, ..sweep }.run(1, &cancel).unwrap();
    assert_eq!((swept.runs.len(), swept.short), (0, Vec::new()));
}

const LOSSY: &str = "duration = \"60s\"\n\
    link = [{ from = \"a\", to = \"b\", rate = \"1mbit\", delay = \"10ms\", \
    loss = [{ bernoulli = { p = \"1%\" } }] }]\n\
    flow = [{ from = \"a\", to = \"b\", source = { segments = 100 }, count = 2 }]\n";

/// Each strategy in each cell takes an even number of runs of its own, which holds what was asked
/// for, and which no number of threads moves. The runs are those of `runs`.
#[test]
fn runs_go_on_until_the_mean_is_known() {
    let registry = Registry::default();
    let axes = [axis("link[0].delay=10ms,40ms").unwrap()];
    let cells = sweep(("s.toml", LOSSY), &axes, &registry).unwrap();
    let strategies = ["reno".to_string(), "sack".to_string()];
    let until: [Until; 2] = ["goodput=2%".parse().unwrap(), "completion=2%".parse().unwrap()];
    let sweep = Sweep { cells: &cells, strategies: &strategies, until: &until, ..plain(&registry) };
    let swept = sweep.run(1, &Cancel::default()).unwrap();
    assert_eq!(swept.short, []);
    let key = |r: &SweepRun| (r.cell, r.job.clone(), r.outcome.flows.clone());
    let several = sweep.run(3, &Cancel::default()).unwrap();
    assert!(swept.runs.iter().map(key).eq(several.runs.iter().map(key)));
    let mut counts = Vec::new();
    for group in swept.runs.chunk_by(|a, b| (a.cell, &a.job.strategy) == (b.cell, &b.job.strategy))
    {
        let n = group.len() as u32;
        assert!(n >= LEAST_RUNS && n.is_multiple_of(2), "{n}");
        for Until { measure, share } in &until {
            let values: Option<Vec<f64>> =
                group.iter().map(|r| measure.over(Over::Mean, &r.outcome.flows)).collect();
            let estimate = Estimate::of(&values.unwrap()).unwrap();
            assert!(estimate.half_width.unwrap() <= share * estimate.mean, "{estimate:?}");
        }
        counts.push(n);
        let fixed =
            Sweep { until: &[], runs: Some(n), cells: &cells[group[0].cell..][..1], ..sweep };
        let fixed = fixed.run(1, &Cancel::default()).unwrap().runs;
        let of = |r: &&SweepRun| r.job.strategy == group[0].job.strategy;
        let alone = fixed.iter().filter(of).map(|r| (&r.job, &r.outcome.flows));
        assert!(group.iter().map(|r| (&r.job, &r.outcome.flows)).eq(alone));
    }
    assert_eq!(counts.len(), 4);
    assert!(counts.iter().any(|n| *n > LEAST_RUNS), "{counts:?}");
}

#[test]
fn what_is_not_known_well_enough_is_said() {
    let registry = Registry::default();
    let axes = [axis("link[0].delay=10ms").unwrap()];
    let cells = sweep(("s.toml", LOSSY), &axes, &registry).unwrap();
    let until = ["completion=0.01%".parse().unwrap(), "timeouts_backed_off=5%".parse().unwrap()];
    let over = [Over::Max];
    let strategies = ["sack".to_string()];
    let sweep = Sweep {
        cells: &cells,
        strategies: &strategies,
        until: &until,
        over: &over,
        runs: Some(6),
        ..plain(&registry)
    };
    let swept = sweep.run(1, &Cancel::default()).unwrap();
    assert_eq!(swept.runs.len(), 6);
    let [completion, timeouts] = &swept.short[..] else { panic!("{:?}", swept.short) };
    assert!(completion.wants_runs && timeouts.wants_runs);
    let (completion, timeouts) = (&completion.sentence, &timeouts.sentence);
    let begin = "completion of sack (link[0].delay 10ms), max: ± ";
    let end = " % after 6 runs, and not ± 0.010 %";
    assert!(completion.starts_with(begin) && completion.ends_with(end), "{completion}");
    let expected = "timeouts_backed_off of sack (link[0].delay 10ms), max: after 6 runs its mean is 0, \
                    and has no precision";
    assert_eq!(timeouts, expected);
}

/// Runs on end in which a flow does not complete.
#[test]
fn what_no_further_runs_can_tell_ends_them() {
    let registry = Registry::default();
    let axes = [axis("duration=100ms").unwrap()];
    let cells = sweep(("s.toml", LOSSY), &axes, &registry).unwrap();
    let until = ["completion=5%".parse().unwrap()];
    let sweep = Sweep { cells: &cells, until: &until, ..plain(&registry) };
    let swept = sweep.run(1, &Cancel::default()).unwrap();
    assert_eq!(swept.runs.len(), LEAST_RUNS as usize);
    let [Shortfall { sentence, wants_runs: false }] = &swept.short[..] else {
        panic!("{:?}", swept.short)
    };
    let expected = ": some of 50 runs have none, which no further ones mend; try a longer \
                    `duration`, or another `over`";
    assert!(sentence.ends_with(expected), "{sentence}");
}

#[test]
fn fewer_runs_than_it_takes_are_said() {
    let registry = Registry::default();
    let cells = sweep(("s.toml", LOSSY), &[], &registry).unwrap();
    let until = ["bytes_acked=90%".parse().unwrap()];
    let sweep = Sweep { cells: &cells, until: &until, runs: Some(4), ..plain(&registry) };
    let swept = sweep.run(1, &Cancel::default()).unwrap();
    let [short] = &swept.short[..] else { panic!("{:?}", swept.short) };
    let end = " after 4 runs, of which it takes at least 50";
    assert!(short.sentence.ends_with(end) && short.wants_runs, "{short:?}");
}

#[test]
fn a_measure_that_is_not_there_is_answered_with_those_that_are() {
    let error = "godput=2%".parse::<Until>().unwrap_err();
    assert!(
        error.starts_with("there is no measure `godput`; there are `bytes_acked`, "),
        "{error}"
    );
    assert!(error.contains("`goodput`, `completion`, `mean_rtt`"), "{error}");
}
