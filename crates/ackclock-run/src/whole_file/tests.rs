use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap();
    all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_was_there_stays_until_the_new_file_is_finished() {
    let folder = folder();
    let path = folder.path().join("a.csv");
    fs::write(&path, "old").unwrap();
    let mut file = WholeFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    file.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(folder.path()), ["a.csv"]);
}

#[test]
fn a_file_that_is_not_finished_leaves_nothing() {
    let folder = folder();
    let mut file = WholeFile::create(&folder.path().join("a.csv")).unwrap();
    file.write_all(&[0; 100_000]).unwrap();
    drop(file);
    WholeFile::check(&folder.path().join("b.csv")).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    let nowhere = WholeFile::check(&folder.path().join("no/c.csv")).unwrap_err();
    let system = fs::read(folder.path().join("no/c.csv")).unwrap_err();
    assert_eq!(nowhere.to_string(), system.to_string());
    assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    assert!(WholeFile::check(folder.path()).is_err());
}

/// As if the file had been opened and written.
#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let [plain, new, own, link] = ["plain", "new", "own", "link"].map(|n| folder.path().join(n));
    fs::write(&plain, "").unwrap();
    WholeFile::write(&new, "").unwrap();
    assert_eq!(mode(&new), mode(&plain));
    fs::write(&own, "").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&own, &link).unwrap();
    WholeFile::write(&link, "through").unwrap();
    assert_eq!((mode(&own), fs::read_to_string(&own).unwrap()), (0o640, "through".into()));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    WholeFile::write(Path::new("/dev/null"), "gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

/// Nobody reads from this one: opening it would wait for ever.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_not_opened_to_check_it() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (done, checked) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(WholeFile::check(&pipe).is_ok()));
    assert_eq!(checked.recv_timeout(std::time::Duration::from_secs(10)), Ok(true));
}

#[test]
fn an_error_is_that_of_the_system() {
    let folder = folder();
    let error = WholeFile::create(&folder.path().join("none").join("a.csv")).unwrap_err();
    let plain = File::open(folder.path().join("none")).unwrap_err();
    assert_eq!(error.to_string(), plain.to_string());
}
