//! `--figure` and `--qlog` from outside.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::run::{Run, ackclock, empty_folder};

/// An empty folder of this test alone.
fn scratch(test: &str) -> PathBuf {
    empty_folder(&format!("figure/{test}"))
}

fn kernel() -> String {
    format!("{}/../../tests/kernel.pcap.gz", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn each_ending_is_what_it_says() {
    let folder = scratch("endings");
    let paths = ["a.pdf", "a.svg", "a.png", "a.csv"].map(|n| folder.join(n).display().to_string());
    let mut args = vec!["compare", "--strategy", "reno", "--drop", "14", "--width", "12cm"];
    paths.iter().for_each(|path| args.extend(["--figure", path]));
    let Run { code, err, .. } = ackclock(&args);
    assert_eq!((code, err.as_str()), (0, ""));
    let starts: [&[u8]; 4] = [b"%PDF-", b"<svg width=\"120.000mm\"", b"\x89PNG", b"panel,mark,"];
    for (path, start) in paths.iter().zip(starts) {
        assert!(fs::read(path).unwrap().starts_with(start), "{path}");
    }
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let folder = scratch("errors");
    let name = |name: &str| folder.join(name).display().to_string();
    let (pdf, jpg) = (name("a.pdf"), name("a.jpg"));
    let compare = |more: &[&str]| {
        let Run { code, err, .. } =
            ackclock(&[&["compare", "--strategy", "reno", "--drop", "14"], more].concat());
        assert_eq!(code, 2, "{err}");
        err
    };
    assert!(compare(&["--figure", &jpg]).contains("has to end in .pdf, .svg, .png or .csv"));
    assert!(!Path::new(&jpg).exists());
    let empty = compare(&["--figure", &pdf, "--from", "3s", "--to", "2s"]);
    assert!(empty.contains("from 3 s to 2 s is no interval"), "{empty}");
    let outside = compare(&["--figure", &pdf, "--from", "60s", "--to", "70s"]);
    assert!(outside.contains("nothing is there from 60 s to 70 s; the data are from 0 s to 2."));
    assert!(compare(&["--figure", &pdf, "--width", "39mm"]).contains("it takes 40mm to 400mm"));
    assert!(compare(&["--width", "84mm"]).contains("--figure"));
    let many = ["explain", &kernel(), "--figure", &pdf];
    let Run { code, err, .. } = ackclock(&many);
    assert_eq!((code, err.contains("one connection of 30: add --connection N")), (2, true));
    let chart = ["papers", "run", "miyake-inamura/figure-10", "--figure", &pdf, "--to", "2s"];
    let Run { code, err, .. } = ackclock(&chart);
    assert_eq!(code, 2);
    assert!(err.contains("--to: it is of time-sequence graphs"), "{err}");
    let Run { code, err, .. } = ackclock(&["papers", "run", "lin-kung", "--figure", &pdf]);
    assert_eq!((code, err.contains("this takes one experiment, not ")), (2, true), "{err}");
}

#[test]
fn a_connection_and_an_experiment() {
    let folder = scratch("others");
    let name = |name: &str| folder.join(name).display().to_string();
    let csv = name("stall.csv");
    let args = ["explain", &kernel(), "--connection", "22", "--figure", &csv];
    assert_eq!(ackclock(&[&args[..], &["--from", "400ms", "--to", "450ms"]].concat()).code, 0);
    let text = fs::read_to_string(&csv).unwrap();
    let of = |mark: &str| text.lines().filter(|l| l.contains(&format!(",{mark},"))).count();
    // The stall lasts from 0.12 s on, and its second timeout is later.
    assert_eq!((of("stall"), of("timer_expired")), (1, 1), "{text}");
    // What the client asked for is no half of the figure.
    assert!(text.lines().skip(1).all(|line| line.starts_with("server ")), "{text}");
    let svg = name("charts.svg");
    let run = ["papers", "run", "gurtov-floyd/figure-5-loss", "--quick", "--figure", &svg];
    let Run { code, err, .. } = ackclock(&run);
    assert_eq!((code, err), (0, format!("note: figure 2 is {}\n", name("charts-2.svg"))));
    assert!(fs::read(name("charts-2.svg")).unwrap().starts_with(b"<svg width=\"84.000mm\""));
}

#[test]
fn each_flow_of_each_strategy_is_a_trace_of_qlog() {
    let qlog = scratch("qlog").join("a.qlog").display().to_string();
    let traces = |args: &[&str]| {
        assert_eq!(ackclock(&[args, &["--qlog", &qlog]].concat()).code, 0);
        let file: Value = serde_json::from_str(&fs::read_to_string(&qlog).unwrap()).unwrap();
        let traces = file["traces"].as_array().unwrap().iter();
        let sent = |trace: &Value| {
            let all = trace["events"].as_array().unwrap();
            all.iter().filter(|event| event["name"] == "transport:packet_sent").count()
        };
        let title = |trace: &Value| trace["title"].as_str().unwrap().to_string();
        traces.map(|trace| (title(trace), sent(trace))).collect::<Vec<_>>()
    };
    let compare = ["compare", "--strategy", "reno,sack", "--drop", "14", "--drop", "14,26"];
    // As many packets as the table says were sent.
    let expected = [
        ("reno: 14 lost", 101),
        ("reno: 14, 26 lost", 102),
        ("sack: 14 lost", 101),
        ("sack: 14, 26 lost", 102),
    ];
    assert_eq!(traces(&compare), expected.map(|(title, sent)| (title.to_string(), sent)));
    let explain = ["explain", &kernel(), "--connection", "22"];
    let titles: Vec<String> = traces(&explain).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["#22 client sends", "#22 server sends"]);
}

#[test]
fn a_page_of_many_panels_begins_with_the_two_that_differ_most() {
    let html = scratch("page").join("a.html").display().to_string();
    let page = |more: &[&str]| {
        let args = [&["compare", "--strategy", "sack,reno", "--html", &html], more].concat();
        assert_eq!(ackclock(&args).code, 0);
        let page = fs::read_to_string(&html).unwrap();
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        let panels = data["panels"].as_array().unwrap().iter();
        let names: Vec<String> =
            panels.map(|panel| panel["name"].as_str().unwrap().to_string()).collect();
        (names, page)
    };
    let (names, text) = page(&["--drop", "14", "--drop", "14,26,28"]);
    let expected =
        ["reno: 14, 26, 28 lost", "sack: 14, 26, 28 lost", "sack: 14 lost", "reno: 14 lost"];
    assert_eq!(names, expected);
    assert!(text.contains(
        "Most apart: reno: 14, 26, 28 lost is done after 5.206 s, sack: 14, 26, 28 lost is done \
         after 3.084 s."
    ));
    // The table of all is below the panels.
    assert!(text.find("<thead>").unwrap() > text.find("id=\"panels\"").unwrap());
    let (names, text) = page(&["--drop", "14,26,28"]);
    assert_eq!(names, ["sack", "reno"]);
    assert!(!text.contains("Most apart"));
}

/// A row of the table is found among the panels by the flow's name, whatever strategies are.
#[test]
fn named_flows_have_their_names_in_panels_and_in_the_table() {
    let folder = scratch("named");
    let [file, html] = ["named.toml", "named.html"].map(|name| folder.join(name));
    let [file, html] = [file, html].map(|path| path.display().to_string());
    let link = "name = \"t\"\nduration = \"10s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1mbit\"\ndelay = \"10ms\"\n";
    let flow = |strategy: &str, more: &str| {
        format!("[[flow]]\nfrom = \"a\"\nto = \"b\"\nstrategy = \"{strategy}\"\n{more}")
    };
    let long = "l".repeat(30);
    let flows = [flow("reno", &format!("name = \"{long}\"\n")), flow("sack", "start = \"1s\"\n")];
    fs::write(&file, link.to_string() + &flows.concat()).unwrap();
    let run = ackclock(&["run", &file, "--html", &html]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let page = fs::read_to_string(&html).unwrap();
    for panel in [format!("\"name\":\"reno: {long}\""), "\"name\":\"sack: flow1\"".into()] {
        assert_eq!(page.matches(&panel).count(), 1, "{panel}");
    }
    assert!(page.contains("<th>flow</th><th>name</th>"));
    let cells = |line: usize| -> Vec<&str> {
        run.out.lines().nth(line).unwrap().split_whitespace().take(4).collect()
    };
    assert_eq!(cells(0), ["strategy", "seed", "flow", "name"]);
    assert_eq!([cells(1)[2..].to_vec(), cells(2)[2..].to_vec()], [["0", &long], ["1", "flow1"]]);
}
