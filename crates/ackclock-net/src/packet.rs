//! What travels over links.

use ackclock_tcp::wire::{self, Control, Repr};
use ackclock_tcp::{Cause, Flags, SackBlocks, Segment, Seq, Timestamps};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment from a sender.
    Data,
    /// A segment from a receiver.
    Ack,
    /// A packet of a CBR stream.
    Datagram,
}

/// A packet under way. Together with its key it is as long as a cache line: packets on a wire take little memory, and
/// looking at the key of the next one fetches most of it. That leaves no room for TCP options, which most segments do
/// without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Stream position of the first payload byte; of an ACK, the position that it acknowledges.
    pub(crate) position: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    pub(crate) wnd: u16,
    pub(crate) flags: Flags,
    /// Its TCP options in [`Options`], or `NO_OPTIONS`.
    pub(crate) options: u32,
    /// Which flow it belongs to.
    pub(crate) flow: u32,
    /// Bytes on the link.
    pub(crate) size: u32,
    /// Where in the table of paths its next hop stands.
    pub(crate) hop: u32,
    /// 1 for the first transmission.
    pub(crate) transmission: u32,
    /// What it is.
    pub(crate) kind: Kind,
    /// It is the retransmission that begins a recovery.
    pub(crate) fast_retransmission: bool,
    /// A link made it by duplicating another.
    pub(crate) copy: bool,
    /// A link flipped a bit of it.
    pub(crate) corrupt: bool,
}

const NO_OPTIONS: u32 = u32::MAX;

impl Packet {
    /// The first transmission of a segment as a packet of its size, which whoever makes it completes.
    #[inline]
    pub(crate) fn new(kind: Kind, segment: &Segment, options: &mut Options) -> Packet {
        Packet {
            position: 0,
            len: segment.len,
            seq: segment.seq,
            ack: segment.ack,
            wnd: segment.wnd,
            flags: segment.flags,
            options: options.store(segment.timestamps, &segment.sack),
            flow: 0,
            size: segment.len,
            hop: 0,
            transmission: 1,
            kind,
            fast_retransmission: false,
            copy: false,
            corrupt: false,
        }
    }

    /// The segment in it, whose options are let go.
    #[inline]
    pub(crate) fn into_segment(self, options: &mut Options) -> Segment {
        let (timestamps, sack) = options.take(self.options);
        let Packet { seq, ack, len, wnd, flags, .. } = self;
        Segment { seq, ack, len, wnd, flags, timestamps, sack }
    }

    /// A packet of a whole connection, which whoever makes it completes.
    pub(crate) fn with_header(kind: Kind, header: &Repr, len: u32, options: &mut Options) -> Packet {
        let segment = Segment { timestamps: None, sack: SackBlocks::NONE, ..header.segment(len) };
        Packet { options: options.hold((header.control, header.options)), ..Packet::new(kind, &segment, options) }
    }

    /// The header of a packet of a whole connection, whose options are let go.
    pub(crate) fn into_header(self, options: &mut Options) -> Repr {
        let (control, options) = options.take_held(self.options);
        Repr { seq: self.seq, ack: self.ack, wnd: self.wnd, control, options, ..Repr::default() }
    }

    /// Bytes of the stream in it: a FIN is one (of whole connections; others have none).
    pub(crate) fn bytes(&self) -> u32 {
        self.len.saturating_add(u32::from(self.flags.fin))
    }

    /// A duplicate of it.
    pub(crate) fn duplicate(&self, options: &mut Options) -> Packet {
        Packet { options: options.duplicate(self.options), copy: true, ..*self }
    }
}

/// TCP options. The control bits count for whole connections and for packets that are marked.
type Held = (Control, wire::Options);

/// What a recorder is told of a packet beside its header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    /// As in [`crate::Sighting`].
    pub(crate) number: u32,
    pub(crate) sent: Option<(Cause, u32)>,
}

/// The TCP options of the packets under way that carry any; of all packets with their marks, if a recorder takes packets.
#[derive(Debug, Default)]
pub(crate) struct Options {
    held: Vec<Held>,
    free: Vec<u32>,
    /// In the places of `held`.
    marks: Vec<Mark>,
    /// Packets marked so far, by flow and kind.
    marked: Vec<[u32; 3]>,
}

impl Options {
    #[inline]
    fn store(&mut self, timestamps: Option<Timestamps>, sack: &SackBlocks) -> u32 {
        if timestamps.is_none() && sack.is_empty() {
            return NO_OPTIONS;
        }
        self.hold((Control::default(), wire::Options { timestamps, sack: *sack, ..wire::Options::default() }))
    }

    #[inline]
    fn hold(&mut self, held: Held) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.held[at as usize] = held;
                at
            }
            None => {
                self.held.push(held);
                self.held.len() as u32 - 1
            }
        }
    }

    #[inline]
    fn take(&mut self, at: u32) -> (Option<Timestamps>, SackBlocks) {
        if at == NO_OPTIONS {
            return (None, SackBlocks::NONE);
        }
        let (_, wire::Options { timestamps, sack, .. }) = self.take_held(at);
        (timestamps, sack)
    }

    #[inline]
    fn take_held(&mut self, at: u32) -> Held {
        self.free.push(at);
        self.held[at as usize]
    }

    fn duplicate(&mut self, at: u32) -> u32 {
        if at == NO_OPTIONS {
            return NO_OPTIONS;
        }
        let copy = self.hold(self.held[at as usize]);
        if let Some(&mark) = self.marks.get(at as usize) {
            self.set_mark(copy, mark);
        }
        copy
    }

    /// Marks a packet with this header, as its host sends it.
    #[cold]
    pub(crate) fn mark(&mut self, packet: &mut Packet, header: &Repr, sent: Option<(Cause, u32)>) {
        let held = (header.control, header.options);
        match self.held.get_mut(packet.options as usize) {
            Some(slot) => *slot = held,
            None => packet.options = self.hold(held),
        }
        let (flow, kind) = (packet.flow as usize, packet.kind as usize);
        self.marked.resize(self.marked.len().max(flow + 1), [0; 3]);
        self.marked[flow][kind] += 1;
        self.set_mark(packet.options, Mark { number: self.marked[flow][kind], sent });
    }

    fn set_mark(&mut self, at: u32, mark: Mark) {
        let at = at as usize;
        self.marks.resize(self.marks.len().max(at + 1), Mark::default());
        self.marks[at] = mark;
    }

    /// The header of a packet under way, and its mark; `None` if it has none.
    pub(crate) fn marked(&self, packet: &Packet) -> Option<(Repr, Mark)> {
        let (control, options) = *self.held.get(packet.options as usize)?;
        let mark = *self.marks.get(packet.options as usize)?;
        let Packet { seq, ack, wnd, .. } = *packet;
        Some((Repr { seq, ack, wnd, control, options, ..Repr::default() }, mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_tcp::SackBlock;

    #[test]
    fn options_come_back_with_their_segment_and_make_room_for_others() {
        let mut options = Options::default();
        let mut segment = Segment { seq: Seq(7), ack: Seq(9), wnd: 3, ..Segment::default() };
        let plain = Packet::new(Kind::Ack, &segment, &mut options);
        assert_eq!((plain.into_segment(&mut options), options.held.len()), (segment, 0));

        segment.sack.push(SackBlock { left: Seq(20), right: Seq(30) });
        let first = Packet::new(Kind::Ack, &segment, &mut options);
        let stamped = Segment { timestamps: Some(Timestamps { val: 1, ecr: 2 }), ..Segment::default() };
        let second = Packet::new(Kind::Data, &stamped, &mut options);
        let third = first.duplicate(&mut options);
        assert_eq!((first.copy, third.copy), (false, true));
        assert_eq!(first.into_segment(&mut options), segment);
        let fourth = second.duplicate(&mut options);
        let segments = [second, third, fourth].map(|packet| packet.into_segment(&mut options));
        assert_eq!(segments, [stamped, segment, stamped]);
        assert_eq!((options.held.len(), options.free.len()), (3, 3));
    }
}
