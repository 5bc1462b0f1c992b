//! Who has reset a connection, and what became of it by that.

/// A reset that has ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reset {
    /// Who has sent it.
    pub by: ResetBy,
    /// What the other end had sent was not all acknowledged: the reset has cut it off.
    pub cuts_off: bool,
}

/// The end that has sent a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetBy {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Both.
    Both,
}
