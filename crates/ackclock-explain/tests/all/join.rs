//! The files of one capture, joined by time.

use std::fs;
use std::path::PathBuf;

use ackclock_explain::{Explained, Options, Source, read};
use ackclock_run::Cancel;

use super::compare::{Sent, capture, near_client};

fn explained(sources: &[Source]) -> Explained {
    let options = Options { jobs: 1, filter: None, events_of_streams: 0 };
    read(sources, &options, &Cancel::default()).unwrap()
}

/// What is found of both files as one, and of one file that has all of it.
fn both_ways(name: &str, parts: [Vec<Sent>; 2]) -> (Explained, Explained, [PathBuf; 2]) {
    let mut all = parts.concat();
    all.sort_by_key(|sent| sent.0);
    let whole = capture(&format!("{name}-whole.pcap"), 0, 40_000, &all);
    let [a, b] = parts;
    let a = capture(&format!("{name}-a.pcap"), 0, 40_000, &a);
    let b = capture(&format!("{name}-b.pcap"), 0, 40_000, &b);
    let joined = explained(&[Source::Joined(vec![a.clone(), b.clone()])]);
    (joined, explained(&[Source::File(whole)]), [a, b])
}

/// A connection goes on in the next file of a ring buffer, which is given first, or taps have one
/// direction each: together they are what one file would have.
#[test]
fn parts_of_a_connection_are_joined() {
    let sent = near_client();
    let (first, next) = sent.split_at(5);
    let of = |client: bool| sent.iter().filter(|sent| sent.1 == client).copied().collect();
    for (name, parts) in
        [("ring", [next.to_vec(), first.to_vec()]), ("taps", [of(true), of(false)])]
    {
        let (joined, whole, [a, b]) = both_ways(name, parts);
        assert_eq!((joined.captures.len(), joined.connections.len()), (1, 1), "{name}");
        assert_eq!(joined.captures[0].packets, 8);
        assert_eq!(joined.captures[0].path, format!("{} and 1 more", a.display()));
        assert_eq!(joined.connections[0].connection, whole.connections[0].connection);
        // Read one by one, they are parts of a connection.
        let apart = explained(&[Source::File(a), Source::File(b)]);
        assert_eq!((apart.parted(), joined.parted()), (1, 0), "{name}");
    }
}

/// A file that is cut off is named; what comes before, and the other file, are read.
#[test]
fn a_part_may_be_damaged() {
    let sent = near_client();
    let (first, next) = sent.split_at(5);
    let (_, _, [a, b]) = both_ways("cut", [first.to_vec(), next.to_vec()]);
    let bytes = fs::read(&a).unwrap();
    fs::write(&a, &bytes[..bytes.len() - 7]).unwrap();
    let joined = explained(&[Source::Joined(vec![a.clone(), b.clone()])]);
    let capture = &joined.captures[0];
    assert_eq!(capture.packets, 7);
    // The last packet begins where it was whole.
    let damage = capture.damage.as_ref().unwrap();
    let whole = explained(&[Source::File(a.clone())]).captures[0].damage.clone().unwrap();
    let what = format!("{}: {}", a.display(), whole.what);
    assert_eq!((damage.offset, &damage.what), (whole.offset, &what));
    assert!(whole.offset > 0);
    // So it is where one is no capture, or is not there. The first one that is damaged is named.
    fs::write(&a, &bytes).unwrap();
    let none = a.with_extension("none");
    fs::write(&b, "no capture").unwrap();
    for (other, why) in [(&b, "no capture"), (&none, "No such file")] {
        let joined = explained(&[Source::Joined(vec![other.clone(), a.clone(), none.clone()])]);
        let capture = &joined.captures[0];
        assert_eq!((capture.packets, joined.connections.len()), (5, 1));
        let damage = capture.damage.as_ref().map(|damage| &damage.what);
        let what = damage.or(capture.failed.as_ref()).unwrap();
        assert!(what.starts_with(&format!("{}: {why}", other.display())), "{what}");
    }
}

/// What is missing is told of each file, in the order in which they are named.
#[test]
fn several_parts_may_be_damaged() {
    let sent = near_client();
    let (first, next) = sent.split_at(5);
    let (_, _, [a, b]) = both_ways("both-cut", [first.to_vec(), next.to_vec()]);
    for path in [&a, &b] {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 7]).unwrap();
    }
    let none = a.with_extension("none");
    let alone = |path: &PathBuf| explained(&[Source::File(path.clone())]).captures.swap_remove(0);
    let [of_a, of_b] = [&a, &b].map(|path| alone(path).damage.unwrap());
    let why = alone(&none).failed.unwrap();
    let (a_is, b_is) = (a.display(), b.display());
    let joined = explained(&[Source::Joined(vec![b.clone(), none.clone(), a.clone()])]);
    let damage = joined.captures[0].damage.as_ref().unwrap();
    let rest = format!("; {}: {why}; byte {}: {a_is}: {}", none.display(), of_a.offset, of_a.what);
    assert_eq!(
        (damage.offset, &damage.what),
        (of_b.offset, &format!("{b_is}: {}{rest}", of_b.what))
    );
    let joined = explained(&[Source::Joined(vec![none.clone(), b.clone()])]);
    let failed = format!("{}: {why}; byte {}: {b_is}: {}", none.display(), of_b.offset, of_b.what);
    assert_eq!(joined.captures[0].failed.as_ref(), Some(&failed));
}

/// Also where one of the files is not there: what the others say is not lost.
#[test]
fn packets_dropped_by_all_parts_are_counted() {
    let pcapng = |name: &str, dropped: u32| {
        let mut words = vec![0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28];
        words.extend([1, 20, 101, 0, 20]);
        words.extend([6, 36, 0, 0, dropped, 1, 1, 0, 36]);
        // isb_osdrop
        words.extend([5, 36, 0, 0, 0, 7 | 8 << 16, dropped, 0, 36]);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
            .unwrap();
        path
    };
    let [a, b] = [pcapng("seven.pcapng", 7), pcapng("five.pcapng", 5)];
    let dropped = |all: &Explained| -> Vec<u64> {
        all.captures.iter().map(|capture| capture.dropped_by_capture).collect()
    };
    let apart = explained(&[Source::File(a.clone()), Source::File(b.clone())]);
    assert_eq!(dropped(&apart), [7, 5]);
    assert_eq!(dropped(&explained(&[Source::Joined(vec![a.clone(), b.clone()])])), [12]);
    let none = a.with_extension("none");
    let joined = explained(&[Source::Joined(vec![a, none, b])]);
    assert_eq!(dropped(&joined), [12]);
    assert!(joined.captures[0].failed.is_some());
}
