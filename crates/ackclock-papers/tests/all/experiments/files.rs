//! Experiments in files of one's own.

use std::fs;
use std::path::PathBuf;

use ackclock_papers::{Experiment, Library, run, sample_columns, samples};
use ackclock_tcp::Registry;

use super::{LOSSY, LOSSY_SCENARIO, ONE_LOSS, PAPER};

/// A folder of this test alone with these files in it.
fn folder(test: &str, files: &[(&str, &str)]) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder.display().to_string()
}

/// The ids of what these names stand for, or what is wrong.
fn ids(library: Library, names: &[String]) -> Result<Vec<String>, String> {
    let mut library = library;
    let plans = library.plan_all(names, true).map_err(|error| error.to_string())?;
    Ok(run(&plans, 1).unwrap().into_iter().map(|outcome| outcome.id).collect())
}

fn from_files(names: &[String]) -> Result<Vec<String>, String> {
    ids(Library::empty(Registry::default()), names)
}

#[test]
fn files_folders_and_patterns_are_found_and_each_runs_once() {
    let files = [
        ("mine/b-2.toml", ONE_LOSS),
        ("mine/b-10.toml", ONE_LOSS),
        ("mine/deep/lossy.toml", LOSSY),
        ("mine/deep/scenarios/lossy.toml", LOSSY_SCENARIO),
        ("mine/paper.toml", PAPER),
        ("mine/notes.txt", "no experiment"),
    ];
    let at = folder("files_folders", &files);
    let path = |name: &str| format!("{at}/{name}");
    let all = ["mine/b-2", "mine/b-10", "deep/lossy"];
    assert_eq!(from_files(&[path("mine")]).unwrap(), all);
    assert_eq!(
        from_files(&[path("mine/b-10.toml"), path("mine")]).unwrap(),
        [all[1], all[0], all[2]]
    );
    assert_eq!(from_files(&[path("mine/b-?.toml")]).unwrap(), [all[0]]);
    assert_eq!(from_files(&[path("*/d*")]).unwrap(), [all[2]]);
    // What is built in goes by its name, beside files.
    let embedded = || Library::embedded(Registry::default()).unwrap();
    let names = ["miyake-inamura/figure-15".to_string(), path("mine/b-2.toml")];
    assert_eq!(ids(embedded(), &names).unwrap(), ["miyake-inamura/figure-15", "mine/b-2"]);
    let figures = ids(embedded(), &["miyake-inamura/figure-1?".into()]).unwrap();
    assert_eq!(figures, ["miyake-inamura/figure-10", "miyake-inamura/figure-15"]);
}

#[test]
fn what_is_not_found_or_not_read_is_an_error_with_its_place() {
    let scenario = "duration = \"1s\"\nlink = []\n";
    let wrong_value = LOSSY.replace("[\"0%\", \"3%\"]", "[\"0%\", \"300%\"]");
    let wrong_set = LOSSY.replace("\"1mbit\"", "\"1mbitt\"");
    let files = [
        ("a/same.toml", ONE_LOSS),
        ("b/a/same.toml", ONE_LOSS),
        ("c/scenario.toml", scenario),
        ("c/scenarios/lossy.toml", LOSSY_SCENARIO),
        ("c/key.toml", &ONE_LOSS.replacen("place =", "plac =", 1)),
        ("c/value.toml", &wrong_value),
        ("c/set.toml", &wrong_set),
        ("c/delay.toml", &ONE_LOSS.replace("\"100ms\"", "\"100 minutes\"")),
        ("d/notes.txt", ""),
    ];
    let at = folder("not_found", &files);
    for (names, expected) in [
        (
            &["a/same.toml", "b/a/same.toml"][..],
            "AT/a/same.toml and AT/b/a/same.toml are both called `a/same`",
        ),
        (&["e"], "there is no file `AT/e`"),
        (&["e/*.toml"], "there is no file `AT/e/*.toml`"),
        (&["d"], "AT/d: there is no experiment here"),
        (
            &["c/scenario.toml"],
            "AT/c/scenario.toml: this is a scenario, and no experiment; `ackclock run AT/c/",
        ),
        (
            &["c/key.toml"],
            "AT/c/key.toml:3: plac: there is no key `plac` here; did you mean `place`?",
        ),
        (
            &["c/delay.toml"],
            "AT/c/delay.toml:55: scenario.link[0].delay: `100 minutes` is not a duration",
        ),
        (
            &["c/value.toml"],
            "AT/c/value.toml:19: vary[0].values[1]: scenario.link[0].loss[0].bernoulli.p: ",
        ),
        (&["c/set.toml"], "AT/c/set.toml:8: scenario.link[0].rate: `1mbitt` is not a rate"),
    ] {
        let names: Vec<String> = names.iter().map(|name| format!("{at}/{name}")).collect();
        let error = from_files(&names).unwrap_err();
        let expected = expected.replace("AT", &at);
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

/// A path that is a trace, to which experiments add where the scenario stands.
const TRACED: &str = r#"
title = "Traces"
show = ["completion"]
[[strategy]]
name = "sack"
[[vary]]
name = "trace"
key = "link[0].trace"
values = ["every-ms.trace", "every-7-ms.trace"]
"#;

const TRACED_SCENARIO: &str = r#"
duration = "10s"
tcp.delayed_ack = "off"
[[link]]
from = "a"
to = "b"
delay = "20ms"
trace = "every-ms.trace"
[[flow]]
from = "a"
to = "b"
source = { segments = 1 }
"#;

#[test]
fn traces_are_files_beside_the_experiment_or_the_scenario_that_names_them() {
    let inline = TRACED_SCENARIO
        .replace("[[", "[[scenario.")
        .replace("duration = \"10s\"", "[scenario]\nduration = \"10s\"");
    let of_file = format!("scenario_file = \"path.toml\"{TRACED}");
    let draw = "[population]\ntransfers = 1\n[[population.draw]]\nkey = \"link[0].trace\"\n\
                values = [\"every-7-ms.trace\"]\n";
    let population = TRACED.split("[[vary]]").next().unwrap().to_string() + draw + &inline;
    let missing = TRACED.replace("every-7-ms.trace", "none.trace") + &inline;
    let files = [
        ("t/inline.toml", &*format!("{TRACED}{inline}")),
        ("t/of-file.toml", &of_file),
        ("t/population.toml", &population),
        ("t/missing.toml", &missing),
        ("t/every-ms.trace", "1\n"),
        ("t/every-7-ms.trace", "7\n"),
        // Its `runs` are those of `ackclock run`.
        ("t/scenarios/path.toml", &format!("runs = 9\n{TRACED_SCENARIO}")),
        ("t/scenarios/every-ms.trace", "1\n"),
        ("t/scenarios/every-7-ms.trace", "9\n"),
    ];
    let at = folder("traces", &files);
    // The segment arrives 20 ms after the first opportunity, and the ACK after the next one.
    for (name, expected) in [
        ("inline", &["0.04200", "0.04800"][..]),
        ("of-file", &["0.04200", "0.05600"]),
        ("population", &["0.04800"]),
    ] {
        let mut library = Library::empty(Registry::default());
        let plans = library.plan_all(&[format!("{at}/t/{name}.toml")], false).unwrap();
        let outcomes = run(&plans, 1).unwrap();
        let shown: Vec<&str> = outcomes[0].cells.iter().map(|c| &*c.rows[0].shown).collect();
        assert_eq!(shown, expected, "{name}");
    }
    // The transfers of a population have the traces that were read when it was planned.
    let mut library = Library::empty(Registry::default());
    let plans = library.plan_all(&[format!("{at}/t/population.toml")], false).unwrap();
    std::fs::remove_file(format!("{at}/t/every-7-ms.trace")).unwrap();
    assert_eq!(run(&plans, 1).unwrap()[0].cells[0].rows[0].shown, "0.04800");
    let error = from_files(&[format!("{at}/t/missing.toml")]).unwrap_err();
    let place = format!("{at}/t/missing.toml:9: scenario.link[0].trace: none.trace: ");
    assert!(error.starts_with(&place), "{error}");
}

#[test]
fn what_no_packet_met_has_its_line() {
    let unmet = ONE_LOSS.replace("[14]", "[14, 900]");
    let scenario = LOSSY_SCENARIO.replace("{ bernoulli = { p = \"1%\" } }", "{ drop = [900] }");
    let of_file = "title = \"F\"\nscenario_file = \"s.toml\"\n[[strategy]]\nname = \"sack\"\n";
    let scenario = scenario.replace("[900]", "{ segments = [90000] }");
    let files = [("u/e.toml", &*unmet), ("u/f.toml", of_file), ("u/scenarios/s.toml", &*scenario)];
    let at = folder("unmet", &files);
    let told = |name: &str| {
        let mut library = Library::empty(Registry::default());
        let outcomes =
            run(&library.plan_all(&[format!("{at}/u/{name}")], false).unwrap(), 1).unwrap();
        outcomes[0].unmet().collect::<Vec<_>>()
    };
    let what = "scenario.link[0].loss[0].drop: no packet met";
    assert_eq!(told("e.toml"), [format!("{at}/u/e.toml:56: {what} 900 of this list")]);
    let what = "link[0].loss[0].drop: no packet met 90000 of this list";
    assert_eq!(told("f.toml"), [format!("{at}/u/scenarios/s.toml:8: {what}")]);
}

#[test]
fn samples_are_rows_with_a_column_for_each_axis() {
    let files = [
        ("s/lossy.toml", LOSSY),
        ("s/scenarios/lossy.toml", LOSSY_SCENARIO),
        ("s/one.toml", ONE_LOSS),
    ];
    let at = folder("samples", &files);
    let mut library = Library::empty(Registry::default());
    let outcomes = run(&library.plan_all(&[format!("{at}/s")], true).unwrap(), 1).unwrap();
    let text = sample_columns(&outcomes).to_csv(samples(&outcomes));
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("experiment,loss,delay,strategy,flow,seed,measure,unit,value,text")
    );
    let of = |start: &str| text.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
    // Three seeds in each of two cells, all of them without a loss.
    let lossless = of("s/lossy,0%,far,sack,flow1,");
    let losses: Vec<&str> =
        lossless.iter().filter(|line| line.contains(",losses,")).copied().collect();
    assert_eq!(
        losses,
        [1, 2, 3].map(|seed| format!("s/lossy,0%,far,sack,flow1,{seed},losses,,0,"))
    );
    assert!(of("s/lossy,3%,far,reno,,1,goodput,kbit/s,").len() == 1, "{text}");
    assert_eq!(
        of("s/one,,,ours,,1,third/causes,,"),
        ["s/one,,,ours,,1,third/causes,,,14 fast_retransmit"]
    );
}

#[test]
fn the_schema_has_the_keys_and_refuses_others() {
    let schema = Experiment::json_schema();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["title"]));
    for key in ["vary", "claim", "strategy", "scenario", "population", "set"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}
