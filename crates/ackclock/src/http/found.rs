//! What a server has under a path.

use std::time::SystemTime;

use super::status::Status;

/// A regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Bytes.
    pub len: u64,
    /// When it was last changed; `None` if HTTP has no date for it.
    pub modified: Option<SystemTime>,
    /// Its entity tag, in quotes; strong.
    pub etag: String,
    /// Its media type.
    pub media_type: &'static str,
}

/// What lies under a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file.
    File(FileInfo),
    /// A directory without an index, asked for with its slash: its entries, of which those that are
    /// directories end with a slash; and whether there are more. HEAD needs none of them.
    Listing(Vec<Vec<u8>>, bool),
    /// A directory asked for without its slash.
    Directory,
    /// Nothing to send, and this is why.
    Nothing(Status),
}
