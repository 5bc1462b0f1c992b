//! The labs that are built in.

use ackclock_tcp::Registry;
use include_dir::{Dir, include_dir};

use crate::error::Error;
use crate::format::Lab;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/labs");

impl Lab {
    /// The labs of this project, each with its name.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn all(registry: &Registry) -> Result<Vec<(String, Lab)>, Error> {
        let mut labs = Vec::new();
        for file in FILES.files() {
            let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) else {
                continue;
            };
            if let Some(name) = path.strip_suffix(".toml") {
                labs.push((
                    name.to_string(),
                    Lab::from_toml(&format!("labs/{path}"), text, registry)?,
                ));
            }
        }
        labs.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(labs)
    }
}
