//! Where captures are found.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use ackclock_explain::{Back, Capture, Error, Options, Source, captures_at, read};
use ackclock_run::Cancel;
use ackclock_tcp::Span;

/// A pcap file without frames.
const EMPTY: [u8; 24] =
    [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];

#[test]
fn a_folder_stands_for_all_captures_below_it_by_their_content() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sources");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("b/deeper")).unwrap();
    for name in ["z.pcap", "a-capture-by-content.txt", "b/deeper/y"] {
        fs::write(folder.join(name), EMPTY).unwrap();
    }
    fs::write(folder.join("b/notes.pcap"), "not a capture").unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    // A link back up does not go round for ever.
    symlink("..", folder.join("b/up")).unwrap();
    let mut skipped = Vec::new();
    let found = captures_at(&folder, &mut skipped).unwrap();
    let names: Vec<String> = found.iter().map(Source::name).collect();
    let full = |name: &str| folder.join(name).display().to_string();
    assert_eq!(names, ["a-capture-by-content.txt", "b/deeper/y", "z.pcap"].map(full));
    assert_eq!(skipped, ["b/notes.pcap", "b/up", "empty"].map(|name| folder.join(name)));
    assert_eq!(found[0].len(), 24);
}

#[test]
fn a_file_that_was_asked_for_is_taken_whatever_it_is() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("asked-for");
    fs::write(&file, "not a capture").unwrap();
    let mut skipped = Vec::new();
    assert_eq!(captures_at(&file, &mut skipped).unwrap()[0].name(), file.display().to_string());
    assert_eq!(skipped, Vec::<PathBuf>::new());
    let missing = captures_at(&file.join("missing"), &mut skipped);
    assert!(matches!(missing, Err(Error::Read { .. })));
}

/// A stream is read on: its other end ends it.
#[test]
fn what_is_cancelled_reads_no_more_files() {
    let capture = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernel.pcap.gz"));
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    let cancelled = Cancel::default();
    cancelled.cancel();
    let packets = |source: Source, cancel: &Cancel| {
        let capture = &read(&[source], &options, cancel).unwrap().captures[0];
        (capture.packets, capture.interrupted)
    };
    let stream = Source::stream(fs::File::open(&capture).unwrap());
    let (all, _) = packets(Source::File(capture.clone()), &Cancel::default());
    assert_eq!(packets(stream, &cancelled), (all, false));
    assert_eq!(packets(Source::File(capture), &cancelled), (0, true));
}

/// Fragments are one segment; what is left out is counted by what it is in.
#[test]
fn fragments_count_once_and_tunnels_by_name() {
    // IPv4 from 10.0.0.1 to 10.0.0.2, with flags and offset, and a protocol.
    let ip = |field: [u8; 2], protocol: u8, payload: &[u8]| {
        let total = 20 + payload.len() as u8;
        let head = [0x45, 0, 0, total, 0, 7, field[0], field[1], 64, protocol, 0, 0];
        [&head[..], &[10, 0, 0, 1, 10, 0, 0, 2], payload].concat()
    };
    let tcp = [0x13, 0x89, 0, 80, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 0, 9, 0, 0, 0, 0, 7, 7, 7, 7];
    let frames = [
        ip([0x20, 0], 6, &tcp[..16]),
        ip([0, 2], 6, &tcp[16..]),
        ip([0, 0], 50, &[0; 16]),
        ip([0x20, 0], 17, &[0; 16]),
    ];
    let mut bytes = EMPTY.to_vec();
    bytes[20] = 101;
    for frame in frames {
        let len = (frame.len() as u32).to_le_bytes();
        bytes.extend([&[0; 8], &len[..], &len, &frame].concat());
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fragments.pcap");
    fs::write(&file, bytes).unwrap();
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    let found = read(&[Source::File(file)], &options, &Cancel::default()).unwrap();
    let Capture { packets, segments, ignored, .. } = &found.captures[0];
    assert_eq!((*packets, *segments), (4, 1));
    assert_eq!(*ignored, [("fragment", 1), ("in_ipsec_esp", 1)].into());
    assert_eq!(found.connections[0].connection.from_client.bytes, 4);
    let text = ackclock_explain::table(&found, 1, None);
    assert!(text.contains(": 4 packets, 1 with TCP; left out: 1 fragment, 1 in IPsec ESP\n"));
}

/// Frames of a second each in which nothing is, the fourth a minute before. All are looked at, also
/// those that have no TCP.
#[test]
fn frames_are_compared_with_those_before() {
    let mut bytes = EMPTY.to_vec();
    for second in [100_u32, 101, 102, 42, 103] {
        bytes.extend([&second.to_le_bytes()[..], &[0; 12]].concat());
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("order.pcap");
    fs::write(&file, bytes).unwrap();
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    let found = read(&[Source::File(file)], &options, &Cancel::default()).unwrap();
    let Capture { packets, set_back, out_of_order, .. } = &found.captures[0];
    assert_eq!((*packets, *set_back), (5, Back::default()));
    assert_eq!(*out_of_order, Back { times: 1, frame: 4, by: Span::from_secs(60) });
}
