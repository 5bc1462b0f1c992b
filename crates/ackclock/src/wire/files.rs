//! The files below a directory, and nothing else: every path is resolved by `openat2` with
//! `RESOLVE_BENEATH`, so that neither `..` nor a symbolic link leads out, whatever changes
//! meanwhile. Relative links that stay inside work. An absolute one leads nowhere: `openat2` takes
//! none below a directory, wherever it leads (openat2(2)).

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::http::{FileInfo, Found, Method, Request, Status, date, etag};

/// Entries of a directory that a page lists.
const LISTED: usize = 10_000;

/// The directory that is served.
pub(crate) struct Files {
    root: OwnedFd,
}

impl Files {
    /// # Errors
    /// If this is no directory that can be read, or the kernel has no `openat2` (before Linux 5.6).
    pub fn open(dir: &Path) -> io::Result<Files> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let files = Files { root: rustix::fs::open(dir, flags, Mode::empty())? };
        match files.beneath(b".") {
            Err(Errno::NOSYS) => Err(io::Error::other(
                "there is no openat2, by which served files stay below it: this takes Linux 5.6, \
                 and no sandbox that refuses it (RestrictSUIDSGID= of systemd)",
            )),
            found => found.map(|_| files).map_err(io::Error::from),
        }
    }

    /// What a request asks for, and the file if it is one.
    pub fn find(&self, request: &Request) -> (Found, Option<File>) {
        self.look_up(request).unwrap_or_else(|error| (Found::Nothing(status_of(&error)), None))
    }

    fn look_up(&self, request: &Request) -> io::Result<(Found, Option<File>)> {
        let path = if request.path.is_empty() { b".".as_slice() } else { &request.path };
        let opened = self.beneath(path)?;
        let metadata = opened.metadata()?;
        if metadata.is_dir() {
            if request.directory {
                self.directory(path, &opened, request.method)
            } else {
                Ok((Found::Directory, None))
            }
        } else if !metadata.is_file() {
            // Devices and the like are not served.
            Err(Errno::ACCESS.into())
        } else if request.directory {
            Err(Errno::NOTDIR.into())
        } else {
            Ok((Found::File(info(&metadata, path)), Some(opened)))
        }
    }

    /// The index of a directory, or else its entries.
    fn directory(
        &self,
        path: &[u8],
        opened: &File,
        method: Method,
    ) -> io::Result<(Found, Option<File>)> {
        let name = b"/index.html";
        match self.beneath(&[path, name].concat()) {
            Ok(index) => {
                let metadata = index.metadata()?;
                if metadata.is_file() {
                    return Ok((Found::File(info(&metadata, name)), Some(index)));
                }
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut entries = Vec::new();
        let mut more = false;
        if method == Method::Head {
            return Ok((Found::Listing(entries, more), None));
        }
        for entry in Dir::read_from(opened)? {
            let entry = entry?;
            let mut name = entry.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            if entries.len() == LISTED {
                more = true;
                break;
            }
            if entry.file_type() == FileType::Directory {
                name.push(b'/');
            }
            entries.push(name);
        }
        entries.sort();
        Ok((Found::Listing(entries, more), None))
    }

    /// Opens a path for reading. A FIFO without a writer does not block.
    fn beneath(&self, path: &[u8]) -> Result<File, Errno> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.root, path, flags, Mode::empty(), resolve).map(File::from)
    }
}

fn info(metadata: &Metadata, path: &[u8]) -> FileInfo {
    let modified = metadata.modified().ok().and_then(date);
    // Without a date that HTTP can say, a tag still tells files of different lengths apart.
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    FileInfo {
        len: metadata.len(),
        modified,
        etag: etag(since, metadata.len()),
        media_type: mime_guess::from_path(OsStr::from_bytes(path))
            .first_raw()
            .unwrap_or("application/octet-stream"),
    }
}

fn status_of(error: &io::Error) -> Status {
    match Errno::from_io_error(error) {
        // A link that leads outside, or is absolute (XDEV), is not there.
        Some(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP | Errno::XDEV) => {
            Status::NotFound
        }
        // A socket has no file behind it (NXIO).
        Some(Errno::ACCESS | Errno::PERM | Errno::NXIO) => Status::Forbidden,
        // Too many open files, and a tree that changes under the look-up (AGAIN): a later try may
        // do better.
        Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM) => {
            Status::ServiceUnavailable
        }
        _ => Status::InternalServerError,
    }
}
