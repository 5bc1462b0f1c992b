use ackclock_tcp::{Cause, Event, EventKind, Time};

use super::*;
use crate::fixture;

fn options() -> Options {
    Options { jobs: 1, events_of_streams: 0 }
}

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// An empty folder for a test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}
