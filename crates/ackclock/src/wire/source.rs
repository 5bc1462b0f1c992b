//! What is sent: generated data, a file, or standard input.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read};

use ackclock_stack::Error as StackError;

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
    /// Whether it may keep its reader waiting, and then whether it has something now.
    waits: bool,
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
    /// Standard input has nothing for now.
    Starved,
    /// That was all.
    End,
    /// The connection is gone.
    Gone,
}

impl Source {
    /// Generated data of so many bytes.
    pub fn pattern(bytes: u64) -> Source {
        Source { kind: Kind::Pattern(bytes), written: 0 }
    }

    /// A file, from its beginning.
    pub fn file(file: File) -> Source {
        Source::reader(Box::new(file), false)
    }

    /// Standard input.
    pub fn stdin() -> Source {
        Source::reader(Box::new(io::stdin()), true)
    }

    fn reader(input: Box<dyn Read>, waits: bool) -> Source {
        let reader = Reader { input, waits, ready: false, buffer: Vec::new(), used: 0 };
        Source { kind: Kind::Reader(reader), written: 0 }
    }

    /// Ends it here.
    pub fn end(&mut self) {
        self.kind = Kind::End;
    }

    /// Standard input has something, or has ended.
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
            if self.waits && !self.ready {
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
            n?;
        }
        Ok(self.buffer.get(self.used..))
    }
}
