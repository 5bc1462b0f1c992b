//! Copies of captures with comments.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ackclock_explain::{Error, Explained, Found, Source, annotate};
use ackclock_trace::{Reader, Retransmission, Spurious, StallCause};

use crate::sample::{connection, explained, stalled};

fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("annotate");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The sample, with its verdicts on the frames 1 to 3: the fast retransmission, the one after it,
/// and the end of the stall.
fn verdicts() -> Explained {
    let mut connection = stalled();
    let flow = &mut connection.from_server;
    flow.retransmissions.truncate(2);
    flow.timeouts.clear();
    flow.stalls.truncate(1);
    (flow.retransmissions[0].frame, flow.retransmissions[1].frame, flow.stalls[0].frame) =
        (1, 2, 3);
    let found = Found {
        number: 0,
        capture: 0,
        same_as: None,
        connection: Box::new(connection),
        saved: Vec::new(),
        set_ahead: Default::default(),
        got_through: Vec::new(),
    };
    Explained { connections: vec![found], ..explained() }
}

/// What one segment of a frame says may begin what another one says.
#[test]
fn each_segment_of_a_frame_says_its_own() {
    let mut explained = verdicts();
    let flow = &mut explained.connections[0].connection.from_server;
    let r = Retransmission { frame: 1, lost: Some(false), ..flow.retransmissions[0] };
    let spurious = Retransmission { spurious: Some(Spurious::Dsack), ..r };
    flow.retransmissions = vec![spurious, r, r, spurious];
    flow.stalls.clear();
    let (input, output) = (scratch("said.pcap"), scratch("said.pcapng"));
    fs::write(&input, pcap(1, false)).unwrap();
    annotate(&explained, &[Source::File(input)], &output).unwrap();
    let copied = fs::read(&output).unwrap();
    let said = b"ackclock: fast retransmit; spurious (D-SACK); fast retransmit";
    let at = copied.windows(said.len()).position(|bytes| bytes == said).unwrap();
    assert!(!copied[at + said.len()..].starts_with(b";"));
}

const FIRST: &str = "ackclock: fast retransmit; lost itself";
const SECOND: &str = "ackclock: retransmission in recovery";
const THIRD: &str = "ackclock: server stalled 1.6 s at 1.00 s: timeout, lost retransmission";

fn copy(input: &Path, output: &Path) -> Result<(), Error> {
    let mut explained = verdicts();
    let mut reader = Reader::new(fs::File::open(input).map(Box::new).unwrap()).unwrap();
    while reader.next().unwrap().is_some() {}
    explained.captures[0].damage = reader.damage().cloned();
    annotate(&explained, &[Source::File(input.to_path_buf())], output)
}

/// Frames of 3, 4, ... bytes, a second apart, as pcap with microseconds.
fn pcap(frames: u8, big: bool) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut file = Vec::new();
    for n in [0xa1b2_c3d4, if big { 0x0002_0004 } else { 0x0004_0002 }, 0, 0, 65_535, 113] {
        file.extend(word(n));
    }
    for n in 0..frames {
        let len = 3 + u32::from(n);
        for field in [1_700_000_000 + u32::from(n), 123_456, len, len + 100] {
            file.extend(word(field));
        }
        file.extend(vec![n; len as usize]);
    }
    file
}

/// A pcapng file with names, a comment on its first frame, options on its second, none on its
/// third, and a block of statistics.
fn pcapng(big: bool) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let half = |n: u16| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let option = |code: u16, value: &[u8]| {
        let mut all = [half(code), half(value.len() as u16)].concat();
        all.extend_from_slice(value);
        all.resize(all.len().next_multiple_of(4), 0);
        all
    };
    let end = option(0, b"");
    let block = |kind: u32, body: &[&[u8]]| {
        let body = body.concat();
        let total = word(body.len() as u32 + 12);
        [&word(kind), &total, &body[..], &total].concat()
    };
    let frame = |seconds: u32, data: &[u8], options: &[u8]| {
        let mut padded = data.to_vec();
        padded.resize(data.len().next_multiple_of(4), 0);
        let len = word(data.len() as u32);
        block(6, &[&word(0), &word(0), &word(seconds), &len, &len, &padded, options])
    };
    let version = [half(1), half(0)].concat();
    // A length that is right before anything is added.
    let length = if big { 400_u64.to_be_bytes() } else { 400_u64.to_le_bytes() };
    let section = block(0x0a0d_0d0a, &[&word(0x1a2b_3c4d), &version, &length]);
    let interface = block(1, &[&half(101), &half(0), &word(0), &option(2, b"eth7"), &end]);
    let first = frame(1, b"abcde", &[option(1, b"mine"), end.clone()].concat());
    let second = frame(2, b"abcdefgh", &[option(2, &word(1)), end.clone()].concat());
    let third = frame(3, b"x", &[]);
    let statistics = block(5, &[&word(0), &word(0), &word(4)]);
    [section, interface, first, second, third, statistics].concat()
}

/// Field values of all frames, as tshark prints them; `None` where there is no tshark.
fn tshark(path: &Path, fields: &[&str]) -> Option<String> {
    let fields = fields.iter().flat_map(|field| ["-e", field]);
    let Ok(output) =
        Command::new("tshark").arg("-r").arg(path).args(["-T", "fields"]).args(fields).output()
    else {
        println!("skipped: there is no tshark");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Number, time, link type, kept bytes and length of each frame.
fn frames(path: &Path) -> Vec<(u64, u64, u16, Vec<u8>, u32)> {
    let mut reader = Reader::new(Box::new(fs::File::open(path).unwrap())).unwrap();
    let mut all = Vec::new();
    while let Some(f) = reader.next().unwrap() {
        all.push((f.number, f.at.nanos(), f.link.0, f.data.to_vec(), f.wire_len));
    }
    assert_eq!(reader.damage(), None);
    all
}

#[test]
fn a_pcap_file_becomes_pcapng_with_comments() {
    for big in [false, true] {
        let (input, output) =
            (scratch(&format!("pcap-{big}.pcap")), scratch(&format!("pcap-{big}.pcapng")));
        fs::write(&input, pcap(4, big)).unwrap();
        copy(&input, &output).unwrap();
        assert_eq!(frames(&output), frames(&input));
        assert_eq!(frames(&output)[1], (2, 1_700_000_001_123_456_000, 113, vec![1; 4], 104));
        let expected = format!("{FIRST}\t103\n{SECOND}\t104\n{THIRD}\t105\n\t106\n");
        tshark(&output, &["frame.comment", "frame.len"])
            .into_iter()
            .for_each(|text| assert_eq!(text, expected));
    }
}

#[test]
fn of_a_pcapng_file_everything_is_kept() {
    for big in [false, true] {
        let (input, output) =
            (scratch(&format!("ng-{big}.pcapng")), scratch(&format!("ng-{big}-out.pcapng")));
        let bytes = pcapng(big);
        fs::write(&input, &bytes).unwrap();
        copy(&input, &output).unwrap();
        assert_eq!(frames(&output), frames(&input));
        let written = fs::read(&output).unwrap();
        // The section's length is unknown now; interface and statistics are the same to the bit.
        assert_eq!(written[16..24], [0xff; 8]);
        assert_eq!(written[28..60], bytes[28..60]);
        assert_eq!(written[written.len() - 24..], bytes[bytes.len() - 24..]);
        let expected = format!("{FIRST},mine\teth7\n{SECOND}\teth7\n{THIRD}\teth7\n");
        let text = tshark(&output, &["frame.comment", "frame.interface_name"]);
        text.into_iter().for_each(|text| assert_eq!(text, expected));
    }
}

/// Also where the application had nothing to send, as JSON and pages list it.
#[test]
fn the_end_of_a_pause_of_the_application_has_a_comment() {
    let (input, output) = (scratch("pause.pcap"), scratch("pause.pcapng"));
    fs::write(&input, pcap(4, false)).unwrap();
    let mut paused = verdicts();
    let stall = &mut paused.connections[0].connection.from_server.stalls[0];
    (stall.cause, stall.timeout) = (StallCause::Application, None);
    annotate(&paused, &[Source::File(input)], &output).unwrap();
    let text = b"ackclock: server stalled 1.6 s at 1.00 s: the application had nothing to send";
    let written = fs::read(&output).unwrap();
    assert_eq!(written.windows(text.len()).filter(|bytes| bytes == text).count(), 1);
}

#[test]
fn without_verdicts_a_pcapng_file_stays_as_it_is_but_for_the_section_length() {
    let (input, output) = (scratch("same.pcapng"), scratch("same-out.pcapng"));
    let mut bytes = pcapng(false);
    fs::write(&input, &bytes).unwrap();
    let mut quiet = verdicts();
    *quiet.connections[0].connection = connection();
    annotate(&quiet, &[Source::File(input)], &output).unwrap();
    bytes[16..24].fill(0xff);
    assert_eq!(fs::read(&output).unwrap(), bytes);
}

#[test]
fn compressed_captures_are_copied_uncompressed() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&pcapng(false)).unwrap();
    let zstd = zstd::encode_all(&pcap(4, false)[..], 1).unwrap();
    for (name, bytes, plain) in
        [("a.gz", gzip.finish().unwrap(), pcapng(false)), ("a.zst", zstd, pcap(4, false))]
    {
        let (input, output, same) =
            (scratch(name), scratch(&format!("{name}.pcapng")), scratch(&format!("{name}.plain")));
        fs::write(&input, bytes).unwrap();
        fs::write(&same, plain).unwrap();
        copy(&input, &output).unwrap();
        let from_plain = scratch(&format!("{name}.plain.pcapng"));
        copy(&same, &from_plain).unwrap();
        assert_eq!(fs::read(&output).unwrap(), fs::read(&from_plain).unwrap());
    }
}

#[test]
fn a_damaged_capture_is_copied_up_to_the_damage() {
    let whole = pcapng(false);
    let output = scratch("cut-out.pcapng");
    // Within the second frame, by any of its bytes; a block too long; a block too short.
    let second = 28 + 32 + 52;
    for cut in second..second + 52 {
        let input = scratch("cut.pcapng");
        fs::write(&input, &whole[..cut]).unwrap();
        copy(&input, &output).unwrap();
        assert_eq!(frames(&output).len(), 1, "{cut}");
    }
    for total in [0_u32, 8, 13, u32::MAX] {
        let mut bytes = whole.clone();
        bytes[second + 4..second + 8].copy_from_slice(&total.to_le_bytes());
        let input = scratch("length.pcapng");
        fs::write(&input, bytes).unwrap();
        copy(&input, &output).unwrap();
        assert_eq!(frames(&output).len(), 1, "{total}");
    }
    // Where a block's two lengths differ, reading has ended.
    let mut bytes = whole.clone();
    bytes[second + 51] = 1;
    let input = scratch("differs.pcapng");
    fs::write(&input, bytes).unwrap();
    copy(&input, &output).unwrap();
    assert_eq!(frames(&output).len(), 1);
    // A compressed file without its end, of either format.
    for (name, bytes, count) in [("cut.pcap.gz", pcap(4, false), 4), ("cut.pcapng.gz", whole, 3)] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        let bytes = gzip.finish().unwrap();
        let input = scratch(name);
        fs::write(&input, &bytes[..bytes.len() - 8]).unwrap();
        copy(&input, &output).unwrap();
        assert_eq!(frames(&output).len(), count, "{name}");
    }
}

/// Reading passes over what it does not know, however long. A copy without it, or without what
/// follows, would be another capture.
#[test]
fn a_block_that_is_too_long_is_an_error() {
    let (input, output) = (scratch("long.pcapng"), scratch("long-out.pcapng"));
    let _ = fs::remove_file(&output);
    let whole = pcapng(false);
    let at = 28 + 32 + 52;
    let refused = |len: u32| {
        let block = [0xbad_u32.to_le_bytes(), len.to_le_bytes()].concat();
        let body = vec![0; len as usize - 12];
        let bytes = [&whole[..at], &block, &body, &len.to_le_bytes(), &whole[at..]].concat();
        fs::write(&input, bytes).unwrap();
        copy(&input, &output).err().map(|error| error.to_string())
    };
    assert_eq!(refused(32 << 20), None);
    assert_eq!(frames(&output).len(), 3);
    fs::remove_file(&output).unwrap();
    let why = "byte 112: a block of 33554436 bytes; at most 33554432 are copied";
    let expected = format!("{}: cannot be read: {why}", input.display());
    assert_eq!(refused((32 << 20) + 4), Some(expected));
    assert!(!output.exists());
    fs::remove_file(&input).unwrap();
}

#[test]
fn only_one_file_can_be_annotated_and_not_in_place() {
    let input = scratch("one.pcapng");
    fs::write(&input, pcapng(false)).unwrap();
    let refused = |sources: &[Source], path: &Path| {
        annotate(&verdicts(), sources, path).unwrap_err().to_string()
    };
    let file = || Source::File(input.clone());
    assert!(refused(&[file()], &input).contains("overwrite"));
    let linked = scratch("linked.pcapng");
    let _ = fs::remove_file(&linked);
    fs::hard_link(&input, &linked).unwrap();
    assert!(refused(&[file()], &linked).contains("overwrite"));
    assert!(refused(&[file(), file()], &scratch("two.pcapng")).contains("these are 2"));
    assert!(
        refused(&[Source::stream(std::io::empty())], &scratch("two.pcapng"))
            .contains("standard input")
    );
    assert_eq!(fs::read(&input).unwrap(), pcapng(false));
}
