//! `ackclock lab`, as a user calls it. Runs on the wire are skipped where that is not permitted.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use ackclock_live::Namespace;

use crate::documented::assert_documented;
use crate::run::command;

fn permitted() -> bool {
    let permitted = Namespace::new().is_ok() && Path::new("/dev/net/tun").exists();
    if !permitted {
        eprintln!("skipped: needs root and /dev/net/tun");
    }
    permitted
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The devices of `place`, which a lab could leave behind: its namespaces have no names. A place of
/// its own keeps the devices of other tests out.
fn devices(place: &Namespace) -> String {
    place.run(|| stdout(&Command::new("ip").args(["-o", "link"]).output().unwrap())).unwrap()
}

#[test]
fn the_labs_are_listed_and_others_are_not_there() {
    let list = stdout(&command(&["lab", "list"]).output().unwrap());
    let names: Vec<&str> =
        list.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["bbr", "lin-kung-table3", "lossy", "short"]);
    let unknown = command(&["lab", "cellular"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&unknown.stderr)
            .contains("there are bbr, lin-kung-table3, lossy, short")
    );
    let said = |name: &str| {
        let output = command(&["lab", name]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let near = "error: there is no lab `lossi`; did you mean `lossy`?\n";
    assert_eq!(said("lossi"), (Some(2), near.into()));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab.csv");
    std::fs::write(&file, "").unwrap();
    let file = file.display().to_string();
    let suffix = format!("error: {file}: the name of a file of a lab has to end in `.toml`\n");
    assert_eq!(said(&file), (Some(2), suffix));
    let row = command(&["lab", "short", "--only", "cubic"]).output().unwrap();
    assert_eq!(row.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&row.stderr)
            .contains("there is no row `cubic`; there are kernel, net-reno")
    );
}

/// What is wrong with a lab is found before anything runs, without rights.
#[test]
fn a_lab_that_cannot_run_is_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labs");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("lab.toml");
    let refused = |lab: &str, kernel: &str, says: &str| {
        let text = format!(
            "title = \"A lab\"\nchart = \"goodput\"\n{lab}\n[[row]]\nname = \"kernel\"\n\
             kernel = \"{kernel}\"\n\n[scenario]\nduration = \"1s\"\n\n[[scenario.link]]\n\
             from = \"a\"\nto = \"b\"\nrate = \"10mbit\"\ndelay = \"1ms\"\n\n\
             [[scenario.flow]]\nfrom = \"a\"\nto = \"b\"\n"
        );
        std::fs::write(&file, text).unwrap();
        let output = command(&["lab", file.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.starts_with(&format!("error: {}:{says}", file.display())), "{error}");
    };
    refused(
        "",
        "cubik",
        "6: row[0].kernel: this kernel has no congestion control `cubik`; it has `",
    );
    refused("runs = 0", "reno", "3: runs: a lab needs at least one run");
    let transfers = |least| {
        format!(
            "[transfers]\ncount = 1\nquick_count = 1\nlanes = 1\nleast = \"{least}\"\nmost = \"1kb\""
        )
    };
    refused(&transfers("2kb"), "reno", "7: transfers.least: 2kb is above `most`, 1kb");
}

#[test]
fn a_lab_measures_ours_the_kernel_and_the_simulation_and_leaves_nothing_behind() {
    if !permitted() {
        return;
    }
    let place = Namespace::new().unwrap();
    let before = devices(&place);
    let html = std::env::temp_dir().join(format!("ackclock-lab-{}.html", std::process::id()));
    let args = [
        "lab",
        "lin-kung-table3",
        "--seconds",
        "3",
        "--only",
        "reno,kernel-reno",
        "--format",
        "json",
        "--html",
    ];
    let output = place.run(|| command(&args).arg(&html).output().unwrap()).unwrap();
    let json = String::from_utf8(output.stdout).unwrap();
    assert_eq!(devices(&place), before);
    let page = std::fs::read_to_string(&html).unwrap();
    std::fs::remove_file(&html).unwrap();
    assert!(page.contains("<svg") && page.contains("kernel-reno"));

    let lab: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_documented("lab", [&lab]);
    assert_eq!(
        (&lab["lab"], &lab["seconds"], &lab["quick"]),
        (&"lin-kung-table3".into(), &3.0.into(), &false.into())
    );
    // In three seconds chance may have it that they do not agree, and the exit code says so.
    let agreement = &lab["cells"][0]["agreement"];
    let agrees = agreement["agree"] == 1 && agreement["same_order"] == agreement["pairs"];
    assert_eq!(output.status.code(), Some(if agrees { 0 } else { 5 }));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = "error: wire and simulation do not agree in 1 of 1 cells\n";
    assert_eq!(said.ends_with(line), !agrees, "{said}");
    let rows = lab["cells"][0]["rows"].as_array().unwrap();
    let names: Vec<_> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["strategy"].is_string()))
        .collect();
    assert_eq!(names, [("reno", true), ("kernel-reno", false)]);
    for row in rows {
        let run = &row["runs"][0];
        let number = |key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
        assert_eq!(row["runs"].as_array().unwrap().len(), 1);
        assert!((3.0..3.5).contains(&number("seconds")), "{run}");
        // Up to what reading the JSON rounds.
        assert!(
            (number("goodput_bps") * number("seconds") / 8.0 - number("bytes")).abs() < 1e-3,
            "{run}"
        );
        assert!(
            (row["measures"]["goodput"].as_f64().unwrap() - number("goodput_bps") / 1e3).abs()
                < 1e-6,
            "{row}"
        );
        // 512 of the 590 bytes that a packet takes of 10 Mb/s.
        assert!((1e5..8_678_000.0).contains(&number("goodput_bps")), "{run}");
        // What arrived had been sent, and came through the gateway.
        assert!(
            number("packets")
                >= number("segments") + number("dropped_queue") + number("dropped_early"),
            "{run}"
        );
        assert_eq!(number("dropped_loss"), 0.0);
        for key in ["retransmissions", "timeouts", "late_p99_us"] {
            number(key);
        }
    }
    assert_eq!(rows[0]["simulated"].as_array().unwrap().len(), 10);
    assert!(
        rows[0]["measures"]["difference"].is_number()
            && rows[1]["measures"]["difference"].is_null()
    );
    assert_eq!(
        (&lab["cells"][0]["agreement"]["rows"], rows[0]["paper"].as_f64()),
        (&1.into(), Some(4006.0))
    );
}

#[test]
fn a_lab_that_is_killed_leaves_nothing_behind() {
    if !permitted() {
        return;
    }
    let place = Namespace::new().unwrap();
    let before = devices(&place);
    let mut lab = command(&["lab", "lossy", "--seconds", "30", "--jobs", "2"]);
    lab.stdout(Stdio::null()).stderr(Stdio::null());
    let mut lab = place.run(|| lab.spawn().unwrap()).unwrap();
    thread::sleep(Duration::from_secs(1));
    assert!(lab.try_wait().unwrap().is_none(), "it has come to its end too soon");
    lab.kill().unwrap();
    assert_eq!(lab.wait().unwrap().signal(), Some(9));
    assert_eq!(devices(&place), before);
}
