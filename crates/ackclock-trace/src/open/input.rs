//! What a packet says to the sender models of a connection, in order of the capture.

use ackclock_tcp::{Seq, Time};

use crate::sender::{Acked, Owed, Shorter};

/// Payload or a FIN, perhaps of a super-segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub frame: u64,
    pub at: Time,
    pub position: u64,
    pub seq: Seq,
    /// Bytes of payload.
    pub len: u32,
    pub fin: bool,
    /// It begins below the highest byte seen.
    pub again: bool,
    pub tsval: Option<u32>,
    /// The timestamp that it echoes.
    pub tsecr: Option<u32>,
    pub ip_id: Option<u16>,
    /// As in [`Sent`](crate::sender::Sent).
    pub skipped: u16,
    /// The numbers tell that.
    pub counted: bool,
    /// As in [`Sent`](crate::sender::Sent).
    pub all_seen: bool,
    /// It has CWR.
    pub cwr: bool,
    /// It can be marked, on a connection with ECN, so that CWR means something.
    pub capable: bool,
    /// What this end had acknowledged of the other one before.
    pub owed: Owed,
}

impl Data {
    /// Position after its last byte, or its FIN.
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.len) + u64::from(self.fin)
    }
}

/// Something for the model of one end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    /// The end sends this.
    Data(Data),
    /// The other end acknowledges.
    Acked(Acked),
    /// The capture has a gap until now. All that it lacks may be a FIN.
    Gap(Time, bool),
    /// A router asks the end for shorter packets.
    TooBig(Shorter),
    /// The end asks for room at this time, in this frame, though the other end has told of some.
    Asks(Time, u64),
    /// The number of this packet of the end is now known to tell what is missing before it.
    Number(u16),
}
