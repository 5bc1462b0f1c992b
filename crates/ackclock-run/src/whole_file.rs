//! Files that are there as a whole, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that takes its name, and the place of one that has it already, only when it is finished.
/// Until then it is a hidden file beside it, which goes away if it is not finished. A pipe or a
/// device is written as it is.
#[derive(Debug)]
pub struct WholeFile {
    to: BufWriter<To>,
    path: PathBuf,
}

#[derive(Debug)]
enum To {
    Beside(NamedTempFile),
    Straight(File),
}

impl WholeFile {
    /// Begins the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        // Opened by its name, a file that the output is appended to would lose what it has.
        #[cfg(unix)]
        if path == Path::new("/dev/stdout") {
            use std::os::fd::AsFd;
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Ok(WholeFile { to: BufWriter::new(To::Straight(file)), path: path.into() });
        }
        // The file that a link stands for is replaced, and not the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        let to = match fs::metadata(&path) {
            Ok(there) if !there.is_file() => To::Straight(File::create(&path)?),
            there => To::Beside(beside(&path, there.ok())?),
        };
        Ok(WholeFile { to: BufWriter::new(to), path })
    }

    /// Writes a file that has this content.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        file.write_all(content.as_ref())?;
        file.finish()
    }

    /// Whether there can be a file of this name: what is there stays. A pipe or a device is not
    /// opened: who reads from a pipe would come to its end when it is closed again.
    ///
    /// # Errors
    /// What the system says.
    pub fn check(path: &Path) -> io::Result<()> {
        match fs::metadata(path) {
            Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
            _ => WholeFile::create(path).map(drop),
        }
    }

    /// The file is finished.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(self) -> io::Result<()> {
        match self.to.into_inner()? {
            To::Beside(file) => file.persist(&self.path).map(drop).map_err(|e| e.error),
            To::Straight(mut file) => file.flush(),
        }
    }
}

/// A file beside `path`, with the permissions of what is `there` or of a new file.
fn beside(path: &Path, there: Option<fs::Metadata>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    // The error of the builder names the hidden file, which nobody has asked for.
    let mut plain = None;
    let file = tempfile::Builder::new()
        .prefix(".")
        .suffix(".part")
        .make_in(folder.unwrap_or(Path::new(".")), |path| {
            options.open(path).inspect_err(|error| plain = error.raw_os_error())
        })
        .map_err(|error| plain.map_or(error.kind().into(), io::Error::from_raw_os_error))?;
    if let Some(there) = there {
        file.as_file().set_permissions(there.permissions())?;
    }
    Ok(file)
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            To::Beside(file) => file.write(bytes),
            To::Straight(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            To::Beside(file) => file.flush(),
            To::Straight(file) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests;
