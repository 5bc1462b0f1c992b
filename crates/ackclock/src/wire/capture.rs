//! The packets of our stack as they cross the device, for `--pcap`.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ackclock_live::{Host, Tap};
use ackclock_stack::Outgoing;
use ackclock_tcp::{Sending, Time};

use crate::error::Error;
use crate::record::{Capture, Records};

/// A capture that a host writes.
pub(crate) struct HostCapture(Option<Shared>);

/// The capture, and the first error of writing it.
type Shared = Arc<Mutex<(Capture, io::Result<()>)>>;

impl HostCapture {
    /// Lets the host write the capture if one is asked for.
    pub fn begin(host: &mut Host, records: &mut Records) -> Result<HostCapture, Error> {
        let since_1970 =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let origin = (since_1970.as_nanos() as u64).saturating_sub(host.now().nanos());
        let shared =
            records.take_capture(origin)?.map(|capture| Arc::new(Mutex::new((capture, Ok(())))));
        if let Some(shared) = &shared {
            host.set_tap(Some(Box::new(CaptureTap(Arc::clone(shared)))));
        }
        Ok(HostCapture(shared))
    }

    /// Everything has been written.
    pub fn finish(self) -> io::Result<()> {
        let Some(shared) = self.0 else { return Ok(()) };
        let mut capture = shared.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut capture.1, Ok(()))?;
        capture.0.flush()
    }
}

struct CaptureTap(Shared);

impl CaptureTap {
    fn write(&self, now: Time, pieces: &[&[u8]], comment: &str) {
        let mut capture = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if capture.1.is_ok() {
            capture.1 = capture.0.packet(now, pieces, comment);
        }
    }
}

impl Tap for CaptureTap {
    fn sent(&mut self, now: Time, packet: &Outgoing<'_>) {
        let comment = packet.sent.map_or_else(String::new, |Sending { cause, transmission }| {
            let first = format!("ackclock: {}, transmission {transmission}", cause.name());
            let len: usize = packet.payload.iter().map(|piece| piece.len()).sum();
            match len.checked_div(packet.segment.into()) {
                Some(_) => format!("{first}; {} segments", len.div_ceil(packet.segment.into())),
                None => first,
            }
        });
        self.write(now, &[packet.header, packet.payload[0], packet.payload[1]], &comment);
    }

    fn received(&mut self, now: Time, packet: &[u8]) {
        self.write(now, &[packet], "");
    }
}
