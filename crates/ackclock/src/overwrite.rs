//! No output takes the place of a file that is read, or of another output.

use std::path::{Path, PathBuf};

use ackclock_run::FileIdentity;

use crate::error::Error;

/// Whether no output is one of the inputs, and no two outputs are the same file, by whatever paths
/// they go.
pub(crate) fn check<'i, 'o>(
    inputs: impl IntoIterator<Item = &'i Path>,
    outputs: impl IntoIterator<Item = &'o PathBuf>,
) -> Result<(), Error> {
    let outputs = outputs.into_iter().filter_map(|path| Some((path, FileIdentity::of(path)?)));
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
        let Some(identity) = FileIdentity::of(input) else { continue };
        if let Some((path, _)) = outputs.iter().find(|(_, output)| *output == identity) {
            return refused(path, "this would overwrite a file that is read");
        }
    }
    Ok(())
}
