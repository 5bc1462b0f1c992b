//! Where captures come from.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ackclock_trace::{Damage, Frame, Reader};

use crate::error::Error;
use crate::join::Joined;

/// A capture to read.
pub enum Source {
    /// A file, which can be read more than once.
    File(PathBuf),
    /// The files of one capture, joined by time.
    Joined(Vec<PathBuf>),
    /// Standard input, or another stream, which can be read once.
    Stream(Mutex<Option<Box<dyn Read + Send>>>),
}

impl Source {
    /// A stream.
    pub fn stream(input: impl Read + Send + 'static) -> Source {
        Source::Stream(Mutex::new(Some(Box::new(input))))
    }

    /// What outputs call it: the path, `first.pcap and 3 more`, or `-`.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Joined(paths) => match &paths[..] {
                [] => String::new(),
                [path] => path.display().to_string(),
                [first, more @ ..] => format!("{} and {} more", first.display(), more.len()),
            },
            Source::Stream(_) => "-".into(),
        }
    }

    /// Its bytes; 0 of a stream.
    pub fn len(&self) -> u64 {
        match self {
            Source::Stream(_) => 0,
            files => files.files().map(|path| fs::metadata(path).map_or(0, |m| m.len())).sum(),
        }
    }

    /// The files that it reads; none of a stream.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = match self {
            Source::File(path) => std::slice::from_ref(path),
            Source::Joined(paths) => paths,
            Source::Stream(_) => &[],
        };
        files.iter().map(PathBuf::as_path)
    }

    /// Whether it can be read more than once.
    pub fn is_stream(&self) -> bool {
        matches!(self, Source::Stream(_))
    }

    /// Whether nothing is known to be in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its frames.
    ///
    /// # Errors
    /// What [`Reader::new`] returns; it cannot be opened, or is a stream that was read.
    pub(crate) fn frames(&self) -> io::Result<Frames> {
        let input: Box<dyn Read + Send> = match self {
            Source::Joined(paths) => return Ok(Frames::Joined(Joined::open(paths))),
            Source::File(path) => Box::new(File::open(path)?),
            Source::Stream(input) => {
                let taken = input.lock().map(|mut input| input.take()).unwrap_or_default();
                taken.ok_or_else(|| io::Error::other("a stream can be read only once"))?
            }
        };
        Ok(Frames::One(Reader::new(input)?))
    }
}

/// What reads the frames of a [`Source`]; each method does as that of [`Reader`].
pub(crate) enum Frames {
    One(Reader),
    Joined(Joined),
}

impl Frames {
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        match self {
            Frames::One(reader) => reader.next(),
            Frames::Joined(joined) => joined.next(),
        }
    }

    pub fn damage(&self) -> Option<Damage> {
        match self {
            Frames::One(reader) => reader.damage().cloned(),
            Frames::Joined(joined) => joined.damage(),
        }
    }

    pub fn consumed(&self) -> u64 {
        match self {
            Frames::One(reader) => reader.consumed(),
            Frames::Joined(joined) => joined.consumed(),
        }
    }

    pub fn dropped_by_capture(&self) -> u64 {
        match self {
            Frames::One(reader) => reader.dropped_by_capture(),
            Frames::Joined(joined) => joined.dropped_by_capture(),
        }
    }
}

/// The captures at `path`: itself, or all below it if it is a folder, sorted by name. What there is
/// no capture, or cannot be read, goes to `skipped`.
///
/// # Errors
/// [`Error::Read`] if `path` itself cannot be read.
pub fn captures_at(path: &Path, skipped: &mut Vec<PathBuf>) -> Result<Vec<Source>, Error> {
    if !fs::metadata(path).map_err(Error::read(path))?.is_dir() {
        return Ok(vec![Source::File(path.to_path_buf())]);
    }
    let mut found = Vec::new();
    // Not by recursion: a folder can be as deep as it likes.
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if folder == path => return Err(Error::Read { path: folder, error }),
            Err(_) => {
                skipped.push(folder);
                continue;
            }
            Ok(entries) => entries,
        };
        for entry in entries.flatten() {
            let kind = entry.file_type();
            // A link to a folder may lead back up.
            if kind.is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    let (captures, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|path| is_capture(path));
    skipped.extend(others);
    Ok(captures.into_iter().map(Source::File).collect())
}

/// By its first bytes. A pipe or a device is none: it may have no end.
fn is_capture(path: &Path) -> bool {
    let regular = fs::metadata(path).is_ok_and(|m| m.is_file());
    regular && File::open(path).is_ok_and(|file| Reader::new(Box::new(file)).is_ok())
}
