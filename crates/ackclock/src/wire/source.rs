//! What is sent: generated data, a file, or what has to be waited for: standard input, a FIFO
//! or a terminal.

#[cfg(test)]
mod tests;

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use ackclock_stack::Error as StackError;
use rustix::fs::OFlags;

use super::pattern::Pattern;

/// Most bytes written in one go, so that packets leave between them.
const BUDGET: usize = 1 << 20;
/// Bytes read ahead of a file.
const AHEAD: usize = 1 << 18;

/// The data of one connection.
pub(crate) struct Source {
    kind: Kind,
    /// Bytes written so far.
    pub written: u64,
}

enum Kind {
    /// The pattern up to this length.
    Pattern(u64),
    Reader(Reader),
    /// Nothing more.
    End,
}

struct Reader {
    input: Box<dyn Read>,
    /// What to wait for, if it may keep its reader waiting, and then whether it has something now.
    waits: Option<OwnedFd>,
    ready: bool,
    buffer: Vec<u8>,
    /// How much of the buffer is written.
    used: usize,
}

/// What stopped a [`Source::pump`].
pub(crate) enum Pumped {
    /// Only that others want to be served too.
    Paused,
    /// The socket takes no more for now.
    Full,
    /// What [`Source::waits_for`] names has nothing for now.
    Starved,
    /// That was all.
    End,
    /// The connection is gone.
    Gone,
}

/// Whether a path stands for standard input.
fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether what is under this path can be read once only.
pub(crate) fn comes_once(path: &Path) -> bool {
    is_stdin(path) || fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

impl Source {
    /// Generated data of so many bytes.
    pub fn pattern(bytes: u64) -> Source {
        Source { kind: Kind::Pattern(bytes), written: 0 }
    }

    /// A file from its beginning, or what comes from standard input (`-`) or a FIFO.
    pub fn open(path: &Path) -> io::Result<Source> {
        if is_stdin(path) {
            let stdin = io::stdin();
            let waits = stdin.as_fd().try_clone_to_owned()?;
            return Ok(Source::reader(Box::new(stdin), Some(waits)));
        }
        // Of a FIFO nobody may have the other end yet: neither opening nor reading it may wait, or
        // no signal would be heeded.
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let kind = file.metadata()?.file_type();
        let may_wait = !kind.is_file() && !kind.is_dir();
        let waits = may_wait.then(|| file.as_fd().try_clone_to_owned());
        Ok(Source::reader(Box::new(file), waits.transpose()?))
    }

    fn reader(input: Box<dyn Read>, waits: Option<OwnedFd>) -> Source {
        let reader = Reader { input, waits, ready: false, buffer: Vec::new(), used: 0 };
        Source { kind: Kind::Reader(reader), written: 0 }
    }

    /// Ends it here.
    pub fn end(&mut self) {
        self.kind = Kind::End;
    }

    /// What has to become readable before more comes, if that may have to be waited for.
    pub fn waits_for(&self) -> Option<BorrowedFd<'_>> {
        match &self.kind {
            Kind::Reader(reader) => reader.waits.as_ref().map(AsFd::as_fd),
            Kind::Pattern(_) | Kind::End => None,
        }
    }

    /// That has something, or has ended.
    pub fn ready(&mut self) {
        if let Kind::Reader(reader) = &mut self.kind {
            reader.ready = true;
        }
    }

    /// Writes as much as `write` takes, within reason.
    pub fn pump(
        &mut self,
        pattern: &Pattern,
        mut write: impl FnMut(&[u8]) -> Result<usize, StackError>,
    ) -> io::Result<Pumped> {
        let until = self.written + BUDGET as u64;
        while self.written < until {
            let piece = match &mut self.kind {
                Kind::Pattern(bytes) => pattern.at(self.written, *bytes - self.written),
                Kind::Reader(reader) => match reader.piece()? {
                    Some(piece) => piece,
                    None => return Ok(Pumped::Starved),
                },
                Kind::End => &[],
            };
            if piece.is_empty() {
                return Ok(Pumped::End);
            }
            let n = match write(piece) {
                Ok(n) => n,
                Err(StackError::WouldBlock) => return Ok(Pumped::Full),
                Err(_) => return Ok(Pumped::Gone),
            };
            self.written += n as u64;
            if let Kind::Reader(reader) = &mut self.kind {
                reader.used += n;
            }
        }
        Ok(Pumped::Paused)
    }
}

impl Reader {
    /// What comes next: nothing at the end, `None` if it has to be waited for.
    fn piece(&mut self) -> io::Result<Option<&[u8]>> {
        if self.used == self.buffer.len() {
            if self.waits.is_some() && !self.ready {
                return Ok(None);
            }
            self.ready = false;
            self.used = 0;
            self.buffer.resize(AHEAD, 0);
            let n = loop {
                match self.input.read(&mut self.buffer) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    result => break result,
                }
            };
            self.buffer.truncate(*n.as_ref().unwrap_or(&0));
            match n {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                n => n?,
            };
        }
        Ok(self.buffer.get(self.used..))
    }
}
