//! The command as its user runs it.

use std::path::Path;
use std::process::{Command, Output};

fn command(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_own-mechanism"))
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_scenario_runs_the_preset_and_the_picture_shows_it() {
    let page = std::env::temp_dir().join(format!("hasty-{}.html", std::process::id()));
    let file = page.display().to_string();
    let run = ["run", "scenarios/first.toml", "--strategy", "hasty,sack", "--html", &file];
    let output = command(&run);
    assert!(output.status.success(), "{}", text(output.stderr));
    let html = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    assert!(html.contains("hasty"));
}

#[test]
fn the_mechanism_is_listed() {
    let output = command(&["strategies", "--format", "json"]);
    assert!(text(output.stdout).contains("\"half-dupthresh\""));
}

#[test]
fn a_misspelt_preset_is_refused_and_named() {
    let output = command(&["run", "scenarios/first.toml", "--strategy", "hast"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(output.stderr);
    assert!(error.contains("did you mean `hasty`"), "{error}");
}
