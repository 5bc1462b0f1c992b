//! The file of the access log, and the thread that writes it: connections do not wait for a disk,
//! or for whoever reads a pipe.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::unistd::User;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::geteuid;

/// Blocks of lines that may wait to be written, of some 8 KB each. What comes beyond them is lost.
const WAITING: usize = 512;

/// How long the end waits for what is to be written.
const END: Duration = Duration::from_secs(1);

type Writer = Box<dyn Write + Send>;

/// The file that lines go to, of all threads.
pub(super) struct LogFile {
    /// `None` for standard output.
    path: Option<PathBuf>,
    blocks: SyncSender<Block>,
    lost: Arc<Lost>,
}

/// What the thread is to do.
enum Block {
    /// Write these whole lines.
    Lines(Vec<u8>),
    /// Go on with another file.
    Anew(Writer),
    /// Say that all before this is written.
    End(SyncSender<()>),
}

/// Lines that were not written, and the last error.
#[derive(Default)]
struct Lost {
    lines: AtomicU64,
    error: Mutex<Option<io::Error>>,
}

impl Lost {
    fn note(&self, lines: &[u8], error: io::Error) {
        let number = lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.lines.fetch_add(number, Ordering::Relaxed);
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

/// What the thread of a log has.
pub(super) struct LogWriter {
    blocks: Receiver<Block>,
    to: Writer,
    /// The file behind it, if it is one with a name.
    file: Option<File>,
    lost: Arc<Lost>,
}

impl LogFile {
    /// Opens the file, to be written at its end; `-` is standard output. Nothing is written before
    /// [`LogWriter::start`].
    pub fn open(path: &Path) -> io::Result<(LogFile, LogWriter)> {
        let path = (path != Path::new("-")).then(|| path.to_path_buf());
        let file = path.as_deref().map(open).transpose()?;
        let to: Writer = match &file {
            Some(file) => Box::new(file.try_clone()?),
            None => Box::new(io::stdout()),
        };
        let (sender, blocks) = sync_channel(WAITING);
        let lost = Arc::new(Lost::default());
        let log = LogFile { path, blocks: sender, lost: lost.clone() };
        Ok((log, LogWriter { blocks, to, file, lost }))
    }

    /// Opens the file by its name again: after another one has been put in its place.
    pub fn reopen(&self) -> io::Result<()> {
        let writer: Writer = match &self.path {
            Some(path) => Box::new(open(path)?),
            None => Box::new(io::stdout()),
        };
        self.blocks.try_send(Block::Anew(writer)).map_err(|_| stuck())
    }

    /// Has whole lines written.
    pub fn append(&self, lines: Vec<u8>) {
        if let Err(error) = self.blocks.try_send(Block::Lines(lines)) {
            use std::sync::mpsc::TrySendError::{Disconnected, Full};
            if let Full(Block::Lines(lines)) | Disconnected(Block::Lines(lines)) = error {
                self.lost.note(&lines, stuck());
            }
        }
    }

    /// Why lines were lost since this was asked.
    pub fn error(&self) -> Option<io::Error> {
        self.lost.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Lines that were lost.
    pub fn lost(&self) -> u64 {
        self.lost.lines.load(Ordering::Relaxed)
    }

    /// Waits until all lines are written, but not for long.
    pub fn finish(&self) {
        let (done, all) = sync_channel(1);
        let asked = self.blocks.try_send(Block::End(done)).map_err(|_| ());
        if asked.and_then(|()| all.recv_timeout(END).map_err(|_| ())).is_err() {
            *self.lost.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(stuck());
        }
    }
}

fn stuck() -> io::Error {
    io::Error::other("the file does not take them as fast as they come")
}

impl LogWriter {
    /// Makes a user the owner of the file, if it is ours until now: who goes on as that user has to
    /// open it again.
    pub fn give_to(&self, user: &User) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.uid() == geteuid().as_raw() {
            std::os::unix::fs::fchown(file, Some(user.uid.as_raw()), Some(user.gid.as_raw()))?;
        }
        Ok(())
    }

    /// Writes in a thread of its own, which ends with the process.
    pub fn start(self) -> io::Result<()> {
        let LogWriter { blocks, mut to, lost, file: _ } = self;
        let mut cut = false;
        let write = move || {
            for block in blocks {
                match block {
                    Block::Lines(lines) => {
                        if let Err((rest, error)) = write_lines(&mut to, &lines, &mut cut) {
                            lost.note(rest, error);
                        }
                    }
                    Block::Anew(writer) => (to, cut) = (writer, false),
                    Block::End(done) => _ = done.try_send(()),
                }
            }
        };
        thread::Builder::new().name("access log".into()).spawn(write).map(|_| ())
    }
}

/// Writes whole lines. A line that was `cut`, as by a full disk, does not spoil the next one.
/// Returns what could not be written, and why.
fn write_lines<'a>(
    to: &mut Writer,
    lines: &'a [u8],
    cut: &mut bool,
) -> Result<(), (&'a [u8], io::Error)> {
    if *cut {
        to.write_all(b"\n").map_err(|error| (lines, error))?;
        *cut = false;
    }
    let mut rest = lines;
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(0) => return Err((rest, ErrorKind::WriteZero.into())),
            Ok(n) => rest = &rest[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((rest, error)),
        }
        *cut = !lines[..lines.len() - rest.len()].ends_with(b"\n");
    }
    to.flush().map_err(|error| (lines, error))
}

/// Opens a file to be written at its end.
fn open(path: &Path) -> io::Result<File> {
    // Nobody waits for somebody to read a pipe.
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().append(true).create(true).custom_flags(nonblock).open(path);
    let mut file = opened.map_err(|error| match error.raw_os_error() {
        Some(raw) if raw == Errno::NXIO.raw_os_error() => {
            io::Error::other("nobody reads this pipe; start its reader first")
        }
        _ => error,
    })?;
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    // A line that was cut, by a crash or a full disk, does not spoil the next one.
    if ends_within_a_line(path).unwrap_or(false) {
        file.write_all(b"\n")?;
    }
    Ok(file)
}

fn ends_within_a_line(path: &Path) -> io::Result<bool> {
    if !path.metadata()?.is_file() {
        return Ok(false);
    }
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests;
