//! The recordings of Linux that are kept: whatever was answered as recorded still is.
//!
//! `vectors/linux-6.18/differences.txt` lists the scenarios that are answered otherwise, and how
//! many of their inputs. It only gets shorter.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use ackclock_replay::{Comparison, Score, Vector, matching, read, table};
use ackclock_tcp::Registry;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/linux-6.18")
}

fn vectors() -> Vec<Vector> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "jsonl"));
    paths.sort();
    let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
    paths.iter().flat_map(|p| read(&p.display().to_string(), &text(p)).unwrap()).collect()
}

#[test]
fn linux_answers_as_it_did() {
    let registry = Registry::default();
    let mut families: BTreeMap<String, Score> = BTreeMap::new();
    let mut text = String::new();
    for vector in vectors() {
        let header = &vector.header;
        let strategy = registry.parse(&matching(header, &registry)).unwrap();
        let score = Comparison::new(&vector, &strategy).score();
        families.entry(header.family.clone()).or_default().add(&score);
        if score.identical == 0 {
            let (family, seed) = (&header.family, header.seed);
            writeln!(text, "{family} {seed}: {} of {}", score.otherwise, score.inputs).unwrap();
        }
    }
    let kept = fs::read_to_string(folder().join("differences.txt")).unwrap();
    if text != kept {
        let now = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("differences.txt");
        fs::write(&now, &text).unwrap();
        let only = |in_this: &str, and_not: &str| {
            let lines = in_this.lines().filter(|line| !and_not.lines().any(|l| l == *line));
            lines.map(|line| format!("  {line}\n")).collect::<String>()
        };
        panic!(
            "inputs that are answered otherwise, now\n{}and as it is kept\n{}{}If this is for the \
             better: cp {} {}",
            only(&text, &kept),
            only(&kept, &text),
            table(&families),
            now.display(),
            folder().join("differences.txt").display(),
        );
    }
}

/// The files have each family, and enough of it.
#[test]
fn every_family_is_kept() {
    let mut families: BTreeMap<String, usize> = BTreeMap::new();
    let mut congestion: BTreeMap<String, usize> = BTreeMap::new();
    for vector in vectors() {
        assert!(vector.header.kernel.starts_with("6.18."));
        assert!(vector.header.seed < 1_000_000, "a seed that is kept apart");
        *families.entry(vector.header.family).or_default() += 1;
        *congestion.entry(vector.header.congestion).or_default() += 1;
    }
    assert_eq!(families.len(), 28);
    assert!(families.values().all(|n| *n == 8), "{families:?}");
    assert!(congestion["cubic"] >= 50 && congestion["reno"] >= 50, "{congestion:?}");
}
