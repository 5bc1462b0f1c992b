//! Any bytes are a capture or are refused, however few of them come at a time; and what is read of
//! a file that is cut off is the beginning of what is read of the whole file.
#![no_main]

use std::io::{self, Read};

use ackclock_trace::{Reader, decode};
use libfuzzer_sys::fuzz_target;

/// A frame's number, time, link type, bytes and length on the wire.
type Seen = (u64, u64, u16, Vec<u8>, u32);

// Two bytes say where to cut and how many bytes come at a time; the rest is the file.
fuzz_target!(|bytes: &[u8]| {
    let Some((&[cut, pieces], file)) = bytes.split_first_chunk::<2>() else { return };
    let whole = frames(file, usize::MAX);
    assert_eq!(frames(file, usize::from(pieces) + 1), whole);
    let cut = file.len() * usize::from(cut) / 256;
    if let (Some(part), Some(whole)) = (frames(&file[..cut], usize::MAX), whole) {
        assert!(whole.0.starts_with(&part.0));
    }
});

/// What is read of a file that comes in pieces, and where it is damaged; `None` if it is no
/// capture.
fn frames(file: &[u8], pieces: usize) -> Option<(Vec<Seen>, Option<u64>)> {
    let mut reader =
        Reader::new(Box::new(Pieces { rest: io::Cursor::new(file.to_vec()), pieces })).ok()?;
    let mut seen = Vec::new();
    while let Some(frame) = reader.next().expect("memory can be read") {
        let _ = decode(&frame);
        assert_eq!(frame.number, seen.len() as u64 + 1);
        assert!(frame.wire_len as usize >= frame.data.len());
        if seen.len() < 1000 {
            seen.push((
                frame.number,
                frame.at.nanos(),
                frame.link.0,
                frame.data.to_vec(),
                frame.wire_len,
            ));
        } else {
            break; // A few bytes of zstd can be millions of frames.
        }
    }
    if reader.damage().is_none() && seen.len() < 1000 {
        assert_eq!(reader.consumed(), file.len() as u64);
    }
    Some((seen, reader.damage().map(|damage| damage.offset)))
}

struct Pieces {
    rest: io::Cursor<Vec<u8>>,
    pieces: usize,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = into.len().min(self.pieces);
        self.rest.read(&mut into[..n])
    }
}
