//! `ackclock gateway --drops`: what the links drop, a line of JSON each.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_live::{DropLog, Dropped};
use ackclock_net::Headers;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::Error;

/// A file that a gateway writes.
pub(super) struct Drops {
    path: PathBuf,
    shared: Arc<Mutex<Shared>>,
}

/// The file, and the first error of writing it.
struct Shared(BufWriter<File>, io::Result<()>);

#[derive(Serialize)]
struct Line<'a> {
    /// Seconds since 1970 with all nine decimals, which an `f64` does not hold.
    t: Box<RawValue>,
    from: &'a str,
    to: &'a str,
    why: &'a str,
    src: String,
    dst: String,
    protocol: u8,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip_id: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ack: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    len: Option<u32>,
}

impl Drops {
    /// Makes the file.
    pub fn create(path: PathBuf) -> Result<Drops, Error> {
        let file =
            File::create(&path).map_err(|error| Error::Write { path: path.clone(), error })?;
        Ok(Drops { path, shared: Arc::new(Mutex::new(Shared(BufWriter::new(file), Ok(())))) })
    }

    /// What a gateway tells.
    pub fn log(&self) -> DropLog {
        let shared = self.shared.clone();
        Box::new(move |dropped| {
            let Shared(file, result) = &mut *shared.lock().unwrap_or_else(PoisonError::into_inner);
            if result.is_ok() {
                *result = write(file, dropped);
            }
        })
    }

    /// Hands to the file what has been told so far.
    pub fn flush(&self) {
        let Shared(file, result) = &mut *self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if result.is_ok() {
            *result = file.flush();
        }
    }

    /// All has been told.
    pub fn finish(&self) -> Result<(), Error> {
        self.flush();
        let Shared(_, result) = &mut *self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let written = std::mem::replace(result, Ok(()));
        written.map_err(|error| Error::Write { path: self.path.clone(), error })
    }
}

fn write(file: &mut impl Write, dropped: &Dropped<'_>) -> io::Result<()> {
    // Only what a header could be read from comes as far as a link.
    let Some(headers) = Headers::parse(dropped.packet) else { return Ok(()) };
    let v4 = dropped.packet.first().is_some_and(|byte| byte >> 4 == 4);
    let (seconds, nanos) = (dropped.at.nanos() / 1_000_000_000, dropped.at.nanos() % 1_000_000_000);
    let line = Line {
        t: RawValue::from_string(format!("{seconds}.{nanos:09}"))?,
        from: dropped.from,
        to: dropped.to,
        why: dropped.why,
        src: headers.from.to_string(),
        dst: headers.to.to_string(),
        protocol: headers.protocol,
        bytes: dropped.packet.len(),
        ip_id: dropped.packet.get(4..6).filter(|_| v4).map(|id| u16::from_be_bytes([id[0], id[1]])),
        seq: headers.tcp.map(|tcp| tcp.seq.0),
        ack: headers.tcp.map(|tcp| tcp.ack.0),
        len: headers.tcp.map(|tcp| tcp.len),
    };
    serde_json::to_writer(&mut *file, &line)?;
    file.write_all(b"\n")
}
