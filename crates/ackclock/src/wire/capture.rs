//! The packets of our stack as they cross the device, for `--pcap`.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ackclock_live::{Crossing, Host};
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
            let shared = Arc::clone(shared);
            host.set_tap(Box::new(move |now, crossing| write(&shared, now, crossing)));
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

fn write(shared: &Shared, now: Time, crossing: Crossing<'_>) {
    let mut capture = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let (capture, result) = &mut *capture;
    if result.is_ok() {
        *result = match crossing {
            Crossing::Sent(packet) => {
                let [first, rest] = packet.payload;
                capture.packet(now, &[packet.header, first, rest], &comment(packet))
            }
            Crossing::Received(packet) => capture.packet(now, &[packet], ""),
        };
    }
}

/// Why a packet is sent.
fn comment(packet: &Outgoing<'_>) -> String {
    let Some(Sending { cause, transmission }) = packet.sent else { return String::new() };
    let first = format!("ackclock: {}, transmission {transmission}", cause.name());
    let len: usize = packet.payload.iter().map(|piece| piece.len()).sum();
    match len.checked_div(packet.segment.into()) {
        Some(_) => format!("{first}; {} segments", len.div_ceil(packet.segment.into())),
        None => first,
    }
}
