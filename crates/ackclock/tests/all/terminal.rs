//! What a terminal gets: names that do not move its cursor.

use std::fs;

use super::explain::folder;
use super::run::{ackclock, scratch};

/// A name that colours text and breaks its line, in all that is printed of a capture, and in all
/// that is said of a file that is none.
#[test]
fn names_of_files_do_not_control_the_terminal() {
    let fine = scratch("terminal", "fine.pcapng");
    let run = ["compare", "--strategy", "sack", "--drop", "3", "--pcap", &fine];
    assert_eq!(ackclock(&run).code, 0);
    let all = folder("terminal", "names");
    let path = format!("{all}/a\u{1b}[31mred\nb.pcap");
    fs::copy(fine, &path).unwrap();
    let shown = format!("{all}/{}", r"a\u{1b}[31mred\nb.pcap");
    let again = format!("{all}/c.pcap");
    fs::copy(&path, &again).unwrap();
    let captures = [&path[..], &again];
    for options in
        [&[][..], &["--tables"], &["--connection", "0"], &["--by", "host"], &["--compare"]]
    {
        let run = ackclock(&[&["explain"], &captures[..], options].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{options:?}");
        assert!(run.out.contains(&shown), "{options:?}: {}", run.out);
        assert!(!run.out.contains(['\u{1b}']) && !run.out.contains("red\nb"), "{options:?}");
    }
    // JSON has the name as it is.
    let json = ackclock(&["explain", &path, "--format", "json"]).out;
    assert!(json.contains(r"a\u001b[31mred\nb.pcap"));
    fs::write(&path, "no capture").unwrap();
    let skipped = ackclock(&["explain", &all]);
    assert_eq!(skipped.err, format!("note: {shown}: skipped, this is no capture\n"));
    let damaged = ackclock(&["explain", &path]).err;
    assert!(damaged.starts_with(&format!("warning: {shown}: byte 0: no capture")), "{damaged}");
    let joined = ackclock(&["explain", "--join", &path, &again]).err;
    let expected = format!("warning: {shown} and 1 more: byte 0: {shown}: no capture");
    assert!(joined.starts_with(&expected), "{joined}");
    fs::remove_file(&path).unwrap();
    let missing = ackclock(&["explain", &path]).err;
    assert!(missing.starts_with(&format!("error: {shown}: cannot be read: ")), "{missing}");
    // Where a name stands in another message, it may only break lines.
    let scenario = ackclock(&["run", &path]).err;
    assert!(scenario.contains(r"a\u{1b}[31mred"), "{scenario}");
}
