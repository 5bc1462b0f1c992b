//! Counts what is in captures: `cargo run --release -p ackclock-trace --example count -- FILE...`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

use ackclock_trace::{Reader, decode};

fn main() -> io::Result<()> {
    for path in std::env::args().skip(1) {
        let input: Box<dyn Read + Send> =
            if path == "-" { Box::new(io::stdin()) } else { Box::new(File::open(&path)?) };
        let mut reader = Reader::new(input)?;
        let (mut segments, mut payload) = (0_u64, 0_u64);
        let mut ignored = BTreeMap::new();
        while let Some(frame) = reader.next()? {
            match decode(&frame) {
                Ok(packet) => {
                    segments += 1;
                    payload += u64::from(packet.len);
                }
                Err(why) => *ignored.entry(format!("{why:?}")).or_insert(0_u64) += 1,
            }
        }
        println!(
            "{path}: {segments} segments with {payload} bytes, ignored {ignored:?}, dropped by the capture {}",
            reader.dropped_by_capture()
        );
        if let Some(damage) = reader.damage() {
            println!("{path}: damaged at byte {}: {}", damage.offset, damage.what);
        }
    }
    Ok(())
}
