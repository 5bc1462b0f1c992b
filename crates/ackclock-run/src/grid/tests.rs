use super::*;

const SCENARIO: &str = "duration = \"1s\"\n\
    link = [{ from = \"a\", to = \"b\", rate = \"1mbit\", delay = \"1ms\" }]\n\
    flow = [{ from = \"a\", to = \"b\" }]\n";

fn cells(axes: &str, quick: bool) -> Result<Vec<GridCell>, String> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        vary: Vec<Axis>,
    }
    let File { vary } = toml::from_str(axes).unwrap();
    grid(SCENARIO.parse().unwrap(), &vary, quick, &ackclock_tcp::Registry::default())
        .map_err(|error| error.to_string())
}

const RATE: &str =
    "[[vary]]\nname = \"rate\"\nkey = \"link[0].rate\"\nvalues = [\"1mbit\", \"2mbit\"]\n";

const DELAY: &str = "[[vary]]\nname = \"delay\"\nkey = \"link[0].delay\"\n\
    values = [\"1ms\", \"9ms\"]\nlabels = [\"near\", \"far\"]\nquick = [\"far\"]\n";

#[test]
fn the_cells_are_all_combinations_and_the_last_axis_is_the_fastest() {
    let cells = cells(&format!("{RATE}{DELAY}"), false).unwrap();
    let names: Vec<String> = cells.iter().map(GridCell::name).collect();
    assert_eq!(
        names,
        [
            "rate 1mbit, delay near",
            "rate 1mbit, delay far",
            "rate 2mbit, delay near",
            "rate 2mbit, delay far"
        ]
    );
    let last = &cells[3];
    assert_eq!((last.label("rate"), last.label("delay")), (Some("2mbit"), Some("far")));
    assert_eq!(last.label("queue"), None);
    let link = &last.scenario.links[0];
    assert_eq!((link.rate.0, link.delay.0.0), (2_000_000, 9_000_000));
    assert_eq!(last.table["link"][0]["delay"].as_str(), Some("9ms"));
}

#[test]
fn quick_runs_the_labels_that_an_axis_names() {
    let cells = cells(&format!("{RATE}{DELAY}"), true).unwrap();
    let names: Vec<String> = cells.iter().map(GridCell::name).collect();
    assert_eq!(names, ["rate 1mbit, delay far", "rate 2mbit, delay far"]);
}

#[test]
fn without_an_axis_there_is_one_cell_without_a_name() {
    let cells = cells("", false).unwrap();
    assert_eq!(cells.iter().map(GridCell::name).collect::<Vec<_>>(), [""]);
}

#[test]
fn errors_name_the_key_of_the_axis_or_of_the_scenario() {
    for (right, wrong, expected) in [
        ("\"1ms\", \"9ms\"", "", "vary[0].values: at least one value is expected"),
        (
            "\"near\", \"far\"]",
            "\"near\"]",
            "vary[0].labels: as many labels as values are expected",
        ),
        ("[\"far\"]", "[\"9ms\"]", "vary[0].quick: there is no value called `9ms`"),
        ("link[0]", "link[1]", "vary[0].key: there is no `link[1]`; there are 1"),
        ("].delay", "].dely", "scenario.link[0].dely: there is no key `dely` here"),
    ] {
        let error = cells(&DELAY.replacen(right, wrong, 1), false).unwrap_err();
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let axis = |name: &str, key: &str, n: u32, unit: &str| {
        let values: Vec<String> = (1..=n).map(|i| format!("\"{i}{unit}\"")).collect();
        let values = values.join(", ");
        format!("[[vary]]\nname = \"{name}\"\nkey = \"link[0].{key}\"\nvalues = [{values}]\n")
    };
    let rates = axis("rate", "rate", 100, "mbit");
    let many = |n| cells(&(rates.clone() + &axis("delay", "delay", n, "ms")), false);
    assert_eq!(many(100).unwrap().len(), 10_000);
    assert_eq!(many(101).unwrap_err(), "vary[1].values: the grid has more than 10000 cells");
    let same =
        |name, key| cells(&(rates.clone() + &axis(name, key, 2, "mbit")), false).unwrap_err();
    assert_eq!(same("rate", "delay"), "vary[1].name: another axis has the same");
    assert_eq!(
        same("speed", "rate"),
        "vary[1].key: `link[0].rate` is varied already; one list may have all values"
    );
    assert_eq!(
        cells(&RATE.replacen("2mbit", "1mbit", 1), false).unwrap_err(),
        "vary[0].values: `1mbit` is there twice"
    );
}

/// A setting for all flows has no effect where each flow has its own; where one has none, it has.
#[test]
fn an_axis_without_effect_is_refused() {
    let axis = |key: &str, values: &str| {
        format!("[[vary]]\nname = \"{key}\"\nkey = \"{key}\"\nvalues = [{values}]\n")
    };
    let shared = axis("tcp.mss", "1000, 500");
    let own = |key: &str| cells(&format!("{shared}{}", axis(key, "50, 60")), false);
    let expected = "vary[0].key: each flow has a `tcp.mss` of its own, and this has no effect";
    for key in ["flow[0].tcp.mss", "flow[*].tcp.mss"] {
        assert_eq!(own(key).unwrap_err(), expected, "{key}");
    }
    assert_eq!(own("flow[0].tcp.isn").unwrap().len(), 4);
    let base = SCENARIO.replace("flow = [", "flow = [{ from = \"b\", to = \"a\" }, ");
    let axes = ["tcp.mss", "flow[0].tcp.mss"].map(|key| Axis {
        name: key.into(),
        key: key.into(),
        values: vec![Value::Integer(500), Value::Integer(600)],
        labels: Vec::new(),
        quick: Vec::new(),
    });
    let registry = ackclock_tcp::Registry::default();
    assert_eq!(grid(base.parse().unwrap(), &axes, false, &registry).unwrap().len(), 4);
}
