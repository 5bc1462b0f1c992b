//! The bytes of a file, decompressed, in one buffer that is used again and again.

use std::io::{self, Read, Write};

use flate2::write::MultiGzDecoder;
#[cfg(not(target_family = "wasm"))]
use zstd::stream::raw::{Decoder as ZstdDecoder, Operation};

use super::frame::{Damage, Halt};

/// Bytes asked for at a time: few calls, and what is read is still in the processor's cache when it
/// is looked at. Above what one block of zstd yields (128 KiB).
const CHUNK: usize = 256 << 10;

/// Bytes that a frame of zstd is begun with; then the decoder says how many it wants.
#[cfg(not(target_family = "wasm"))]
const ZSTD_START: usize = 5;

pub(super) struct Input {
    source: Source,
    decoder: Decoder,
    /// What has not been used yet stands from `start` to `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the file, uncompressed, of the first byte in the buffer.
    offset: u64,
    over: Option<Over>,
}

/// The input as it is, compressed or not.
struct Source {
    inner: Box<dyn Read + Send>,
    consumed: u64,
    /// Bytes that were read to see what it is.
    first: Vec<u8>,
}

enum Decoder {
    Plain,
    // Decompression is pushed and not pulled: flate2's readers throw away what they had
    // decompressed before an error.
    Gzip {
        packed: Packed,
        decoder: Box<MultiGzDecoder<Vec<u8>>>,
    },
    #[cfg(not(target_family = "wasm"))]
    Zstd {
        packed: Packed,
        decoder: ZstdDecoder<'static>,
        wanted: usize,
    },
}

/// Compressed bytes.
struct Packed {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Why no more bytes come.
#[derive(Clone)]
enum Over {
    End,
    /// What is wrong with the compressed stream.
    Corrupt(String),
}

impl Input {
    pub(super) fn new(inner: Box<dyn Read + Send>) -> io::Result<Input> {
        let mut source = Source { inner, consumed: 0, first: Vec::new() };
        let mut first = [0; 4];
        let mut known = 0;
        while known < first.len() {
            match source.read(&mut first[known..])? {
                0 => break,
                n => known += n,
            }
        }
        source.first = first[..known].to_vec();
        let decoder = match first {
            [0x1f, 0x8b, ..] => Decoder::Gzip {
                packed: Packed::new(),
                decoder: Box::new(MultiGzDecoder::new(Vec::new())),
            },
            // A frame of data, or one to be skipped (RFC 8878 section 3.1).
            #[cfg(not(target_family = "wasm"))]
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                Decoder::Zstd { packed: Packed::new(), decoder: ZstdDecoder::new()?, wanted: 0 }
            }
            _ => Decoder::Plain,
        };
        Ok(Input { source, decoder, buffer: Vec::new(), start: 0, end: 0, offset: 0, over: None })
    }

    /// Compressed bytes read.
    pub(super) fn consumed(&self) -> u64 {
        self.source.consumed
    }

    /// Whether `n` more bytes can be looked at; `false` if the file ends before.
    #[inline]
    pub(super) fn need(&mut self, n: usize) -> Result<bool, Halt> {
        if self.end - self.start >= n { Ok(true) } else { self.fill(n) }
    }

    #[cold]
    fn fill(&mut self, n: usize) -> Result<bool, Halt> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.offset += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < n + CHUNK {
            self.buffer.resize(n + CHUNK, 0);
        }
        while self.end < n {
            match &self.over {
                None => self.more()?,
                Some(Over::End) => return Ok(false),
                Some(Over::Corrupt(what)) => {
                    return Err(Halt::Damage(Damage {
                        offset: self.offset + self.end as u64,
                        what: what.clone(),
                    }));
                }
            }
        }
        Ok(true)
    }

    /// Reads once, and decompresses some of what there is. The buffer has room for [`CHUNK`] bytes.
    fn more(&mut self) -> io::Result<()> {
        let room = &mut self.buffer[self.end..];
        match &mut self.decoder {
            Decoder::Plain => match self.source.read(room)? {
                0 => self.over = Some(Over::End),
                n => self.end += n,
            },
            Decoder::Gzip { packed, decoder } => {
                let done = if packed.fill(&mut self.source)? {
                    decoder.write(packed.rest()).map(|n| packed.start += n)
                } else {
                    self.over = Some(Over::End);
                    decoder.try_finish()
                };
                if let Err(error) = done {
                    // This hands over what was decompressed before the error.
                    let _ = decoder.try_finish();
                    self.over = Some(Over::Corrupt(format!(
                        "the gzip stream is cut off or corrupt here ({error})"
                    )));
                }
                let out = decoder.get_mut();
                if room.len() < out.len() {
                    self.buffer.resize(self.end + out.len(), 0);
                }
                self.buffer[self.end..][..out.len()].copy_from_slice(out);
                self.end += out.len();
                out.clear();
            }
            #[cfg(not(target_family = "wasm"))]
            Decoder::Zstd { packed, decoder, wanted } => {
                if !packed.fill(&mut self.source)? {
                    self.over = Some(match *wanted {
                        0 => Over::End,
                        _ => {
                            Over::Corrupt("the zstd stream is cut off here, within a frame".into())
                        }
                    });
                    return Ok(());
                }
                // One block at a time: what an error follows in the same call is lost.
                let piece = packed.rest();
                let piece =
                    &piece[..piece.len().min(if *wanted == 0 { ZSTD_START } else { *wanted })];
                match decoder.run_on_buffers(piece, room) {
                    Ok(status) => {
                        packed.start += status.bytes_read;
                        self.end += status.bytes_written;
                        *wanted = status.remaining;
                    }
                    Err(error) => {
                        self.over = Some(Over::Corrupt(format!(
                            "the zstd stream is corrupt here ({error})"
                        )))
                    }
                }
            }
        }
        Ok(())
    }

    /// What can be looked at without reading.
    #[inline]
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The next bytes; zeros if they were not [needed](Self::need) before.
    #[inline]
    pub(super) fn peek<const N: usize>(&self) -> [u8; N] {
        self.rest().first_chunk().copied().unwrap_or([0; N])
    }

    /// Goes on by `n` bytes, which were needed before; returns where they stand until the next call
    /// of [`Input::need`].
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> usize {
        let at = self.start;
        self.start = (at + n).min(self.end);
        at
    }

    /// Bytes that were [taken](Self::take).
    #[inline]
    pub(super) fn kept(&self, start: usize, len: usize) -> &[u8] {
        &self.buffer[start..start + len]
    }

    /// Goes on by `n` bytes without keeping them; `false` if the file ends before.
    pub(super) fn skip(&mut self, mut n: u64) -> Result<bool, Halt> {
        while n > 0 {
            if !self.need(1)? {
                return Ok(false);
            }
            let now = self.rest().len().min(usize::try_from(n).unwrap_or(usize::MAX));
            self.take(now);
            n -= now as u64;
        }
        Ok(true)
    }

    /// Offset in the file, uncompressed, of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Damage at the next byte.
    pub(super) fn damage(&self, what: String) -> Halt {
        Halt::Damage(Damage { offset: self.offset(), what })
    }
}

impl Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.first.is_empty() {
            let n = self.first.len().min(into.len());
            into[..n].copy_from_slice(&self.first[..n]);
            self.first.drain(..n);
            return Ok(n);
        }
        loop {
            match self.inner.read(into) {
                Ok(n) => {
                    self.consumed += n as u64;
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Packed {
    fn new() -> Packed {
        Packed { bytes: vec![0; CHUNK], start: 0, end: 0 }
    }

    /// Reads if all has been decompressed; `false` at the end.
    fn fill(&mut self, source: &mut Source) -> io::Result<bool> {
        if self.start == self.end {
            (self.start, self.end) = (0, source.read(&mut self.bytes)?);
        }
        Ok(self.start < self.end)
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }
}

/// Formats that are known by name only.
pub(super) fn foreign(first: [u8; 4]) -> Option<&'static str> {
    Some(match &first {
        [0xfd, b'7', b'z', b'X'] => "compressed with xz",
        [b'B', b'Z', b'h', _] => "compressed with bzip2",
        [0x04, 0x22, 0x4d, 0x18] => "compressed with lz4",
        [b'P', b'K', 3, 4] => "a zip archive",
        [0x28, 0xb5, 0x2f, 0xfd] if cfg!(target_family = "wasm") => "compressed with zstd",
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] => "compressed twice",
        b"snoo" => "a capture of snoop",
        b"GMBU" | b"RTSS" => "a capture of Network Monitor",
        _ => return None,
    })
}
