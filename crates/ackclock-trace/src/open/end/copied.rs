//! Do the copies that the capture has of packets arrive as well?
//!
//! A mirror port sees a packet twice that its receiver gets once. But where something on the path
//! makes two of each packet, the receiver has both, and says so by a D-SACK (RFC 2883 section 4).
//! That is none of a retransmission: it was needed, though what it carried came twice.

use std::collections::VecDeque;

use ackclock_tcp::SackRanges;
use ackclock_tcp::wire::Control;

use super::End;
use crate::packet::Packet;
use crate::sender::Dsack;

/// So many may be on their way, which bounds the memory.
const MOST: usize = 256;

/// What a copy carried.
#[derive(Clone, Copy, Debug)]
struct Carried {
    bytes: (u64, u64),
    /// No copy before it had as high ones: it is no keep-alive, and nothing that goes again.
    is_new: bool,
}

#[derive(Debug, Default)]
pub(super) struct Copied {
    /// Copies that no D-SACK has answered yet, in their order.
    waiting: VecDeque<Carried>,
    /// Where the highest of all ended.
    max: u64,
    /// Those that a D-SACK has answered, of what went once.
    answered: u32,
    /// Those behind which one that came later was answered first.
    passed_over: u32,
}

impl Copied {
    /// A copy of this passes.
    fn passes(&mut self, bytes: (u64, u64)) {
        if self.passed_over == u32::MAX {
            return;
        }
        if self.waiting.len() == MOST {
            if self.answered == 0 {
                // A mirror port makes them: none has arrived.
                (self.waiting, self.passed_over) = (VecDeque::new(), u32::MAX);
                return;
            }
            self.waiting.pop_front();
            self.passed_over = self.passed_over.saturating_add(1);
        }
        self.waiting.push_back(Carried { bytes, is_new: bytes.0 >= self.max });
        self.max = self.max.max(bytes.1);
    }

    /// A D-SACK reports this: is that the copy's, which has arrived? It is where most copies are
    /// answered so. Of what went more than once a D-SACK says nothing of copies.
    fn has_arrived(&mut self, (start, end): (u64, u64)) -> bool {
        let mut copies = self.waiting.iter().copied().enumerate();
        let found = copies.find(|(_, copy)| copy.bytes == (start, end));
        let Some((index, copy)) = found else { return false };
        self.waiting.drain(..=index);
        self.passed_over = self.passed_over.saturating_add(index as u32);
        let again = self.waiting.iter().any(|copy| copy.bytes.0 < end && start < copy.bytes.1);
        self.answered = self.answered.saturating_add((copy.is_new && !again).into());
        self.answered > self.passed_over
    }
}

impl End {
    /// The capture has this packet of it twice.
    #[cold]
    pub fn copied(&mut self, p: &Packet) {
        self.copies += 1;
        let len = p.len + u32::from(p.control.contains(Control::FIN));
        let edge = self.edge.get().unwrap_or(0);
        if !p.control.contains(Control::SYN)
            && let Some(bytes) = self.positions.of_block(p.seq, p.seq + len, edge)
        {
            self.unusual.get_or_insert_default().copied.get_or_insert_default().passes(bytes);
        }
    }

    /// What the first of these blocks says has come twice.
    #[cold]
    pub(super) fn dsack(&mut self, ack: u64, sack: &SackRanges, sacks: u8) -> Dsack {
        let [first, second] = [sack[0], sack[1]];
        // RFC 2883 section 4: below the acknowledgment, or within the next block.
        let within = sacks > 1 && second.0 <= first.0 && first.1 <= second.1;
        if first.1 > ack && !within {
            return Dsack::None;
        }
        let copied = self.unusual.as_mut().and_then(|unusual| unusual.copied.as_mut());
        let is_of_copy = copied.is_some_and(|copied| copied.has_arrived(first));
        if is_of_copy { Dsack::Copied } else { Dsack::Sent }
    }
}
