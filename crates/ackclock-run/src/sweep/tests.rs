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
}

#[test]
fn what_is_wrong_names_the_key_and_what_is_near() {
    for (set, expected) in [
        ("rate", "`rate` is not KEY=VALUE,..."),
        ("rate=", "`rate=` is not KEY=VALUE,..."),
        ("link[0].rate=1mbit,,2mbit", "`1mbit,,2mbit`: a value between commas is empty"),
        ("link[0].loss=[1,2]", "`[1,2]`: a value that is a list is quoted"),
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
        ("tpc.mss=500", "--set: tpc: there is no key `tpc` here; did you mean `tcp`?"),
    ] {
        let error = cells(&[set]).unwrap_err();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
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
        file: "s.toml",
        strategies: &strategies,
        seed: None,
        runs: Some(2),
    };
    let runs = sweep.run(2, &Cancel::default()).unwrap();
    let places: Vec<(usize, &str, u64)> =
        runs.iter().map(|r| (r.cell, r.job.strategy.as_deref().unwrap(), r.job.seed)).collect();
    let of = |cell| [(cell, "reno", 7), (cell, "reno", 8), (cell, "sack", 7), (cell, "sack", 8)];
    assert_eq!(places, [of(0), of(1)].concat());
    let rows = runs.iter().map(|run| (Some(&cells[run.cell]), &run.outcome.flows[0]));
    let csv = flow_columns(&axes).to_csv(rows);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("link[0].rate,strategy,seed,flow,bytes_acked,"), "{}", lines[0]);
    assert!(lines[1].starts_with("1mbit,reno,7,0,"), "{}", lines[1]);
    assert!(lines[8].starts_with("2mbit,sack,8,0,"), "{}", lines[8]);
    let completion = |i: usize| runs[i].outcome.flows[0].completion_s.unwrap();
    assert!(completion(0) > completion(4));
}

#[test]
fn nothing_runs_once_it_is_cancelled() {
    let registry = Registry::default();
    let cells = sweep(("s.toml", SCENARIO), &[], &registry).unwrap();
    let (cells, strategies) = (&cells[..], &[][..]);
    let sweep =
        Sweep { registry: &registry, cells, file: "s.toml", strategies, seed: None, runs: Some(3) };
    let cancel = Cancel::default();
    assert_eq!(sweep.run(1, &cancel).unwrap().len(), 3);
    cancel.cancel();
    assert_eq!(sweep.run(1, &cancel).unwrap().len(), 0);
}
