//! The timeouts of a transfer as a capture at the sender's host shows them, which is all that Lin &
//! Kung had (section 4.1): written as a file and read by `ackclock-trace`, both in memory.

use std::io::{self, Cursor};

use ackclock_net::scenario::BuiltFlow;
use ackclock_net::{FlowId, Place, Recorder};
use ackclock_report::{CaptureFormat, CaptureWriter};
use ackclock_run::handshake;
use ackclock_tcp::{Event, Sighting};
use ackclock_trace::{Reader, Settings, Tracker, decode, hosts};

use crate::timeouts::Tally;

/// Captures what the senders' hosts see.
pub(crate) struct Capture {
    file: CaptureWriter<Vec<u8>>,
    failed: Option<io::Error>,
}

impl Capture {
    /// Of these flows.
    ///
    /// # Errors
    /// None in practice: memory takes what is written.
    pub fn new(flows: &[BuiltFlow]) -> io::Result<Capture> {
        let mut file = CaptureWriter::new(Vec::new(), CaptureFormat::Pcap, "sender")?;
        for flow in flows {
            file.connection(flow.id.0, [0; 2], handshake(flow));
        }
        Ok(Capture { file, failed: None })
    }

    /// Adds the timeouts that the capture shows.
    ///
    /// # Errors
    /// As [`Capture::new`].
    pub fn read(self, tally: &mut Tally) -> io::Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut reader = Reader::new(Box::new(Cursor::new(self.file.finish()?)))?;
        let mut tracker = Tracker::new(Settings::default());
        while let Some(frame) = reader.next()? {
            if let Ok(packet) = &decode(&frame) {
                tracker.packet(packet);
            }
        }
        let mut found: Vec<_> = tracker.finish().collect();
        hosts::decide(&mut found);
        // The client of each connection sends the data (`CaptureWriter`).
        found.iter().for_each(|connection| tally.add_captured(&connection.from_client));
        Ok(())
    }
}

impl Recorder for Capture {
    fn wants_events(&self) -> bool {
        false
    }

    fn event(&mut self, _: FlowId, _: &Event) {}

    fn packet(&mut self, flow: FlowId, place: Place, seen: &Sighting) {
        if place == Place::Sender && self.failed.is_none() {
            self.failed = self.file.packet(flow.0, seen).err();
        }
    }
}
