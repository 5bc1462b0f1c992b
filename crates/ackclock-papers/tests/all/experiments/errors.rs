//! What is wrong with an experiment: file, line and key.

use ackclock_papers::Library;

use super::{DRAWN, LOSSY, ONE_LOSS, error, library};

#[test]
fn errors_in_a_population_name_file_line_and_key() {
    for (right, wrong, expected) in [
        (
            "transfers = 5",
            "transfers = 0",
            "papers/p/e.toml:14: population.transfers: at least one transfer",
        ),
        (
            "values = [[0]]",
            "values = []",
            "papers/p/e.toml:19: population.draw[0].values: at least one",
        ),
        (
            "key = \"link[0].loss[0]",
            "key = \"link[1].loss[0]",
            "papers/p/e.toml:18: population.draw[0].key: there is no `link[1]`",
        ),
        (
            "values = [[0]]",
            "values = [[9], [-1]]",
            "papers/p/e.toml:19: population.draw[0].values[1]: scenario.link[0].loss[0].drop",
        ),
        (
            "values = [[0]]",
            "values = [[0], []]",
            "papers/p/e.toml:19: population.draw[0].values[1]: scenario.link[0].loss[0].drop: what \
             is dropped? ",
        ),
        (
            "drop.segments\"",
            "drop.segment\"",
            "papers/p/e.toml:19: population.draw[0].values[0]: \
             scenario.link[0].loss[0].drop.segment: there is no key",
        ),
        (
            "values = [[0]]",
            "values = [[0]]\n[[population.draw]]\nkey = \"link[*].loss\"\nvalues = [[]]",
            "papers/p/e.toml:21: population.draw[1].key: `link[0].loss[0].drop.segments` is varied \
             or drawn already",
        ),
        (
            "[population]",
            "[[vary]]\nname = \"n\"\nkey = \"link[0].loss[0].drop\"\n\
             values = [{ segments = [1] }]\nlabels = [\"1\"]\n[population]",
            "papers/p/e.toml:23: population.draw[0].key: `link[0].loss[0].drop` is varied or drawn",
        ),
        (
            "[population]",
            "[[vary]]\nname = \"n\"\nkey = \"flow[*].strategy\"\nvalues = [\"tahoe\"]\n\
             [population]",
            "papers/p/e.toml:15: vary[0].key: each `[[strategy]]` is that of all flows, and \
             `flow[*].strategy` has no effect; one with `of_flows` is expected",
        ),
        (
            "key = \"link[0].loss[0].drop.segments\"\nvalues = [[0]]",
            "key = \"flow[0].strategy\"\nvalues = [\"tahoe\"]",
            "papers/p/e.toml:18: population.draw[0].key: each `[[strategy]]` is that of all flows",
        ),
        (
            "runs = 4",
            "runs = 4\nset.\"flow[0].strategy\" = \"tahoe\"",
            "papers/p/e.toml:5: set.flow[0].strategy: each `[[strategy]]` is that of all flows",
        ),
        (
            "runs = 4",
            "sequence = true",
            "papers/p/e.toml:13: population: many transfers have no sequence",
        ),
        (
            "chart = \"Timeouts\"\n",
            "chrat = \"x\"\n",
            "papers/p/e.toml:15: population.chrat: there is no key",
        ),
        (
            "values = [[0]]",
            "values = [[0]]\nweights = [1, 1]",
            "papers/p/e.toml:20: population.draw[0].weights: as many",
        ),
        (
            "\"share-non-trigger/reno\"",
            "\"timeouts/reno/flow0\"",
            "papers/p/e.toml:22: row[0].measurement: there is no measurement \
             `timeouts/reno/flow0`: `timeouts` is of all flows together; it is `timeouts/reno`",
        ),
    ] {
        let text = DRAWN.replacen(right, wrong, 1);
        assert_ne!(text, DRAWN, "{right}");
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let elsewhere = error(&LOSSY.replacen("\"timeouts\"]", "\"mean-window\"]", 1));
    assert!(
        elsewhere.starts_with("papers/p/e.toml:6: show[1]: there is no measure `mean-window`"),
        "{elsewhere}"
    );
}

#[test]
fn errors_name_file_line_and_key() {
    let cases = [
        (
            "title = \"One loss\"",
            "titel = \"x\"",
            "papers/p/e.toml:2: titel: there is no key `titel` here; did you mean `title`?",
        ),
        (
            "rate = \"0.8mbit\"",
            "rat = 1",
            "papers/p/e.toml:54: scenario.link[0].rat: there is no key `rat` here; \
             did you mean `rate`?",
        ),
        ("duration = \"60s\"", "duration = \"0s\"", "papers/p/e.toml:44: scenario.duration: "),
        (
            "duration = \"60s\"",
            "duration = \"60s\"\nruns = 5",
            "papers/p/e.toml:45: scenario.runs: `runs` of the scenario counts nothing here; that of \
             the experiment does",
        ),
        (
            "composition = \"newreno\"",
            "composition = \"newrenno\"",
            "papers/p/e.toml:5: strategy[0]: `newrenno` is neither",
        ),
        (
            "\"third/ours/time\"",
            "\"third/ours/tim\"",
            "papers/p/e.toml:26: row[0].measurement: there is no measurement `third/ours/tim`: \
             there is no aspect `tim`; did you mean `time`?",
        ),
        (
            "above = 0",
            "above = 0\nbelow = 1",
            "papers/p/e.toml:36: claim[1]: exactly one of `equals`, ",
        ),
        (
            "above = 0",
            "above = \"timeouts/theirs\"",
            "papers/p/e.toml:40: claim[1].above: there is no measurement `timeouts/theirs`: \
             there is no strategy `theirs`; there are ",
        ),
        (
            "above = 0",
            "above = \"goodput/ours\"",
            "papers/p/e.toml:40: claim[1].above: `goodput/ours` (kbit/s) cannot be compared with ",
        ),
        ("\"again\"", "\"third\"", "papers/p/e.toml:14: step[1].name: `third` is taken"),
        ("above = 0", "near = 0", "papers/p/e.toml:36: claim[1]: `near` needs a `tolerance`"),
        (
            "above = 0",
            "near = 1\ntolerance = -0.1",
            "papers/p/e.toml:41: claim[1].tolerance: at least 0 is expected",
        ),
        (
            "above = 0",
            "near = nan\ntolerance = 1",
            "papers/p/e.toml:40: claim[1].near: `nan` is neither a finite number nor a text",
        ),
        (
            "above = 0",
            "above = 0\nin_runs = 10",
            "papers/p/e.toml:41: claim[1].in_runs: it goes with `equals`",
        ),
        (
            "above = 0",
            "equals = 0\nin_runs = 0",
            "papers/p/e.toml:41: claim[1].in_runs: at least 1 is expected",
        ),
        (
            "above = 0",
            "equals = \"timeouts/our\"",
            "papers/p/e.toml:40: claim[1].equals: there is no measurement `timeouts/our`",
        ),
        (
            "place = \"figure 1\"\n\n",
            "place = \"figure 1\"\nwindow = [6, 2]\n\n",
            "papers/p/e.toml:4: window: two times in seconds are expected",
        ),
        (
            "above = 0",
            "above = 0\nby = \"ten\"",
            "papers/p/e.toml:41: claim[1].by: `ten` is no margin",
        ),
        (
            "place = \"figure 1\"\n\n",
            "place = \"figure 1\"\nruns = 2\n\n",
            "papers/p/e.toml:4: runs: steps take a single run",
        ),
    ];
    for (right, wrong, expected) in cases {
        let text = ONE_LOSS.replacen(right, wrong, 1);
        assert_ne!(text, ONE_LOSS, "{right}");
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    for (right, wrong, expected) in [
        (
            "link[0].delay",
            "link[1].delay",
            "papers/p/e.toml:23: vary[1].key: there is no `link[1]`; there are 1",
        ),
        (
            "link[0].delay",
            "link[0].dely",
            "papers/p/e.toml:24: vary[1].values[0]: scenario.link[0].dely: there is no key `dely` \
             here",
        ),
        (
            "key = \"link[0].loss[0].bernoulli.p\"\nvalues = [\"0%\", \"3%\"]",
            "key = \"link[0].loss[0]\"\nvalues = [{ bernoulli = { p = \"0%\" } }, {}]",
            "papers/p/e.toml:19: vary[0].values[1]: scenario.link[0].loss[0]",
        ),
        (
            "lossy.toml",
            "none.toml",
            "papers/p/e.toml:7: scenario_file: there is no papers/p/scenarios/none.toml",
        ),
        (
            "scenario_file = \"lossy.toml\"",
            "scenario_file = \"/abs/x.toml\"",
            "papers/p/e.toml:7: scenario_file: the name of a file in `scenarios` beside this one is \
             expected",
        ),
        (
            "[\"near\", \"far\"]",
            "[\"near\"]",
            "papers/p/e.toml:25: vary[1].labels: as many labels as values are expected",
        ),
        (
            "quick = [\"far\"]",
            "quick = [\"50ms\"]",
            "papers/p/e.toml:26: vary[1].quick: there is no value called `50ms`",
        ),
        (
            "loss = \"0%\"",
            "loss = \"1%\"",
            "papers/p/e.toml:55: claim[1].where: no cell has these labels; the axes are `loss` with `",
        ),
        (
            "where = { delay = \"far\" }",
            "where = { delay = \"50ms\" }",
            "papers/p/e.toml:42: chart[2].where: no cell has these labels",
        ),
        (
            "name = \"reno\"",
            "name = \"reno\"\ncomposition = \"reno\"\nof_flows = true",
            "papers/p/e.toml:13: strategy[0].of_flows: either `of_flows` or `composition`, not both",
        ),
        (
            "\"link[0].rate\" = \"1mbit\"",
            "\"runs\" = 3",
            "papers/p/e.toml:8: scenario.runs: `runs` of the scenario counts nothing here",
        ),
        (
            "axis = \"loss\"",
            "axis = \"loss\"\nlog_x = true",
            "papers/p/e.toml:32: chart[0].log_x: labels of `loss` above 0 are expected",
        ),
        (
            "values = [\"0%\", \"3%\"]",
            "values = [\"0%\", \"3%\"]\nlabels = [\"0 %\", \"some\"]",
            "papers/p/e.toml:32: chart[0].axis: the name of a `[[vary]]` is expected whose labels \
             begin with numbers, all of one unit or of one kind",
        ),
        (
            "show = [\"goodput\", \"timeouts\"]",
            "show = [\"goodput\", \"timeouts\", \"goodput\"]",
            "papers/p/e.toml:6: show[2]: `goodput` is there twice",
        ),
        (
            "[[chart]]",
            "[[row]]\nmeasurement = \"goodput/sack\"\nscale = 0.001\nunit = \"Mbit/s\"\n[[chart]]",
            "papers/p/e.toml:34: chart[0].measure: `row[0]` has another `unit` or `scale` than what",
        ),
        (
            "[[chart]]",
            "[[row]]\nmeasurement = \"goodput/sack/flow0\"\nunit = \"kb/s\"\n[[chart]]",
            "papers/p/e.toml:33: chart[0].measure: `row[0]` has another `unit` or `scale` than what",
        ),
        (
            "axis = \"loss\"",
            "flows = { flow2 = \"C\" }",
            "papers/p/e.toml:31: chart[0].flows: names of flows of the scenario",
        ),
        (
            "axis = \"loss\"",
            "axis = \"delay\"",
            "papers/p/e.toml:31: chart[0].axis: the name of a `[[vary]]` is expected",
        ),
        (
            "measure = \"goodput\"\naxis = \"loss\"",
            "quantiles = \"goodput\"",
            "papers/p/e.toml:28: chart[0].measure: a `measure` of `row` or `show` is expected",
        ),
        (
            "\"goodput\"",
            "\"godput\"",
            "papers/p/e.toml:6: show[0]: there is no measure `godput`; did you mean \
             `goodput`?",
        ),
        (
            "axis = \"loss\"",
            "axis = \"loss\"\nstrategies = [\"tahoe\"]",
            "papers/p/e.toml:32: chart[0].strategies: names of strategies of this experiment",
        ),
    ] {
        let error = error(&LOSSY.replacen(right, wrong, 1));
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let library = library(ONE_LOSS).unwrap();
    let unknown = library.plan("p/f", false).unwrap_err().to_string();
    assert_eq!(unknown, "there is no paper or experiment `p/f`; did you mean `p/e`?");
}

#[test]
fn every_experiment_has_a_paper() {
    let files = vec![("p/e.toml".to_string(), ONE_LOSS.to_string())];
    let error =
        Library::from_files(files, ackclock_tcp::Registry::default()).unwrap_err().to_string();
    assert_eq!(error, "papers/p/e.toml: there is no paper.toml in this folder");
}
