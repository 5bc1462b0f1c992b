//! How to look at packets.

/// How to look.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The connections whose events are kept for a picture.
    pub detail: Detail,
    /// Most connections that are kept open, each of which takes about 4 KB. Beyond it, those that
    /// were idle for longest end as [`Ended::Idle`](crate::Ended::Idle).
    pub max_open: usize,
}

/// Of which connections to keep the events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Of none.
    None,
    /// Of each, until so many are kept.
    UpTo(usize),
    /// Of these ([`Connection::number`](crate::Connection::number)).
    Of(Vec<u64>),
}

impl Default for Settings {
    fn default() -> Self {
        Settings { detail: Detail::None, max_open: 1 << 18 }
    }
}
