//! What both ends of connections sent, as one capture has it.

use std::collections::HashMap;
use std::net::SocketAddr;

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Seq, Time};
use ackclock_trace::{Copies, Lag, Packet};

use crate::read::Sink;

/// Segments that are kept of a capture: about 200 MB.
const MOST: usize = 8_000_000;

/// What lies further ahead than this is no data of a stream.
const FAR: u64 = 1 << 30;

/// The connections of a capture.
#[derive(Default)]
pub(super) struct Conversations {
    all: Vec<Conversation>,
    /// The last one between two ends, the lower one first.
    last: HashMap<(SocketAddr, SocketAddr), usize>,
    kept: usize,
    seen: Copies,
    /// Connections of which no SYN was seen.
    unknown: u64,
}

/// What a connection sent.
pub(super) struct Conversation {
    pub client: SocketAddr,
    pub server: SocketAddr,
    pub start: Time,
    /// The first SYN of client and server; zero before it.
    pub syns: [Time; 2],
    isns: [Option<Seq>; 2],
    pub sent: [Vec<Segment>; 2],
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

impl Conversations {
    /// Those that are known from their beginning on, by what both ends began to count with.
    pub fn whole(&self) -> Vec<([Seq; 2], &Conversation)> {
        let isns = |c: &Conversation| match c.isns {
            [Some(client), Some(server)] if !c.cut => Some([client, server]),
            _ => None,
        };
        self.all.iter().filter_map(|c| Some((isns(c)?, c))).collect()
    }

    /// The others.
    pub fn left_out(&self) -> u64 {
        self.unknown + (self.all.len() - self.whole().len()) as u64
    }
}

impl Sink for Conversations {
    fn packet(&mut self, p: &Packet) {
        let key = (p.src.min(p.dst), p.src.max(p.dst));
        let last = self.last.get(&key).copied();
        let syn = p.control.contains(Control::SYN);
        if syn && !p.control.contains(Control::ACK) {
            let again = last.and_then(|last| self.all.get(last)).is_some_and(|conversation| {
                conversation.client == p.src && conversation.isns[0] == Some(p.seq)
            });
            if !again {
                self.last.insert(key, self.all.len());
                self.all.push(Conversation::new(p));
            }
            return;
        }
        let Some(last) = last else {
            self.unknown += 1;
            // Its other packets are known to be of it.
            self.last.insert(key, usize::MAX);
            return;
        };
        let Some(conversation) = self.all.get_mut(last) else { return };
        let from_server = u64::from(p.src == conversation.server);
        if syn && p.src == conversation.server {
            if conversation.isns[1].is_none() {
                conversation.isns[1] = Some(p.seq);
                conversation.syns[1] = p.at;
            }
        } else if p.len > 0 && self.kept == MOST {
            conversation.cut = true;
        } else if p.len > 0 {
            self.kept += 1;
            if !conversation.copies.is_copy(p, (last as u64) << 1 | from_server, &mut self.seen) {
                conversation.data(p);
            }
        }
    }
}

impl Conversation {
    fn new(syn: &Packet) -> Conversation {
        Conversation {
            client: syn.src,
            server: syn.dst,
            start: syn.at,
            syns: [syn.at, Time::ZERO],
            isns: [Some(syn.seq), None],
            sent: Default::default(),
            ends: [0; 2],
            copies: Lag::default(),
            cut: false,
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
