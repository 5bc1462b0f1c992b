//! Whether two paths name the same file.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// What two paths have in common that name the same file: the file itself, or, where it is still to
/// be made, its folder and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity(Place, Option<OsString>);

/// Device and number: hard links have the same.
#[cfg(unix)]
type Place = (u64, u64);
/// The path without links.
#[cfg(not(unix))]
type Place = std::path::PathBuf;

impl FileIdentity {
    /// `None` for what is no plain file: writing takes nothing away from it.
    pub fn of(path: &Path) -> Option<FileIdentity> {
        if let Ok(there) = fs::metadata(path) {
            let place = place(path, &there).ok().filter(|_| there.is_file());
            return place.map(|place| FileIdentity(place, None));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let place = place(folder, &fs::metadata(folder).ok()?).ok()?;
        Some(FileIdentity(place, Some(path.file_name()?.into())))
    }
}

#[cfg(unix)]
fn place(_: &Path, there: &Metadata) -> io::Result<Place> {
    use std::os::unix::fs::MetadataExt;
    Ok((there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn place(path: &Path, _: &Metadata) -> io::Result<Place> {
    path.canonicalize()
}
