//! What the sender models are told, in their frame of time: ACKs later by the round trip between the capture and the sender, data cut
//! into segments of SMSS.
//!
//! Where the SYNs were not seen, the first [`WARM_UP`] packets wait until SMSS and vantage can be told from them.

use std::cmp::Reverse;
use std::collections::VecDeque;

use ackclock_tcp::{Seq, Span, Time};

use crate::sender::{Acked, Found, SenderModel, Sent, Terms};

/// How many packets wait at most.
pub(super) const WARM_UP: usize = 32;
/// Into how many segments a packet is cut at most: as many as 64 KiB have of the shortest, so that a small file does not take much
/// memory.
const MOST_SEGMENTS: u32 = 1 << 11;
/// How many ACKs of one end may be on their way to the sender at most; the rest arrive at once.
const MOST_ACKS: usize = 1 << 14;

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
    pub ip_id: Option<u16>,
}

impl Data {
    /// Position after its last byte, or its FIN.
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.len) + u64::from(self.fin)
    }
}

/// Something for one of the two models.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Data(Data),
    Acked(Acked),
    /// The capture has a gap until now.
    Gap(Time),
}

/// The model of one sender, and what is on its way to it.
#[derive(Default)]
pub(super) struct Feed {
    model: Option<Box<Model>>,
}

struct Model {
    sender: SenderModel,
    mss: u32,
    /// ACKs that have passed the capture but not reached the sender yet.
    acks: VecDeque<Acked>,
    /// What the model was told last.
    now: Time,
}

impl Feed {
    pub fn begun(&self) -> bool {
        self.model.is_some()
    }

    pub fn begin(&mut self, terms: Terms) {
        let mss = terms.mss.max(1);
        let model = Model { sender: SenderModel::new(terms), mss, acks: VecDeque::new(), now: Time::ZERO };
        self.model = Some(Box::new(model));
    }

    pub fn syn(&mut self, frame: u64, at: Time, seq: Seq, answer: bool) {
        if let Some(model) = &mut self.model {
            model.sender.syn(frame, at, seq, answer);
        }
    }

    /// The other end's data last reached this one at that time.
    #[inline]
    pub fn heard(&mut self, at: Time) {
        if let Some(model) = &mut self.model {
            model.sender.heard(at);
        }
    }

    /// `delay` is the round trip between the capture and the sender, zero if the capture was taken there.
    #[inline]
    pub fn give(&mut self, op: &Op, delay: Span, held: &mut Held) {
        let Some(model) = &mut self.model else { return };
        match op {
            Op::Data(data) => {
                model.arrive(data.at, delay, held);
                model.data(data);
            }
            Op::Acked(acked) if delay == Span::ZERO => {
                model.arrive(Time::NEVER, delay, held);
                model.acked(acked, acked.at);
            }
            Op::Acked(acked) => {
                model.arrive(acked.at, delay, held);
                if model.acks.len() >= MOST_ACKS || !held.take() {
                    model.arrive(Time::NEVER, delay, held);
                    model.acked(acked, acked.at + delay);
                } else {
                    if model.acks.capacity() == 0 {
                        // Idle connections are many, and the last ACK waits in each.
                        model.acks.reserve_exact(1);
                    }
                    model.acks.push_back(*acked);
                }
            }
            Op::Gap(until) => {
                model.arrive(*until, delay, held);
                model.now = model.now.max(*until);
                model.sender.gap(model.now);
            }
        }
    }

    pub fn quiet(&mut self) {
        if let Some(model) = &mut self.model {
            model.sender.quiet();
        }
    }

    pub fn finish(self, end: Time, delay: Span, held: &mut Held) -> Option<Found> {
        let mut model = self.model?;
        model.arrive(Time::NEVER, delay, held);
        let end = end.max(model.now);
        Some(model.sender.finish(end))
    }
}

impl Model {
    /// Hands over the ACKs that have reached the sender by `now`.
    #[inline]
    fn arrive(&mut self, now: Time, delay: Span, held: &mut Held) {
        while let Some(first) = self.acks.front()
            && first.at + delay <= now
        {
            let first = *first;
            self.acks.pop_front();
            held.give_back();
            self.acked(&first, first.at + delay);
        }
        if self.acks.is_empty() && self.acks.capacity() > 64 {
            self.acks = VecDeque::new();
        }
    }

    #[inline]
    fn acked(&mut self, acked: &Acked, at: Time) {
        self.now = self.now.max(at);
        self.sender.acked(&Acked { at: self.now, ..*acked });
    }

    #[inline]
    fn data(&mut self, data: &Data) {
        self.now = self.now.max(data.at);
        let (mut position, mut seq, mut rest) = (data.position, data.seq, data.len);
        let mss = self.mss.max(rest.div_ceil(MOST_SEGMENTS));
        loop {
            let len = rest.min(mss);
            rest -= len;
            let fin = data.fin && rest == 0;
            let len_with_fin = len + u32::from(fin);
            let Data { frame, tsval, ip_id, .. } = *data;
            self.sender.sent(&Sent { frame, at: self.now, position, seq, len: len_with_fin, fin, tsval, ip_id });
            if rest == 0 {
                return;
            }
            (position, seq) = (position + u64::from(len), seq + len);
        }
    }
}

/// How many packets are held back in all connections together: bounded, whatever the capture.
#[derive(Debug, Default)]
pub(crate) struct Held(usize);

impl Held {
    const MOST: usize = 1 << 20;

    #[inline]
    pub fn take(&mut self) -> bool {
        let room = self.0 < Held::MOST;
        self.0 += usize::from(room);
        room
    }

    #[inline]
    pub fn give_back(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

/// The size of full segments among these payloads: the one that divides most of them, so that super-segments count as well; the least of
/// several.
pub(super) fn learn_mss(sizes: impl Iterator<Item = u32> + Clone) -> Option<u32> {
    /// 1500 and 9000 bytes less headers and timestamps, and what tunnels leave: for captures that have nothing but super-segments.
    const USUAL: [u32; 12] = [8948, 8960, 8928, 1460, 1448, 1440, 1428, 1400, 1388, 1380, 1368, 536];
    let full = |mss: u32| sizes.clone().filter(|size| size % mss == 0).count();
    let twice = |size: &u32| sizes.clone().filter(|other| other == size).count() > 1;
    let seen = sizes.clone().filter(|size| (500..=9000).contains(size)).filter(twice);
    let best = seen.chain(USUAL).max_by_key(|&mss| (full(mss), Reverse(mss)))?;
    (full(best) > 0).then_some(best)
}
