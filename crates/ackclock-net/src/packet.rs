//! What travels over links.

use ackclock_tcp::wire::{self, Control, Repr};
use ackclock_tcp::{Ecn, Flags, SackBlocks, Segment, Sending, Seq, Timestamps};

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

/// A packet under way. Together with its key it fills one cache line. So packets on a wire take
/// little memory, and reading the key of the next one fetches the packet too. That leaves no room
/// for TCP options, which most segments do without.
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
    pub(crate) ecn: Ecn,
    /// Its TCP options in [`Options`], or `NO_OPTIONS`.
    pub(crate) options: u32,
    /// Which flow it belongs to.
    pub(crate) flow: u32,
    /// Bytes on the link.
    pub(crate) size: u32,
    /// The place of its next hop in the table of paths.
    pub(crate) hop: u32,
    /// 1 for the first transmission. 0 if it transmits nothing: a SYN, and an ACK from the end that
    /// sends data. `u32::MAX` if a gateway has forgotten how many there were.
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
    /// The first transmission of a segment, as a packet of its size. The caller fills in flow, hop
    /// and position.
    #[inline]
    pub(crate) fn new(kind: Kind, segment: &Segment, options: &mut Options) -> Packet {
        Packet {
            position: 0,
            len: segment.len,
            seq: segment.seq,
            ack: segment.ack,
            wnd: segment.wnd,
            flags: segment.flags,
            ecn: segment.ecn,
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

    /// The segment in it. Its options are freed.
    #[inline]
    pub(crate) fn into_segment(self, options: &mut Options) -> Segment {
        let Packet { seq, ack, len, wnd, flags, ecn, .. } = self;
        let mut segment = Segment { seq, ack, len, wnd, flags, ecn, ..Segment::default() };
        if self.options != NO_OPTIONS {
            let wire::Options { timestamps, sack, .. } = options.take_fields(self.options).options;
            (segment.timestamps, segment.sack) = (timestamps, sack);
        }
        segment
    }

    /// A packet of a connection with a handshake. The caller fills in flow, hop and position.
    pub(crate) fn with_header(
        kind: Kind,
        header: &Repr,
        len: u32,
        options: &mut Options,
    ) -> Packet {
        let segment = Segment { timestamps: None, sack: SackBlocks::NONE, ..header.segment(len) };
        Packet {
            options: options
                .insert(HeaderFields { control: header.control, options: header.options }),
            ..Packet::new(kind, &segment, options)
        }
    }

    /// The header of a packet of a connection with a handshake. Its options are freed.
    pub(crate) fn into_header(self, options: &mut Options) -> Repr {
        let HeaderFields { control, options } = options.take_fields(self.options);
        let Packet { seq, ack, wnd, ecn, .. } = self;
        let codepoint = ecn.codepoint();
        Repr { seq, ack, wnd, control, codepoint, options, ..Repr::default() }
    }

    /// A queue marks it with CE, if it is ECN-capable. Whether it is.
    pub(crate) fn mark(&mut self) -> bool {
        let marked = self.ecn.marked();
        self.ecn = marked.unwrap_or(self.ecn);
        marked.is_some()
    }

    /// Whether it is ECN-capable.
    pub(crate) fn is_ecn_capable(&self) -> bool {
        self.ecn.marked().is_some()
    }

    /// Bytes of the stream in it. A FIN is one; only connections with a handshake have any.
    pub(crate) fn bytes(&self) -> u32 {
        self.len.saturating_add(u32::from(self.flags.fin()))
    }

    /// A duplicate of it.
    pub(crate) fn duplicate(&self, options: &mut Options) -> Packet {
        Packet { options: options.duplicate(self.options), copy: true, ..*self }
    }
}

/// The header fields that [`Packet`] has no room for. The control bits matter only for connections
/// with a handshake and for marked packets.
#[derive(Clone, Copy, Debug)]
struct HeaderFields {
    control: Control,
    options: wire::Options,
}

/// What a recorder learns of a packet beside its header.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    /// As in [`ackclock_tcp::Sighting`].
    pub(crate) number: u32,
    pub(crate) sent: Option<Sending>,
}

/// The TCP options of the packets under way that carry any. If a recorder takes packets, all of
/// them are here, with their marks.
#[derive(Debug, Default)]
pub(crate) struct Options {
    fields: Vec<HeaderFields>,
    /// Free places in `fields`.
    free: Vec<u32>,
    /// At the same places as in `fields`.
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
        self.insert(HeaderFields {
            control: Control::default(),
            options: wire::Options { timestamps, sack: *sack, ..wire::Options::default() },
        })
    }

    #[inline]
    fn insert(&mut self, fields: HeaderFields) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.fields[at as usize] = fields;
                at
            }
            None => {
                self.fields.push(fields);
                self.fields.len() as u32 - 1
            }
        }
    }

    #[inline]
    fn take_fields(&mut self, at: u32) -> HeaderFields {
        self.free.push(at);
        self.fields[at as usize]
    }

    /// How many SACK blocks a packet under way carries.
    pub(crate) fn sack_blocks(&self, packet: &Packet) -> u64 {
        let fields = self.fields.get(packet.options as usize);
        fields.map_or(0, |fields| fields.options.sack.as_slice().len() as u64)
    }

    fn duplicate(&mut self, at: u32) -> u32 {
        if at == NO_OPTIONS {
            return NO_OPTIONS;
        }
        let copy = self.insert(self.fields[at as usize]);
        if let Some(&mark) = self.marks.get(at as usize) {
            self.set_mark(copy, mark);
        }
        copy
    }

    /// Marks a packet as its host sends it with this header.
    #[cold]
    pub(crate) fn mark(&mut self, packet: &mut Packet, header: &Repr, sent: Option<Sending>) {
        let fields = HeaderFields { control: header.control, options: header.options };
        match self.fields.get_mut(packet.options as usize) {
            Some(slot) => *slot = fields,
            None => packet.options = self.insert(fields),
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
        let HeaderFields { control, options } = *self.fields.get(packet.options as usize)?;
        let mark = *self.marks.get(packet.options as usize)?;
        let Packet { seq, ack, wnd, ecn, .. } = *packet;
        let codepoint = ecn.codepoint();
        Some((Repr { seq, ack, wnd, control, codepoint, options, ..Repr::default() }, mark))
    }
}

#[cfg(test)]
mod tests;
