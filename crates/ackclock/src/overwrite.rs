//! No output takes the place of a file that is read, or of another output.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// What two paths have in common that name the same file.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Its device and number.
    There(u64, u64),
    /// It is still to be made: that of its folder, and its name.
    New(u64, u64, OsString),
}

impl Identity {
    /// `None` for what is no plain file: writing takes nothing away from it.
    fn of(path: &Path) -> Option<Identity> {
        if let Ok(there) = fs::metadata(path) {
            return there.is_file().then(|| Identity::There(there.dev(), there.ino()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::metadata(folder.unwrap_or(Path::new("."))).ok()?;
        Some(Identity::New(folder.dev(), folder.ino(), path.file_name()?.into()))
    }
}

/// Whether no output is one of the inputs, and no two outputs are the same file, by whatever paths
/// they go.
pub(crate) fn check<'i, 'o>(
    inputs: impl IntoIterator<Item = &'i Path>,
    outputs: impl IntoIterator<Item = &'o PathBuf>,
) -> Result<(), Error> {
    let outputs = outputs.into_iter().filter_map(|path| Some((path, Identity::of(path)?)));
    let outputs: Vec<_> = outputs.collect();
    let refused = |path: &Path, why: &str| Err(Error::Usage(format!("{}: {why}", path.display())));
    for (i, (path, identity)) in outputs.iter().enumerate() {
        if outputs[..i].iter().any(|(_, other)| other == identity) {
            return refused(path, "two options write this file");
        }
    }
    if outputs.is_empty() {
        return Ok(());
    }
    for input in inputs {
        let Some(identity) = Identity::of(input) else { continue };
        if let Some((path, _)) = outputs.iter().find(|(_, output)| *output == identity) {
            return refused(path, "this would overwrite a file that is read");
        }
    }
    Ok(())
}
