//! What both ends of connections sent, as one capture has it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Seq, Time};
use ackclock_trace::{Copies, Lag, Of, Packet};

use crate::read::Sink;

/// Segments that are kept of a capture: about 200 MB.
const MOST: usize = 8_000_000;

/// What lies further ahead than this is no data of a stream.
const FAR: u64 = 1 << 30;

/// Marks that are kept of an end: enough to tell which capture is nearer the client.
const MOST_MARKS: usize = 100;

/// The connections of a capture.
#[derive(Default)]
pub(super) struct Conversations {
    pub all: Vec<Conversation>,
    /// When the last segment was captured.
    pub end: Time,
    /// The last one between two ends, the lower one first.
    last: HashMap<(SocketAddr, SocketAddr), usize>,
    kept: usize,
    seen: Copies,
    /// Segments, and what all of them say, in their order.
    segments: u64,
    print: DefaultHasher,
}

/// What a connection sent. Without a SYN of the client, it is not known which of both is the
/// client, and nothing is kept but that there is one.
pub(super) struct Conversation {
    pub client: SocketAddr,
    pub server: SocketAddr,
    pub start: Time,
    /// The first SYN of client and server; zero before it.
    pub syns: [Time; 2],
    /// SYNs of client and server.
    pub opened: [u64; 2],
    /// What client and server began to count with.
    pub isns: [Option<Seq>; 2],
    pub sent: [Vec<Segment>; 2],
    pub marks: [Vec<Mark>; 2],
    /// The end of what each has sent.
    ends: [u64; 2],
    /// What a capture of several interfaces has twice is one segment.
    copies: Lag,
    cut: bool,
}

/// A segment with payload. Positions count from the first byte of data.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub from: u64,
    pub len: u32,
    pub at: Time,
}

/// The first packet of an end that has sent and acknowledged so much: both captures can have it,
/// however its data was cut. It is in the order of both numbers, neither of which goes back.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub sent: u64,
    pub acked: u64,
    pub at: Time,
}

impl Sink for Conversations {
    fn packet(&mut self, p: &Packet) {
        self.end = self.end.max(p.at);
        self.note(p);
        let key = (p.src.min(p.dst), p.src.max(p.dst));
        let last = self.last.get(&key).copied();
        let syn = p.control.contains(Control::SYN);
        if syn && !p.control.contains(Control::ACK) {
            let again = last.and_then(|last| self.all.get(last)).is_some_and(|conversation| {
                conversation.client == p.src && conversation.isns[0] == Some(p.seq)
            });
            let place = match last.filter(|_| again) {
                Some(last) => last,
                None => {
                    self.last.insert(key, self.all.len());
                    self.all.push(Conversation::new(p));
                    self.all.len() - 1
                }
            };
            let Some(conversation) = self.all.get_mut(place) else { return };
            if !conversation.is_copy(p, place, &mut self.seen) {
                conversation.opened[0] += 1;
            }
            return;
        }
        let last = last.unwrap_or_else(|| {
            self.all.push(Conversation::without_syn(p));
            self.last.insert(key, self.all.len() - 1);
            self.all.len() - 1
        });
        let Some(conversation) = self.all.get_mut(last) else { return };
        conversation.mark(p);
        let copy = conversation.is_copy(p, last, &mut self.seen);
        if syn && p.src == conversation.server {
            conversation.opened[1] += u64::from(!copy);
            if conversation.isns[1].is_none() {
                conversation.isns[1] = Some(p.seq);
                conversation.syns[1] = p.at;
            }
        } else if p.len == 0 || conversation.isns[0].is_none() {
            // There is nothing to keep.
        } else if self.kept == MOST {
            conversation.cut = true;
        } else {
            self.kept += 1;
            if !copy {
                conversation.data(p);
            }
        }
    }
}

impl Conversations {
    fn note(&mut self, p: &Packet) {
        self.segments += 1;
        // A copy in another format may have other units of time.
        let micros = p.at.nanos() / 1000;
        let says = (p.src, p.dst, p.seq.0, p.ack.0, p.control.0, p.len, p.wnd);
        (micros, says).hash(&mut self.print);
    }

    /// Both have the same segments at the same times, and at least one.
    pub fn is_same(&self, other: &Conversations) -> bool {
        let print = |of: &Conversations| (of.segments, of.print.finish());
        self.segments > 0 && print(self) == print(other)
    }
}

impl Conversation {
    fn new(syn: &Packet) -> Conversation {
        Conversation {
            client: syn.src,
            server: syn.dst,
            start: syn.at,
            syns: [syn.at, Time::ZERO],
            opened: [0; 2],
            isns: [Some(syn.seq), None],
            sent: Default::default(),
            marks: Default::default(),
            ends: [0; 2],
            copies: Lag::default(),
            cut: false,
        }
    }

    /// Of which this is the first packet that was seen.
    fn without_syn(p: &Packet) -> Conversation {
        let answer = p.control.contains(Control::SYN);
        let (client, server) = if answer { (p.dst, p.src) } else { (p.src, p.dst) };
        Conversation { client, server, isns: [None; 2], ..Conversation::new(p) }
    }

    /// Whether it is known from its beginning on.
    pub fn is_whole(&self) -> bool {
        self.isns.iter().all(Option::is_some) && !self.cut
    }

    /// Whether a packet is one that the capture has twice; `place` is that of this conversation.
    fn is_copy(&mut self, p: &Packet, place: usize, seen: &mut Copies) -> bool {
        let number = (place as u64) << 1 | u64::from(p.src == self.server);
        self.copies.is_copy(p, Of { number, newest: None }, seen)
    }

    fn mark(&mut self, p: &Packet) {
        let end = usize::from(p.src != self.client);
        let ([Some(mine), Some(theirs)], marks) =
            ([self.isns[end], self.isns[1 - end]], &mut self.marks[end])
        else {
            return;
        };
        let is_ack = p.control.contains(Control::ACK) && !p.control.contains(Control::RST);
        if !is_ack || p.control.contains(Control::SYN) || marks.len() == MOST_MARKS {
            return;
        }
        let (sent, acked) = marks.last().map_or((0, 0), |mark| (mark.sent, mark.acked));
        let positions = (p.seq.position(mine + 1, sent), p.ack.position(theirs + 1, acked));
        let (Some(from), Some(ack)) = positions else { return };
        let to = from + u64::from(p.len);
        let further = to >= sent && ack >= acked && (to, ack) != (sent, acked);
        if further && to < sent + FAR && ack < acked + FAR {
            marks.push(Mark { sent: to, acked: ack, at: p.at });
        }
    }

    fn data(&mut self, p: &Packet) {
        let end = usize::from(p.src != self.client);
        let Some(isn) = self.isns[end] else { return };
        let known = self.ends[end];
        let position = p.seq.position(isn + 1, known);
        let Some(from) = position.filter(|from| *from < known + FAR) else { return };
        self.ends[end] = known.max(from + u64::from(p.len));
        self.sent[end].push(Segment { from, len: p.len, at: p.at });
    }
}
