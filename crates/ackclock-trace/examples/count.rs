//! Counts what is in captures: `cargo run --release -p ackclock-trace --example count -- FILE...`.

use std::fs::File;
use std::io::{self, Read};

use ackclock_trace::{Connection, Reader, Settings, Tracker, decode};

fn main() -> io::Result<()> {
    for path in std::env::args().skip(1) {
        let input: Box<dyn Read + Send> =
            if path == "-" { Box::new(io::stdin()) } else { Box::new(File::open(&path)?) };
        let mut reader = Reader::new(input)?;
        let mut tracker = Tracker::new(Settings::default());
        let (mut frames, mut segments, mut connections, mut retransmissions) =
            (0_u64, 0_u64, 0_u64, 0);
        let mut ended = |connection: &Connection| {
            connections += 1;
            retransmissions += connection.from_client.retransmissions.len()
                + connection.from_server.retransmissions.len();
        };
        while let Some(frame) = reader.next()? {
            frames += 1;
            if let Ok(packet) = &decode(&frame) {
                segments += 1;
                tracker.packet(packet);
                while let Some(connection) = tracker.poll_ended() {
                    ended(&connection);
                }
            }
        }
        tracker.finish().for_each(|connection| ended(&connection));
        println!(
            "{path}: {segments} TCP segments in {frames} frames, {connections} connections, \
             {retransmissions} retransmissions"
        );
        if let Some(damage) = reader.damage() {
            println!("{path}: damaged at byte {}: {}", damage.offset, damage.what);
        }
    }
    Ok(())
}
