//! Notices of losses, for flows whose sender is notified of what the network loses
//! ([`Sender::notices`](ackclock_tcp::Sender::notices)).
//!
//! What a link drops of such a flow goes on as a *notice*, on the path that the packet would have
//! taken had the link let it in. At each link a notice takes as long as a packet would, behind what
//! is there at that moment. It leaves no trace: it takes no place in a queue and draws no random
//! number, and nothing drops or delays it further.
//! - At the receiver, an ACK without options answers the notice of a lost segment at once. The
//!   answer travels in the same manner, and when it is back, the sender is notified. So the sender
//!   knows one round trip after it sent the segment. That is never later than an ACK could have
//!   come: delayed ACKs, jitter and the extra delay of reordering come on top of it. Of segments
//!   lost together, each is treated as if it alone had been let in.
//! - With [`Notices::AtOnce`](ackclock_tcp::recovery::detect::Notices::AtOnce) the sender is
//!   notified earlier as well: as soon as the segment would have left the transmitter of the link
//!   that dropped it, had nothing been in its way. (Notified at the moment of the drop, it would
//!   send into the same full queue, without end.)
//! - The notice of a lost ACK becomes that ACK at the sender, since it says what became of
//!   segments.
//! - Of packets that a link has duplicated only the originals count.
//! - What a host drops for its checksum has crossed its path. Its notice begins at that host.

use std::collections::VecDeque;

use crate::heap::Key;
use crate::packet::Packet;

/// A lost packet of which its sender is still to be notified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossNotice {
    /// What was lost. Its hop and size are those of what the notice stands for at present.
    pub(crate) packet: Packet,
    pub(crate) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// On the path that the packet would have taken.
    OnPath,
    /// In place of the ACK that the lost segment would have drawn.
    AsAck,
    /// On no path: the sender is notified straight from the link.
    AtDrop,
}

/// The notices under way, numbered in the order in which they were put onto their present links.
#[derive(Debug, Default)]
pub(crate) struct LossNotices {
    /// From the first one still under way on.
    under_way: VecDeque<Option<LossNotice>>,
    /// The number of the first entry.
    first: u32,
}

impl LossNotices {
    pub(crate) fn push(&mut self, notice: LossNotice) -> u32 {
        self.under_way.push_back(Some(notice));
        self.first.wrapping_add(self.under_way.len() as u32 - 1) & Key::MAX_INDEX
    }

    pub(crate) fn take(&mut self, number: usize) -> Option<LossNotice> {
        let index = (number as u32).wrapping_sub(self.first) & Key::MAX_INDEX;
        let notice = self.under_way.get_mut(index as usize)?.take();
        while let Some(None) = self.under_way.front() {
            self.under_way.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        notice
    }
}
